"""Formats, scale layouts and checks that all quantisation functions share.

Section 3 of tile_kernels.md: what a cast input and a cast output look like in memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant.sf_layout import SfLayout
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import align, ceil_div, str_to_dtype

__all__ = [
    "BaseCastConfig", "CastInputConfig", "CastOutputConfig", "alloc_scaling_factors",
    "cast_epilogue", "get_cast_input_and_config", "get_cast_output_config", "get_logical_hidden",
    "get_packed_ue8m0_pack_factor", "get_packed_ue8m0_torch_dtype", "get_physical_hidden",
    "get_sf_shape", "input_config", "set_packed_ue8m0_pack_factor", "sf_items", "sf_layout_of",
    "unpack_from_e2m1fn_x2",
]  # fmt: skip

_PACK_DTYPES = {2: torch.int16, 4: torch.int32}
_SF_DTYPES = (torch.float32, torch.int16, torch.int32, torch.float8_e4m3fn)
_E2M1_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


_pack_factor = 2


def get_packed_ue8m0_pack_factor() -> int:
    """Returns how many UE8M0 bytes make a word of new packed scales: 2, as on Ascend, or 4."""
    return _pack_factor


def set_packed_ue8m0_pack_factor(factor: int) -> None:
    """Sets the bytes in a word of new packed scales for this process.

    Args:
        factor: 2 (int16, the layout of Ascend) or 4 (int32, the layout of CUDA, whose columns are
            padded to 16 bytes).

    Raises:
        TileKernelsValueError: another factor.
    """
    global _pack_factor
    if factor not in _PACK_DTYPES:
        raise TileKernelsValueError(f"factor got {factor!r}; allowed: 2, 4")
    _pack_factor = factor


def get_packed_ue8m0_torch_dtype() -> torch.dtype:
    """Returns the dtype of the words of new packed scales: int16 or int32."""
    return _PACK_DTYPES[get_packed_ue8m0_pack_factor()]


@dataclass(frozen=True)
class BaseCastConfig:
    """A quantised tensor's format.

    Attributes:
        torch_dtype: dtype of the data; int8 holds two e2m1 codes.
        sf_block: (tokens, channels) that share a scale; (0, 0) without scales.
        use_tma_aligned_col_major_sf: scales of one column block lie together.
        use_packed_ue8m0: scales are powers of two, stored as exponent bytes in words.
        use_e4m3_sf: scales are e4m3 numbers.
        pack_factor: bytes in a word of packed scales, 2 or 4.
    """

    torch_dtype: torch.dtype
    sf_block: tuple[int, int]
    use_tma_aligned_col_major_sf: bool = False
    use_packed_ue8m0: bool = False
    use_e4m3_sf: bool = False
    pack_factor: int = 2

    @property
    def sf_layout(self) -> SfLayout:
        """Where the scales lie."""
        if not self.use_packed_ue8m0:
            return SfLayout("col" if self.use_tma_aligned_col_major_sf else "row")
        if self.sf_block[1] == 1:
            return SfLayout("packed_channel", self.pack_factor)
        kind = "packed_col" if self.use_tma_aligned_col_major_sf else "packed_row"
        return SfLayout(kind, self.pack_factor)

    @property
    def sf_torch_dtype(self) -> torch.dtype:
        """The dtype of the scale tensor."""
        if self.use_packed_ue8m0:
            return _PACK_DTYPES[self.pack_factor]
        return torch.float8_e4m3fn if self.use_e4m3_sf else torch.float32


@dataclass(frozen=True)
class CastInputConfig(BaseCastConfig):
    """The format of an input."""

    @property
    def has_sf(self) -> bool:
        """The input is quantised."""
        return self.sf_block != (0, 0)


@dataclass(frozen=True)
class CastOutputConfig(BaseCastConfig):
    """The format of an output, and how its scales are made.

    Attributes:
        fmt: ``"e4m3"`` or ``"e2m1"``.
        round_sf: scales are rounded up to powers of two.
        clamp_min_value: lower bound of a block's largest magnitude.
    """

    fmt: str = "e4m3"
    round_sf: bool = False
    clamp_min_value: float = 1e-4


def get_logical_hidden(hidden: int, dtype: torch.dtype) -> int:
    """Returns the elements in a row of `hidden` items: two per int8 item."""
    return hidden * 2 if dtype in (torch.int8, torch.uint8) else hidden


def get_physical_hidden(hidden: int, dtype: torch.dtype) -> int:
    """Returns the items that hold `hidden` elements: half as many for int8."""
    return hidden // 2 if dtype in (torch.int8, torch.uint8) else hidden


def get_cast_output_config(
    fmt: str,
    sf_block: tuple[int, int],
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    use_e4m3_sf: bool = False,
) -> CastOutputConfig:
    """Returns the configuration of a cast's output.

    Raises:
        TileKernelsValueError: an unknown fmt, or options that exclude each other.
    """
    if fmt not in ("e4m3", "e2m1"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3', 'e2m1'")
    if use_packed_ue8m0 and not round_sf:
        raise TileKernelsValueError(
            "use_packed_ue8m0=True needs round_sf=True: only powers of two fit a UE8M0 byte"
        )
    if use_e4m3_sf and round_sf:
        raise TileKernelsValueError("use_e4m3_sf and round_sf exclude each other; pass only one")
    return CastOutputConfig(
        str_to_dtype(fmt), sf_block, bool(use_tma_aligned_col_major_sf), bool(use_packed_ue8m0),
        bool(use_e4m3_sf), get_packed_ue8m0_pack_factor(), fmt, bool(round_sf),
        settings.get_amax_clamp_for_quant(fmt, bool(use_e4m3_sf)),
    )  # fmt: skip


def get_cast_input_and_config(
    x: torch.Tensor | QuantTensor, sf_block: tuple[int, int] | None
) -> tuple[torch.Tensor, torch.Tensor | None, CastInputConfig]:
    """Splits a cast's input into data and scales and checks both.

    Args:
        x: bf16 or fp32 [tokens, hidden] with `stride(1) == 1`, or (data, sf) with data in e4m3, or
            in int8 [tokens, hidden / 2].
        sf_block: (tokens, channels) of one input scale; None for an input without scales.

    Returns:
        (data, sf or None, configuration).
    """
    if isinstance(x, torch.Tensor):
        if sf_block is not None:
            raise TileKernelsValueError(
                f"x_block_size={sf_block} needs x as (data, sf); pass the scales or drop it"
            )
        _check_matrix("x", x, (torch.bfloat16, torch.float32))
        return x, None, CastInputConfig(x.dtype, (0, 0))
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise TileKernelsTypeError(f"x must be a tensor or (data, sf), got {type(x).__name__}")
    if sf_block is None:
        raise TileKernelsValueError("x is (data, sf): x_block_size=(tokens, channels) is needed")
    data, sf = x
    _check_matrix("x[0]", data, (torch.float8_e4m3fn, torch.int8))
    block = (int(sf_block[0]), int(sf_block[1]))
    if min(block) < 1:
        raise TileKernelsValueError(f"x_block_size must be positive, got {block}")
    hidden = get_logical_hidden(data.shape[1], data.dtype)
    cfg = input_config(data.dtype, sf, block)
    check_sf("x[1]", sf, (data.shape[0], hidden), cfg)
    if sf.device != data.device:
        raise TileKernelsValueError(f"x is on {data.device}, its scales on {sf.device}")
    return data, sf, cfg


def _check_matrix(name: str, x: torch.Tensor, allowed: tuple[torch.dtype, ...]) -> None:
    if not isinstance(x, torch.Tensor):
        raise TileKernelsTypeError(f"{name} must be a tensor, got {type(x).__name__}")
    if x.dtype not in allowed:
        wanted = " or ".join(str(kind) for kind in allowed)
        raise TileKernelsTypeError(f"{name} has dtype {x.dtype}; allowed: {wanted}")
    if x.dim() != 2:
        raise TileKernelsValueError(f"{name} has shape {tuple(x.shape)}; wanted 2 dimensions")
    if x.stride(1) != 1 and x.shape[1] > 1 and x.numel():
        raise TileKernelsValueError(
            f"{name} has stride {tuple(x.stride())}; the last must be 1, pass {name}.contiguous()"
        )


def input_config(dtype: torch.dtype, sf: torch.Tensor, block: tuple[int, int]) -> CastInputConfig:
    """Returns the format of data with given scales, recognised by their dtype and strides."""
    if not isinstance(sf, torch.Tensor) or sf.dtype not in _SF_DTYPES or sf.dim() != 2:
        got = f"{tuple(sf.shape)} {sf.dtype}" if isinstance(sf, torch.Tensor) else type(sf).__name__
        raise TileKernelsTypeError(
            f"scales must be a 2-D tensor of float32, float8_e4m3fn, int16 or int32, got {got}"
        )
    packed = sf.dtype in (torch.int16, torch.int32)
    col = sf.stride(0) == 1 and sf.stride(1) != 1 and not (packed and block[1] == 1)
    pack = sf.element_size() if packed else get_packed_ue8m0_pack_factor()
    return CastInputConfig(dtype, block, col, packed, sf.dtype == torch.float8_e4m3fn, pack)


def get_sf_shape(shape: tuple[int, int], config: BaseCastConfig) -> tuple[int, int]:
    """Returns the shape of the scales of a (tokens, hidden) tensor, packed words counted as one."""
    rows, cols = ceil_div(shape[0], config.sf_block[0]), ceil_div(shape[1], config.sf_block[1])
    layout = config.sf_layout
    if layout.kind == "packed_channel":
        return ceil_div(rows, layout.pack), cols
    return rows, ceil_div(cols, layout.pack)


def check_sf(name: str, sf: torch.Tensor, shape: tuple[int, int], config: BaseCastConfig) -> None:
    """Checks shape, dtype and strides of the scales of a (tokens, hidden) tensor."""
    wanted = get_sf_shape(shape, config)
    if tuple(sf.shape) != wanted or sf.dtype != config.sf_torch_dtype:
        raise TileKernelsValueError(
            f"{name} is {tuple(sf.shape)} {sf.dtype}; wanted {wanted} {config.sf_torch_dtype} for "
            f"blocks of {config.sf_block}"
        )
    inner = 0 if config.sf_layout.kind in ("col", "packed_col") else 1
    outer = 1 - inner
    is_dense = sf.stride(inner) == 1 or sf.shape[inner] == 1
    if sf.numel() and (
        not is_dense or (sf.shape[outer] > 1 and sf.stride(outer) < sf.shape[inner])
    ):
        raise TileKernelsValueError(
            f"{name} has stride {tuple(sf.stride())}; one must be 1 and the other span a row"
        )


def alloc_scaling_factors(
    shape: tuple[int, int], config: BaseCastConfig, device: torch.device | str
) -> torch.Tensor:
    """Returns new storage of the scales of a (tokens, hidden) tensor, as kernels see it.

    Column-major scales come as (column blocks or words, row blocks); `cast_epilogue` gives them
    their public shape.
    """
    rows, cols = get_sf_shape(shape, config)
    if config.sf_layout.kind in ("col", "packed_col"):
        padded = align(rows, _column_alignment(config))
        storage = torch.empty((cols, padded), dtype=config.sf_torch_dtype, device=device)
        return storage[:, :rows]
    return torch.empty((rows, cols), dtype=config.sf_torch_dtype, device=device)


def _column_alignment(config: BaseCastConfig) -> int:
    # NOTE: words of four bytes are the layout of CUDA, which pads a column to 16 bytes.
    return 4 if config.use_packed_ue8m0 and config.pack_factor == 4 else 1


def cast_epilogue(out_sf: torch.Tensor, config: BaseCastConfig) -> torch.Tensor:
    """Returns the public view of storage made by `alloc_scaling_factors`."""
    return out_sf.T if config.sf_layout.kind in ("col", "packed_col") else out_sf


def sf_layout_of(config: BaseCastConfig) -> SfLayout:
    """Returns where a configuration's scales lie."""
    return config.sf_layout


def sf_items(sf: torch.Tensor, config: BaseCastConfig, words: bool = False) -> torch.Tensor:
    """Returns public scales as the matrix of items that kernels read and write, without a copy.

    With `words` packed scales stay whole words.
    """
    storage = sf.T if config.sf_layout.is_column_major else sf
    if storage.stride(1) != 1 or storage.stride(0) < storage.shape[1]:
        # A dimension of size one says nothing with its stride.
        storage = storage.as_strided(storage.shape, (max(storage.shape[1], 1), 1))
    return storage.view(torch.uint8) if config.use_packed_ue8m0 and not words else storage


def float_bits(value: float) -> int:
    """Returns the bits of a number as float32, as a signed integer."""
    return int(torch.tensor(value, dtype=torch.float32).view(torch.int32).item())


def unpack_from_e2m1fn_x2(x: torch.Tensor, out_dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Decodes e2m1 codes, two in a byte, into numbers.

    Args:
        x: int8 or uint8 [..., K]; the low nibble is the first element.
        out_dtype: dtype of the result.

    Returns:
        [..., 2 K].

    Raises:
        TileKernelsValueError: x has no dimension; TileKernelsTypeError: another dtype.
    """
    if x.dtype not in (torch.int8, torch.uint8):
        raise TileKernelsTypeError(f"x has dtype {x.dtype}; allowed: int8, uint8")
    if x.dim() == 0:
        raise TileKernelsValueError("x has no dimension; wanted [..., K] with two codes a byte")
    data = x.view(torch.uint8)
    codes = torch.stack((data & 15, data >> 4), dim=-1).flatten(-2)
    table = torch.tensor(
        [math.copysign(value, sign) for sign in (1.0, -1.0) for value in _E2M1_VALUES],
        dtype=out_dtype, device=x.device,
    )  # fmt: skip
    return table[codes.int()]
