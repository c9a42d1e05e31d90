"""SwiGLU with a per-channel cast and a transpose (tile_kernels.md section 4.8)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks
from tile_kernels.quant.channel_cast_kernel import channel_config, run_channel_cast
from tile_kernels.quant.types import QuantTensor

__all__ = ["swiglu_forward_and_per_channel_cast_and_transpose"]

HIDDEN_MULTIPLE = 64


def swiglu_forward_and_per_channel_cast_and_transpose(
    x: torch.Tensor,
    fmt: str,
    num_per_tokens: int,
    round_sf: bool = False,
    without_transpose: bool = False,
    swiglu_clamp_value: float | None = None,
) -> QuantTensor:
    """Quantises silu(left half) * right half per channel, in one kernel.

    The activation is rounded to the dtype of x before the cast.

    Args:
        x: bf16 or fp32 [tokens, 2 hidden], hidden a multiple of 64, any number of tokens.
        fmt: ``"e4m3"``.
        num_per_tokens: tokens per scale, 32 or 128.
        round_sf: scales are powers of two.
        without_transpose: codes stay [tokens, hidden].
        swiglu_clamp_value: left is limited to at most this, right to +- this, before the
            activation.

    Returns:
        (e4m3 [hidden, tokens], fp32 [groups of tokens, hidden]).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    config = channel_config(fmt, num_per_tokens, round_sf)
    data, _, _ = common.get_cast_input_and_config(x, None)
    check_blocks(
        "swiglu_forward_and_per_channel_cast_and_transpose (x, both halves)",
        data.shape[1], 2 * HIDDEN_MULTIPLE,
    )  # fmt: skip
    if swiglu_clamp_value is not None and not swiglu_clamp_value > 0:
        raise TileKernelsValueError(
            f"swiglu_clamp_value must be positive, got {swiglu_clamp_value}"
        )
    return run_channel_cast(
        data, config, swiglu=True, clamp_value=swiglu_clamp_value, turns=not without_transpose
    )
