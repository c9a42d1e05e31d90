"""A cast and its way back in one kernel, in place (tile_kernels.md section 4.6)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, run_round_trip

__all__ = ["per_token_cast_and_cast_back"]

GROUPS = (16, 32, 64, 128)
HIDDEN_MULTIPLE = 64


def per_token_cast_and_cast_back(
    x: torch.Tensor, fmt: str, num_per_channels: int, round_sf: bool = False,
    use_e4m3_sf: bool = False,
) -> None:  # fmt: skip
    """Replaces x by the numbers it has after `per_token_cast` and `per_token_cast_back`.

    Args:
        x: bf16 or fp32 [tokens, hidden], rows may be strided; changed in place.
        fmt: ``"e4m3"`` or ``"e2m1"``.
        num_per_channels: channels per scale, 16, 32, 64 or 128; divides hidden.
        round_sf: scales are powers of two.
        use_e4m3_sf: scales are e4m3 numbers, clamped to 448; excludes round_sf.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; x is unchanged.
    """
    if not isinstance(x, torch.Tensor):
        raise TileKernelsTypeError(f"x must be a tensor, got {type(x).__name__}")
    if num_per_channels not in GROUPS:
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; allowed: 16, 32, 64, 128"
        )
    common.get_cast_input_and_config(x, None)
    check_blocks("per_token_cast_and_cast_back", x.shape[1], max(HIDDEN_MULTIPLE, num_per_channels))
    config = common.get_cast_output_config(
        fmt, (1, num_per_channels), False, round_sf, False, use_e4m3_sf
    )
    run_round_trip(x, config)
