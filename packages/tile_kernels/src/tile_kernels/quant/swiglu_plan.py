"""Plans the SwiGLU kernels: tile, formats and options, as pure functions (no torch in here).

A plan is the compile-time part of a kernel; equal plans share one kernel, for any number of tokens.
Hidden sizes share one, too, if they are cut into tiles of the same size.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH, UB_LIMIT, Band, CastPlan
from tile_kernels.utils import align, ceil_div

__all__ = ["NO_SCALES", "BackwardPlan", "SwigluPlan", "plan_backward", "plan_forward"]

ROWS = 16
LANES = 64
BATCH = 512  # channels that the kernels handle together
ROOM = 3 * 1024  # bytes of the unified buffer for weights and counts
BACKWARD_ROWS, BACKWARD_ROOM = 8, 12 * 1024
SIMD_UB_LIMIT = 248 * 1024  # of kernels without SIMT: those that do not count
CAST_ROOM, WIDEST_CAST = 22 * 1024, 1024  # bytes for scales, channels, of a backward cast
NO_SCALES = Band()


@dataclass(frozen=True)
class SwigluPlan:
    """Compile-time options of the forward kernel.

    Attributes:
        x_dtype, out_dtype: dtypes of the data.
        sf: the scales of the result; none in a plain SwiGLU.
        rows, cols: elements of a tile.
        stages: copies of the buffers of x and of the result, so that tiles overlap.
        cores: size of the grid.
        alignment: of the experts' first rows; 0 without experts.
        has_weights, has_limit, has_count: which optional arguments exist.
        narrow_limit: the limit is a number of bf16, so halves in bf16 are clamped as such.
    """

    x_dtype: str
    out_dtype: str
    sf: Band
    rows: int
    cols: int
    stages: int
    cores: int
    alignment: int = 0
    has_weights: bool = False
    has_limit: bool = False
    has_count: bool = False
    narrow_limit: bool = False

    @property
    def casts(self) -> bool:
        """The result is quantised."""
        return self.sf.exists

    @property
    def group(self) -> str:
        """How channels share a scale: ``half`` (32), ``pair`` (128), ``row``, or ``none``."""
        return {0: "none", 32: "half", 128: "pair"}.get(self.sf.block[1], "row")

    @property
    def narrows(self) -> bool:
        """The limit is applied in bf16."""
        return self.narrow_limit and self.fold > 1

    @property
    def fold(self) -> int:
        """Channels side by side that a cast computes in the same lane of so many registers.

        With 4 a group of 32 is a block of 32 bytes, of which hardware finds the largest number.
        With 2 or 4 a register of activations takes the place of the one its halves came from, and
        a limit in bf16 is applied before numbers are converted, to 128 at once.
        """
        if not self.casts or self.x_dtype != "bfloat16":
            return 1
        return 4 if self.group == "half" else 2

    @property
    def pitch(self) -> int:
        """Scales between two rows of a tile's scales."""
        return self.sf.pitch(self.rows, self.cols)

    @property
    def places(self) -> int:
        """Rows of a tile's scales that fill whole registers."""
        return align(self.sf.tile(self.rows, self.cols)[0], LANES // gcd(self.pitch, LANES))

    @property
    def nbytes(self) -> int:
        """Bytes of the unified buffer: halves, results, and what a cast needs of each scale.

        The activations of a cast lie where the halves were.
        """
        data = self.rows * self.cols * (2 * BYTES[self.x_dtype] + BYTES[self.out_dtype])
        scales = self.places * self.pitch * (8 + 2 * BYTES[self.sf.dtype]) if self.casts else 0
        return self.stages * data + scales + ROOM


def plan_forward(
    x_dtype: str, out_dtype: str, sf: Band, hidden: int, cores: int, alignment: int = 0,
    has_weights: bool = False, has_limit: bool = False, has_count: bool = False,
    narrow_limit: bool = False,
) -> SwigluPlan:  # fmt: skip
    """Chooses the tile: a few rows, as wide as leaves room for two, or whole rows with one scale.

    Raises:
        TileKernelsValueError: a row with one scale does not fit the unified buffer.
    """
    room = UB_LIMIT if has_count else SIMD_UB_LIMIT
    options = (cores, alignment, has_weights, has_limit, has_count, narrow_limit)

    def plan(rows: int, cols: int, stages: int) -> SwigluPlan:
        return SwigluPlan(x_dtype, out_dtype, sf, rows, cols, stages, *options)

    if sf.block[1] in (0, 32, 128):
        rows = gcd(ROWS, alignment)
        cols = BATCH
        while plan(rows, cols + BATCH, 2).nbytes <= room:
            cols += BATCH
        return plan(rows, align(ceil_div(hidden, ceil_div(hidden, cols)), BATCH), 2)
    cols = align(hidden, BATCH)
    whole_rows = [plan(1, cols, stages) for stages in (2, 1)]
    for whole in whole_rows:
        if whole.nbytes <= room:
            return whole
    raise TileKernelsValueError(
        f"one scale for {hidden} channels of {x_dtype} needs {whole_rows[1].nbytes} bytes, the "
        f"unified buffer has {room}; use num_per_channels=128"
    )


@dataclass(frozen=True)
class BackwardPlan:
    """Compile-time options of the backward kernel.

    Attributes:
        x_dtype, grad_dtype, out_dtype: dtypes of x, of the upper gradient and of the results.
        rows, cols: elements of a tile.
        cores: size of the grid.
        alignment: of the experts' first rows; 0 without experts.
        has_weights, has_limit, has_act: which optional arguments and results exist.
        sf_in: scales of x, which is e4m3 then, in bytes.
        sf: scales of a cast of the gradient of x; none without a cast.
    """

    x_dtype: str
    grad_dtype: str
    out_dtype: str
    rows: int
    cols: int
    cores: int
    alignment: int = 0
    has_weights: bool = False
    has_limit: bool = False
    has_act: bool = False
    sf_in: Band = NO_SCALES
    sf: Band = NO_SCALES

    @property
    def casts(self) -> bool:
        """The gradient is also quantised."""
        return self.sf.exists

    @property
    def cast(self) -> CastPlan:
        """The cast of a tile: the gradients of the left halves, then those of the right ones."""
        return CastPlan(
            "cast", self.out_dtype, "float8_e4m3fn", "e4m3", Band(), self.sf, False,
            2 * self.rows, self.cols, 1, 1, 1, self.cores,
        )  # fmt: skip

    def fuses(self, hidden: int) -> bool:
        """Whether gradients and their cast make one kernel: scales end with halves and tiles.

        Scales of x are fp32 and row-major then, and both halves of a tile's new scales begin at 32
        bytes in the unified buffer.
        """
        word, width = self.sf.word, self.sf.block[1]
        if hidden % (width * word) or self.out_dtype != "bfloat16":
            return False
        if self.sf_in.exists and (self.sf_in.layout.kind != "row" or self.sf_in.dtype != "float32"):
            return False
        half = self.rows * word if self.sf.layout.is_column_major else self.cols // width
        return half * BYTES[self.sf.dtype] % MIN_PITCH == 0


def plan_backward(
    x_dtype: str, grad_dtype: str, out_dtype: str, hidden: int, cores: int, alignment: int = 0,
    has_weights: bool = False, has_limit: bool = False, has_act: bool = False,
    sf_in: Band = NO_SCALES, sf: Band = NO_SCALES,
) -> BackwardPlan:  # fmt: skip
    """Chooses the tile: a few rows, as wide as leaves room for two of each buffer.

    Columns of packed scales make the tile as high as 32 bytes of them, rows of packed scales make
    it as wide.
    """
    high = sf.layout.is_column_major and sf.word == 2
    rows = gcd(2 * BACKWARD_ROWS if high else BACKWARD_ROWS, alignment)
    read = 2 * BYTES[x_dtype] + BYTES[grad_dtype]
    written = (2 + has_act) * BYTES[out_dtype] + 2 * sf.exists
    room = SIMD_UB_LIMIT - (CAST_ROOM if sf.exists else BACKWARD_ROOM)
    cols = room // (2 * (read + written)) // rows // BATCH * BATCH
    if sf.exists or sf_in.exists:
        cols = min(cols, WIDEST_CAST)
    cols = align(ceil_div(hidden, ceil_div(hidden, cols)), BATCH)
    if sf.layout.kind == "packed_row":
        wide = MIN_PITCH * sf.block[1]
        rows = max(rows * min(cols, WIDEST_CAST) // wide, 1) if wide > WIDEST_CAST else rows
        cols = wide
    options = (cores, alignment, has_weights, has_limit, has_act, sf_in, sf)
    return BackwardPlan(x_dtype, grad_dtype, out_dtype, rows, cols, *options)
