"""Per-channel casts of gathered rows, and with a transpose (tile_kernels.md section 4.3)."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_same_device, check_tensor
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks
from tile_kernels.quant.channel_cast_kernel import channel_config, run_channel_cast
from tile_kernels.quant.per_channel_cast_kernel import per_channel_cast
from tile_kernels.quant.types import QuantTensor

__all__ = ["per_channel_cast_and_transpose", "per_channel_cast_fused"]

HIDDEN_MULTIPLE = 64
SF_WIDTHS = (32, 128)


def per_channel_cast_fused(
    x: torch.Tensor | QuantTensor,
    fmt: str,
    num_per_tokens: int,
    round_sf: bool = False,
    num_per_channels: int | None = None,
    pos_to_token: torch.Tensor | None = None,
) -> QuantTensor:
    """Quantises each channel in groups of tokens, of rows that may come from anywhere.

    Args:
        x: bf16 or fp32 [tokens, hidden], hidden a multiple of 64, any number of tokens; or (e4m3
            data, sf) with row-major fp32 scales [tokens, hidden / num_per_channels].
        fmt: ``"e4m3"``.
        num_per_tokens: rows per scale, 32 or 128.
        round_sf: scales are powers of two.
        num_per_channels: 32 or 128 for x as (data, sf), else None.
        pos_to_token: int32 [rows], which row of x stands at each place; negative gives zeros. None:
            all rows in their order.

    Returns:
        (e4m3 [rows, hidden], fp32 [groups of rows, hidden]).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    if pos_to_token is None:
        return per_channel_cast(x, fmt, num_per_tokens, round_sf, num_per_channels)
    config = channel_config(fmt, num_per_tokens, round_sf)
    if num_per_channels not in (None, *SF_WIDTHS):
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; allowed: None, 32, 128"
        )
    block = None if num_per_channels is None else (1, num_per_channels)
    data, sf, in_config = common.get_cast_input_and_config(x, block)
    if data.dtype == torch.int8:
        raise TileKernelsTypeError("x is e2m1 (int8); allowed: bfloat16, float32, float8_e4m3fn")
    if sf is not None and (sf.dtype != torch.float32 or in_config.use_tma_aligned_col_major_sf):
        raise TileKernelsValueError(
            f"x[1] is {sf.dtype} with stride {tuple(sf.stride())}; rows are gathered with "
            "row-major float32 scales only"
        )
    check_blocks("per_channel_cast_fused", data.shape[1], HIDDEN_MULTIPLE)
    check_tensor("pos_to_token", pos_to_token, (torch.int32,), 1)
    check_same_device(x=data, pos_to_token=pos_to_token)
    items = None if sf is None else common.sf_items(sf, in_config)
    return run_channel_cast(
        data, config, sf_in=items, sf_width=num_per_channels or 0, pos_to_token=pos_to_token
    )


def per_channel_cast_and_transpose(
    x: torch.Tensor, fmt: str, num_per_tokens: int, round_sf: bool = False
) -> QuantTensor:
    """Returns `per_channel_cast` of x with its codes transposed, in one kernel.

    Args:
        x: bf16 or fp32 [tokens, hidden], hidden a multiple of 64, any number of tokens.
        fmt: ``"e4m3"``.
        num_per_tokens: tokens per scale, 32 or 128.
        round_sf: scales are powers of two.

    Returns:
        (e4m3 [hidden, tokens], fp32 [groups of tokens, hidden]).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    config = channel_config(fmt, num_per_tokens, round_sf)
    data, _, _ = common.get_cast_input_and_config(x, None)
    check_blocks("per_channel_cast_and_transpose", data.shape[1], HIDDEN_MULTIPLE)
    return run_channel_cast(data, config, turns=True)
