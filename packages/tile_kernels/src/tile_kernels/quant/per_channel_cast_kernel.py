"""Casts with a scale per channel of a group of tokens (tile_kernels.md section 4.3)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, run_cast
from tile_kernels.quant.types import QuantTensor

__all__ = ["per_channel_cast"]

GROUPS = (32, 128)
HIDDEN_MULTIPLE = 64


def per_channel_cast(
    x: torch.Tensor | QuantTensor,
    fmt: str,
    num_per_tokens: int,
    round_sf: bool = False,
    num_per_channels: int | None = None,
    use_packed_ue8m0: bool = False,
) -> QuantTensor:
    """Quantises each channel in groups of tokens.

    Args:
        x: bf16 or fp32 [tokens, hidden], hidden a multiple of 64, any number of tokens; or (e4m3
            data, sf) with one scale per token and `num_per_channels` channels.
        fmt: ``"e4m3"``.
        num_per_tokens: tokens per scale, 32 or 128.
        round_sf: scales are powers of two.
        num_per_channels: 32 or 128 for x as (data, sf), else None.
        use_packed_ue8m0: scales are exponent bytes; two groups of tokens share an int16.

    Returns:
        (e4m3 [tokens, hidden], fp32 [groups, hidden] or int16 [groups / 2, hidden]).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    if fmt != "e4m3":
        raise TileKernelsValueError(f"fmt got {fmt!r}; per_channel_cast allows 'e4m3'")
    if num_per_tokens not in GROUPS:
        raise TileKernelsValueError(f"num_per_tokens got {num_per_tokens}; allowed: 32, 128")
    if num_per_channels not in (None, *GROUPS):
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; allowed: None, 32, 128"
        )
    block = None if num_per_channels is None else (1, num_per_channels)
    data, sf_in, in_config = common.get_cast_input_and_config(x, block)
    if data.dtype == torch.int8:
        raise TileKernelsValueError("x is e2m1 (int8); per_channel_cast rescales e4m3 data only")
    check_blocks("per_channel_cast", data.shape[1], HIDDEN_MULTIPLE)
    config = common.get_cast_output_config(
        fmt, (num_per_tokens, 1), False, round_sf, use_packed_ue8m0
    )
    codes, scales = run_cast(data, sf_in, in_config, config)
    assert codes is not None
    return codes, scales
