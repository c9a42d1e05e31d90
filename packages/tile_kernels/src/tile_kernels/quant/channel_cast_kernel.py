"""Runs the kernel of per-channel casts that gather, activate or transpose.

The public functions check their own options and call `run_channel_cast`.
"""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import band_of, dtype_name, launch_rows_cast
from tile_kernels.quant.cast_plan import Band, CastPlan, make_plan, plan_rows_cast, plan_turned_cast
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import ceil_div

__all__ = ["channel_config", "run_channel_cast"]

GROUPS = (32, 128)


def channel_config(fmt: str, num_per_tokens: int, round_sf: bool) -> common.CastOutputConfig:
    """Checks the options that these functions share and returns the format of their output."""
    if fmt != "e4m3":
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3'")
    if num_per_tokens not in GROUPS:
        raise TileKernelsValueError(f"num_per_tokens got {num_per_tokens}; allowed: 32, 128")
    return common.get_cast_output_config(fmt, (num_per_tokens, 1), False, round_sf, False)


def run_channel_cast(
    x: torch.Tensor,
    config: common.CastOutputConfig,
    *,
    sf_in: torch.Tensor | None = None,
    sf_width: int = 0,
    pos_to_token: torch.Tensor | None = None,
    swiglu: bool = False,
    clamp_value: float | None = None,
    turns: bool = False,
) -> QuantTensor:
    """Casts a checked input.

    Args:
        x: [tokens, hidden], or [tokens, 2 hidden] with `swiglu`.
        config: format of the output.
        sf_in: row-major fp32 scales of x, one for `sf_width` channels.
        pos_to_token: int32, the row of x for each row of the output; negative for zeros.
        swiglu: the rows are silu(left half) * right half, rounded to the dtype of x.
        clamp_value: limit of the halves.
        turns: codes are [hidden, tokens].

    Returns:
        (codes, fp32 scales [token groups, hidden]).
    """
    tokens = x.shape[0] if pos_to_token is None else pos_to_token.shape[0]
    hidden = x.shape[1] // 2 if swiglu else x.shape[1]
    shape = (hidden, tokens) if turns else (tokens, hidden)
    out = torch.empty(shape, dtype=config.torch_dtype, device=x.device)
    sf = common.alloc_scaling_factors((tokens, hidden), config, x.device)
    if not out.numel():
        return out, sf
    band_in = Band() if sf_in is None else Band((1, sf_width))
    plan = make_plan(
        "cast", dtype_name(x.dtype), dtype_name(out.dtype), "e4m3", band_in, band_of(config),
        settings.get_num_vec_cores(),
    )  # fmt: skip
    if turns:
        _launch_turned(plan_turned_cast(plan), x, out, sf, config, swiglu, clamp_value)
        return out, sf
    fast = plan_rows_cast(plan, swiglu)
    assert fast is not None
    launch_rows_cast(fast, x, pos_to_token, out, sf, config, tokens, sf_in, swiglu, clamp_value)
    return out, sf


def _launch_turned(
    plan: CastPlan,
    x: torch.Tensor,
    codes: torch.Tensor,
    sf: torch.Tensor,
    config: common.CastOutputConfig,
    swiglu: bool,
    clamp_value: float | None,
) -> None:
    from tile_kernels.quant.turned_cast_asc import turned_cast

    across = ceil_div(codes.shape[0], plan.cols)
    turned_cast(
        x, codes.view(torch.uint8), sf,
        common.float_bits(config.clamp_min_value), 0.0 if clamp_value is None else clamp_value,
        x.shape[0], ceil_div(x.shape[0], plan.rows) * across, across,
        plan=plan, round_sf=config.round_sf, swiglu=swiglu, has_limit=clamp_value is not None,
    )  # fmt: skip
