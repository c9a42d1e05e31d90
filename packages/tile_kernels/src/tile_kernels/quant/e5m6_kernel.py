"""Casts to e5m6 and back, one scale a row (tile_kernels.md sections 3.5, 4.1 and 4.4)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, dtype_name, output_or_new
from tile_kernels.quant.cast_plan import BYTES, REGISTERS_UB_LIMIT, row_tile
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import ceil_div

__all__ = ["cast_back_from_e5m6", "cast_to_e5m6"]

HIDDEN_MULTIPLE = 64  # of a cast
BACK_MULTIPLE = 8  # of a cast back: numbers in three words
AMAX_FLOOR = 1e-4


def cast_to_e5m6(
    x: torch.Tensor | QuantTensor,
    num_per_channels: int,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    out: torch.Tensor | None = None,
) -> QuantTensor:
    """Returns (uint8 [tokens, 3 hidden / 2], scales [tokens, 1]); see `per_token_cast`."""
    data, _, _ = common.get_cast_input_and_config(x, None)
    tokens, hidden = data.shape
    check_blocks("per_token_cast to 'e5m6'", hidden, HIDDEN_MULTIPLE)
    if num_per_channels != hidden:
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; 'e5m6' allows hidden ({hidden}) only"
        )
    if use_packed_ue8m0 and not round_sf:
        raise TileKernelsValueError(
            "use_packed_ue8m0=True needs round_sf=True: only powers of two fit a UE8M0 byte"
        )
    config = common.CastOutputConfig(
        torch.uint8, (1, hidden), bool(use_tma_aligned_col_major_sf), bool(use_packed_ue8m0),
        False, common.get_packed_ue8m0_pack_factor(), "e5m6", bool(round_sf), AMAX_FLOOR,
    )  # fmt: skip
    codes = output_or_new(out, (tokens, hidden // 2 * 3), torch.uint8, data.device)
    sf = common.cast_epilogue(
        common.alloc_scaling_factors((tokens, hidden), config, data.device), config
    )
    if codes.numel():
        from tile_kernels.quant.e5m6_asc import cast_rows

        words = common.sf_items(sf, config, words=True).reshape(-1)[:tokens]
        rows, width, stages = _tile(hidden, data.dtype)
        cast_rows(
            data, codes.view(torch.uint16), words, common.float_bits(AMAX_FLOOR),
            ceil_div(tokens, rows),
            x_dtype=dtype_name(data.dtype), sf_dtype=dtype_name(words.dtype), rows=rows,
            width=width, stages=stages, cores=settings.get_num_vec_cores(),
            round_sf=bool(round_sf),
        )  # fmt: skip
    return codes, sf


def cast_back_from_e5m6(x: QuantTensor, dtype: torch.dtype, block: tuple[int, int]) -> torch.Tensor:
    """Returns the numbers [tokens, hidden] of (uint8 [tokens, 3 hidden / 2], scales)."""
    data, sf = x
    if data.dtype != torch.uint8:
        raise TileKernelsTypeError(f"x[0] has dtype {data.dtype}; allowed for 'e5m6': uint8")
    if data.dim() != 2 or (data.stride(1) != 1 and data.numel()) or data.shape[1] % 12:
        raise TileKernelsValueError(
            f"x[0] is {tuple(data.shape)} with stride {tuple(data.stride())}; wanted "
            "[tokens, 3 hidden / 2], hidden a multiple of 8, with last stride 1"
        )
    if data.shape[0] > 1 and data.stride(0) % 4:
        raise TileKernelsValueError(
            f"x[0] has stride {tuple(data.stride())}; rows must lie a multiple of 4 bytes apart"
        )
    tokens, hidden = data.shape[0], data.shape[1] // 3 * 2
    if tuple(block) != (1, hidden):
        raise TileKernelsValueError(f"x_block_size got {block}; 'e5m6' allows (1, {hidden}) only")
    config = common.input_config(data.dtype, sf, (1, hidden))
    if config.use_e4m3_sf or sf.device != data.device:
        raise TileKernelsValueError(
            f"x[1] is {sf.dtype} on {sf.device}; wanted float32 or packed on {data.device}"
        )
    common.check_sf("x[1]", sf, (tokens, hidden), config)
    out = torch.empty((tokens, hidden), dtype=dtype, device=data.device)
    if out.numel():
        from tile_kernels.quant.e5m6_asc import cast_back_rows

        words = common.sf_items(sf, config, words=True)
        if config.sf_layout.is_column_major:
            words = words[:1].T
        rows, width, stages = _tile(hidden, dtype)
        cast_back_rows(
            data.view(torch.uint16), words, out, ceil_div(tokens, rows),
            sf_dtype=dtype_name(words.dtype), out_dtype=dtype_name(dtype), rows=rows, width=width,
            stages=stages, cores=settings.get_num_vec_cores(),
        )  # fmt: skip
    return out


def _tile(hidden: int, dtype: torch.dtype) -> tuple[int, int, int]:
    """Rows of a tile, its width, and how many tiles are in the unified buffer at once."""
    size = 2 * BYTES[dtype_name(dtype)] + 3
    tile = row_tile(hidden, size)
    if tile is None:
        raise TileKernelsValueError(
            f"hidden is {hidden}; a row of it and its codes take {hidden * size // 2} bytes, the "
            f"unified buffer has {REGISTERS_UB_LIMIT}"
        )
    return tile
