"""Plans a block cast: tile, threads and formats, as pure functions (no torch below this line).

A plan is the compile-time part of the kernel in `block_cast_asc`; equal plans share one kernel, for
any number of tokens and any hidden size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant.sf_layout import SfLayout
from tile_kernels.utils import align, ceil_div

__all__ = [
    "BYTES", "PER_ITEM", "Band", "CastPlan", "back_tile", "make_plan", "plan_given_cast",
    "plan_lossless", "plan_norm_cast", "plan_recast", "plan_rows_cast", "plan_token_cast",
    "plan_turned_cast", "quads_back_tile", "row_tile",
]  # fmt: skip

BYTES = {
    "bfloat16": 2, "float32": 4, "float8_e4m3fn": 1, "int8": 1, "uint8": 1, "int16": 2, "int32": 4,
}  # fmt: skip
PER_ITEM = {"int8": 2}  # e2m1 codes in a byte
UB_LIMIT = 208 * 1024  # of 216 KiB with SIMT; the rest is for the compiler's own buffers
REGISTERS_UB_LIMIT = 200 * 1024  # of 248 KiB without SIMT, for data and codes
WARP, MAX_WARPS, MAX_THREADS = 32, 32, 1024
ROW_MAJOR = SfLayout()
MIN_PITCH = 32  # bytes of a row in the unified buffer
TOKEN_COLS, TOKEN_BYTES = 1024, 65536  # a tile of the per-token cast
NORM_ROWS, NORM_COLS = 16, 8192  # most of a tile of RMSNorm with a cast
BACK_ROWS = 16  # of a tile of the cast back
RECAST_ROWS = 24  # of a tile of codes that are cast again
ROW_WIDTHS = 1024  # rows share a kernel when their lengths round up to the same multiple
MAX_ROWS = 8  # of a tile of whole rows
SMALL_GROUP = 16  # channels


@dataclass(frozen=True)
class Band:
    """Scales of one tensor inside a tile.

    Attributes:
        block: (tokens, channels) of a scale; (0, 0) without scales.
        layout: where they lie.
        dtype: dtype of an item.
    """

    block: tuple[int, int] = (0, 0)
    layout: SfLayout = ROW_MAJOR
    dtype: str = "float32"

    @property
    def exists(self) -> bool:
        """There are scales."""
        return self.block != (0, 0)

    @property
    def word(self) -> int:
        """Column blocks in a word of packed scales."""
        return self.layout.pack if self.layout.kind in ("packed_row", "packed_col") else 1

    def tile(self, rows: int, cols: int) -> tuple[int, int]:
        """Items of the scales of a tile."""
        if not self.exists:
            return 1, 1
        return self.layout.items(ceil_div(rows, self.block[0]), ceil_div(cols, self.block[1]))

    def pitch(self, rows: int, cols: int) -> int:
        """Items between two rows of the tile's scales in the unified buffer."""
        return align(self.tile(rows, cols)[1], MIN_PITCH // BYTES[self.dtype])

    def nbytes(self, rows: int, cols: int) -> int:
        """Bytes of the tile's scales in the unified buffer."""
        return self.tile(rows, cols)[0] * self.pitch(rows, cols) * BYTES[self.dtype]


@dataclass(frozen=True)
class CastPlan:
    """Compile-time options of the block cast kernel.

    Attributes:
        mode: ``cast`` writes codes and scales, ``sf`` scales only, ``data`` codes with given
            scales, ``round_trip`` the dequantised values over the input.
        x_dtype, out_dtype: dtypes of the data.
        fmt: the format of the codes.
        sf_in, sf: scales of the input and of the output.
        stochastic: codes are rounded up or down at random.
        rows, cols: elements of a tile; `subs` tiles side by side share one copy of the scales.
        lanes, workers: threads that share a block, and how many such groups there are.
        cores: size of the grid.
        stages: copies of the buffers of x and of the codes, so that tiles overlap.
    """

    mode: str
    x_dtype: str
    out_dtype: str
    fmt: str
    sf_in: Band
    sf: Band
    stochastic: bool
    rows: int
    cols: int
    subs: int
    lanes: int
    workers: int
    cores: int
    stages: int = 1

    @property
    def threads(self) -> int:
        """Threads of the SIMT region."""
        return self.lanes * self.workers

    @property
    def steps(self) -> int:
        """Blocks each group of threads handles in a tile."""
        rows, cols = self.sf.block
        return (self.rows // rows) * (self.cols // cols) // self.workers

    @property
    def x_per_item(self) -> int:
        """Elements in an item of x."""
        return PER_ITEM.get(self.x_dtype, 1)

    @property
    def out_per_item(self) -> int:
        """Elements in an item of the codes."""
        return PER_ITEM.get(self.out_dtype, 1)


def _tile_bytes(x: str, out: str, sf_in: Band, sf: Band, rows: int, cols: int, subs: int) -> int:
    data = rows * cols * BYTES[x] // PER_ITEM.get(x, 1)
    codes = rows * cols * BYTES[out] // PER_ITEM.get(out, 1)
    scales = sf.nbytes(rows, cols * subs) + sf_in.nbytes(rows, cols)
    return data + codes + scales


def make_plan(
    mode: str, x_dtype: str, out_dtype: str, fmt: str, sf_in: Band, sf: Band, cores: int,
    stochastic: bool = False,
) -> CastPlan:  # fmt: skip
    """Chooses the tile of a block cast.

    Raises:
        TileKernelsValueError: not even one row of blocks fits the unified buffer.
    """
    rows, cols, subs = _smallest_tile(sf_in, sf)

    def needed(rows: int, cols: int, subs: int) -> int:
        return _tile_bytes(x_dtype, out_dtype, sf_in, sf, rows, cols, subs)

    while subs == 1 and cols < 512 and sf.block[1] <= 128:
        cols *= 2
    while needed(rows, cols, subs) > UB_LIMIT:
        if cols % 2 or cols // 2 % lcm(sf.block[1], (sf_in.block[1] or 1) * sf_in.word, 64):
            raise TileKernelsValueError(
                f"a tile of {rows} x {cols} {x_dtype} elements for blocks of {sf.block} takes "
                f"{needed(rows, cols, subs)} bytes, the unified buffer has {UB_LIMIT}; "
                "use smaller blocks"
            )
        cols, subs = cols // 2, subs * (2 if sf.word > 1 else 1)
    while rows < 32 and needed(rows * 2, cols, subs) <= UB_LIMIT // 2:
        rows *= 2
    blocks = (rows // sf.block[0]) * (cols // sf.block[1])
    lanes = 1 if sf.block[1] == 1 else WARP
    most = MAX_THREADS // lanes
    workers = max(count for count in range(1, min(blocks, most) + 1) if blocks % count == 0)
    return CastPlan(
        mode,
        x_dtype,
        out_dtype,
        fmt,
        sf_in,
        sf,
        stochastic,
        rows,
        cols,
        subs,
        lanes,
        workers,
        cores,
    )


def plan_token_cast(plan: CastPlan) -> CastPlan | None:
    """The plan of the same cast for the kernel on vector registers whose scales belong to rows.

    It takes bf16 and fp32 in groups of 16, 32, 64 or 128 channels. A row of scales of a byte fills
    at least 32 bytes in the unified buffer. A round trip has half the rows, as its results are
    wide. Codes are rounded at random in whole slots only, with scales that are not rounded to e4m3.
    """
    takes = (
        plan.mode in ("cast", "sf", "round_trip")
        and plan.x_dtype in ("bfloat16", "float32")
        and plan.sf.dtype in ("float32", "uint8", "float8_e4m3fn")
        and plan.sf.block in ((1, SMALL_GROUP), (1, 32), (1, 64), (1, 128))
        and (_in_quads(plan.sf) or not plan.stochastic)
    )
    if not takes:
        return None
    is_row = BYTES[plan.sf.dtype] == 1 and not plan.sf.layout.is_column_major
    cols = max(TOKEN_COLS, MIN_PITCH * plan.sf.block[1] if is_row else 0)
    rows = TOKEN_BYTES // (cols * BYTES[plan.x_dtype])
    if plan.mode == "round_trip":
        rows //= 2
    return replace(plan, rows=rows, cols=cols, subs=1, lanes=1, workers=1, stages=2)


def _in_quads(band: Band) -> bool:
    """Groups are whole slots of `quads_asc`, and scales are not rounded to e4m3."""
    return band.block[1] != SMALL_GROUP and band.dtype != "float8_e4m3fn"


def plan_given_cast(plan: CastPlan) -> CastPlan | None:
    """The plan of the same cast with given scales for the kernel on vector registers.

    It takes bf16 and fp32, and the scales that the cast back on vector registers takes.
    """
    shape = quads_back_tile(plan.sf)
    takes = plan.mode == "data" and plan.x_dtype in ("bfloat16", "float32") and shape is not None
    if not takes or shape is None:
        return None
    return replace(plan, rows=shape[0], cols=shape[1], subs=1, lanes=1, workers=1, stages=2)


def plan_recast(plan: CastPlan) -> CastPlan | None:
    """The plan of the same per-token cast of quantised rows for the kernel on vector registers.

    It takes the scales of x that the cast back on vector registers takes, and what
    `plan_token_cast` takes in quads, unless a row of packed scales is wider than a tile.
    """
    if not _in_quads(plan.sf):
        return None
    shape = quads_back_tile(plan.sf_in) if plan.sf_in.exists else None
    fast = plan_token_cast(replace(plan, x_dtype="float32"))
    if shape is None or fast is None or fast.cols > shape[1] or plan.mode == "round_trip":
        return None
    # NOTE: scales are turned by whole registers
    is_free = plan.sf_in.block[0] == 1 and not plan.sf.layout.is_column_major
    rows = RECAST_ROWS if is_free else shape[0]
    return replace(fast, x_dtype=plan.x_dtype, rows=rows)


def plan_norm_cast(plan: CastPlan, hidden: int, in_place: bool) -> CastPlan | None:
    """The plan of the same cast, of rows of RMSNorm, for the kernel that does both.

    It takes what `plan_token_cast` takes in quads, of rows up to 8192. Tiles are whole rows of a
    power of two, as many as leave room for two; with `in_place` the result lies where the input
    was.
    """
    fast = plan_token_cast(plan)
    if fast is None or not _in_quads(plan.sf) or not 0 < hidden <= NORM_COLS:
        return None
    cols = max(fast.cols, 1 << (hidden - 1).bit_length())
    tile_bytes = TOKEN_BYTES if in_place else TOKEN_BYTES // 2
    rows = max(tile_bytes // (cols * BYTES[plan.x_dtype]), 1)
    return replace(fast, rows=min(rows, NORM_ROWS), cols=cols)


def plan_lossless(plan: CastPlan) -> CastPlan | None:
    """The plan of the same exact cast for the kernel on vector registers, if it takes this one.

    It takes input scales of 32 channels and output blocks of 32, 64 or 128 channels and up to 128
    rows, a power of two. Tiles are whole blocks and words.
    """
    height, width = plan.sf.block
    takes = (
        plan.sf_in.block == (1, 32)
        and plan.sf_in.layout.kind != "packed_channel"
        and width in (32, 64, 128)
        and 128 % height == 0
    )
    if not takes:
        return None
    rows = 32 if height <= 32 else 128
    # Rows of packed scales are short
    cols = 1024 if rows == 32 else 512 if plan.sf_in.layout.kind == "packed_row" else 256
    cols = max(cols, width * plan.sf.word)
    stages = 2 if 3 * rows * cols <= REGISTERS_UB_LIMIT else 1
    return replace(plan, rows=rows, cols=cols, subs=1, lanes=1, workers=1, stages=stages)


def plan_rows_cast(plan: CastPlan, swiglu: bool = False) -> CastPlan | None:
    """The plan of the same cast for the kernel on vector registers whose scales span rows.

    It takes bf16 and fp32 to e4m3, and to e2m1 with blocks of several channels, with blocks of 32
    or 128 rows; per channel also e4m3 with scales of 32 or 128 channels of a row. Tiles are whole
    blocks, of whole words or of equal parts of one, as wide as leaves room for two of them.
    With `swiglu` there are two tiles of x.
    """
    height, width = plan.sf.block
    is_recast = (
        plan.x_dtype == "float8_e4m3fn"
        and width == 1
        and plan.sf_in.block in ((1, 32), (1, 128))
        and plan.sf_in.dtype in ("float32", "uint8")
    )
    takes = (
        plan.mode in ("cast", "sf")
        and (plan.x_dtype in ("bfloat16", "float32") or is_recast)
        and plan.sf.dtype in ("float32", "uint8")
        and not plan.stochastic
        and height in (32, 128)
        and width in ((1, 32, 128) if plan.fmt == "e4m3" else (32, 128))
    )
    if not takes:
        return None
    rows = height * (plan.sf.layout.pack if plan.sf.layout.kind == "packed_channel" else 1)
    least = lcm(64, width, max(plan.sf_in.block[1], 1) * plan.sf_in.word)
    word = width * plan.sf.word
    shapes = [
        (rows, cols)
        for cols in (1024, 512, 384, 256, 128, 64)
        if cols % least == 0 and (cols % word == 0 or word % cols == 0)
    ]
    fast = replace(plan, subs=1, lanes=1, workers=1)
    for stages in (2, 1):
        for rows, cols in shapes:
            x_bytes = rows * cols * BYTES[plan.x_dtype] * (2 if swiglu else 1)
            out_bytes = rows * cols // plan.out_per_item
            if stages * (x_bytes + out_bytes) <= REGISTERS_UB_LIMIT:
                return replace(fast, rows=rows, cols=cols, stages=stages)
    return None


def plan_turned_cast(plan: CastPlan) -> CastPlan:
    """The plan of a cast per channel whose codes are transposed: 128 tokens, 256 bytes of each."""
    cols = 256 // BYTES[plan.x_dtype]
    return replace(plan, rows=128, cols=cols, subs=1, lanes=1, workers=1, stages=2)


def _smallest_tile(sf_in: Band, sf: Band) -> tuple[int, int, int]:
    """Whole blocks of both tensors and whole words of their packed scales."""
    rows, cols = sf.block[0], sf.block[1]
    if sf.layout.kind == "packed_channel":
        rows *= sf.layout.pack
    if sf.block[1] > 128:  # one block spans the whole row
        return lcm(rows, sf_in.block[0] or 1), cols, 1
    for band in (sf_in, sf):
        if band.exists:
            cols = lcm(cols, band.block[1] * band.word)
    return lcm(rows, sf_in.block[0] or 1), lcm(cols, 64), 1


def back_tile(x_dtype: str, out_dtype: str, band: Band) -> tuple[int, int]:
    """Chooses the tile of a cast back: whole words of packed scales, whole blocks if they fit.

    A block larger than the tile is cut; its scale is then read by several tiles.
    """
    rows = 32
    cols = 256
    if band.layout.kind == "packed_channel":
        rows = lcm(rows, band.block[0] * band.layout.pack)
    elif band.block[1] > cols:
        cols = band.block[1] * band.word
    else:
        cols = lcm(cols, band.block[1] * band.word)
    rows = lcm(rows, band.block[0])
    while _back_bytes(x_dtype, out_dtype, band, rows, cols) > UB_LIMIT and rows % 2 == 0:
        if (rows // 2) % band.block[0]:
            break
        rows //= 2
    needed = _back_bytes(x_dtype, out_dtype, band, rows, cols)
    if needed > UB_LIMIT:
        raise TileKernelsValueError(
            f"blocks of {band.block} need a tile of {rows} x {cols} elements ({needed} bytes), the "
            f"unified buffer has {UB_LIMIT}; use smaller blocks"
        )
    return rows, cols


def quads_back_tile(band: Band, out_dtype: str | None = None) -> tuple[int, int] | None:
    """The tile of the cast back on vector registers; None if it does not take these scales.

    It takes fp32 and packed scales of 32, 64 or 128 channels of a row, or of so many channels of
    whole tiles of rows. With `out_dtype` tiles are as high as blocks of 32 rows where each scale
    costs an access of its own.
    """
    height, width = band.block
    takes = (
        band.dtype in ("float32", "uint8")
        and width in (32, 64, 128)
        and (height == 1 or height % BACK_ROWS == 0)
    )
    if not takes:
        return None
    if out_dtype is not None and band.layout.is_column_major and height % (2 * BACK_ROWS) == 0:
        return 2 * BACK_ROWS, TOKEN_COLS // (2 if out_dtype == "float32" else 1)
    return BACK_ROWS, TOKEN_COLS


def _back_bytes(x: str, out: str, band: Band, rows: int, cols: int) -> int:
    data = rows * cols * BYTES[x] // PER_ITEM.get(x, 1)
    return data + rows * cols * BYTES[out] + band.nbytes(rows, cols)


def row_tile(hidden: int, half_bytes: int) -> tuple[int, int, int] | None:
    """Rows of a tile of whole rows, its width, and how many tiles the unified buffer holds.

    `half_bytes` are twice the bytes that a number takes in both tensors. None if no row fits.
    """
    width = align(hidden, ROW_WIDTHS)
    row = width * half_bytes // 2
    if row > REGISTERS_UB_LIMIT:
        return None
    stages = 2 if 2 * row <= REGISTERS_UB_LIMIT else 1
    return min(MAX_ROWS, REGISTERS_UB_LIMIT // (stages * row)), width, stages
