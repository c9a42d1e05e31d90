"""SwiGLU backward of quantised activations, with a cast of the gradient (tile_kernels.md 4.8)."""

from __future__ import annotations

from typing import Any

import torch

from tile_kernels._bridge import launched_together
from tile_kernels._gather import gathered
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import band_of
from tile_kernels.quant.cast_back_kernel import cast_back
from tile_kernels.quant.cast_plan import Band
from tile_kernels.quant.first_generation import also_accepts
from tile_kernels.quant.per_token_cast_kernel import per_token_cast
from tile_kernels.quant.swiglu_backward_kernel import (
    check_backward,
    launch_backward,
    plan_of,
    run_backward,
)
from tile_kernels.quant.swiglu_plan import NO_SCALES, BackwardPlan
from tile_kernels.quant.types import QuantTensor

__all__ = ["swiglu_backward_and_per_token_cast"]

GROUPS = (32, 128)


def _first_generation(
    x: torch.Tensor | QuantTensor,
    grad_out: torch.Tensor,
    weight: torch.Tensor,
    pos_to_token_topk: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    num_per_channels: int,
    round_sf: bool = False,
    swiglu_clamp_value: float | None = None,
) -> tuple[torch.Tensor, QuantTensor, torch.Tensor, torch.Tensor]:
    """Returns (act_out, (x_grad codes, scales), x_grad, weight_grad [tokens, k])."""
    expanded = gathered(weight, pos_to_token_topk)
    x_grad, quantised, weight_grad, act_out = _second_generation(
        x, grad_out, "e4m3", num_per_channels, None, expanded, None, False, round_sf, False,
        swiglu_clamp_value, True,
    )  # fmt: skip
    return act_out, quantised, x_grad, gathered(weight_grad, token_topk_to_pos)


@also_accepts(
    _first_generation,
    ("grad_out", "weight", "pos_to_token_topk", "token_topk_to_pos", "swiglu_clamp_value"),
    lambda args: len(args) > 2 and isinstance(args[2], torch.Tensor),
)
def swiglu_backward_and_per_token_cast(
    x: torch.Tensor | QuantTensor,
    act_x_grad: torch.Tensor,
    fmt: str,
    num_per_channels: int,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    clamp_value: float | None = None,
    do_recompute: bool = False,
) -> tuple[Any, ...]:
    """Returns the gradients of a SwiGLU whose input was quantised, and the cast of the first.

    Args:
        x: (e4m3 [tokens, 2 hidden], scales [tokens, 2 hidden / num_per_channels]), or bf16
            [..., 2 hidden], hidden a multiple of 64.
        act_x_grad: bf16 [..., hidden], the gradient of the activation.
        fmt: ``"e4m3"``.
        num_per_channels: channels per scale, of x and of the gradient: 32 or 128.
        psum_num_tokens_per_expert, topk_weights, routed_scaling_factor, clamp_value, do_recompute:
            as in `swiglu_backward`.
        use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0: form of the new scales, as in
            `per_token_cast`.

    Returns:
        (x_grad bf16, (codes, scales) of its `per_token_cast`[, weight_grad fp32 with topk_weights]
        [, act_out bf16 with do_recompute]).

        In the form of the first generation, `(x, grad_out, weight, pos_to_token_topk,
        token_topk_to_pos, num_per_channels, round_sf=False, swiglu_clamp_value=None)` with weights
        fp32 [tokens, k] and int32 mappings: (act_out, (codes, scales), x_grad, weight_grad
        [tokens, k]).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, dtype or option that is not allowed.
    """
    return _second_generation(
        x, act_x_grad, fmt, num_per_channels, psum_num_tokens_per_expert, topk_weights,
        routed_scaling_factor, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0,
        clamp_value, do_recompute,
    )  # fmt: skip


def _second_generation(
    x: torch.Tensor | QuantTensor,
    act_x_grad: torch.Tensor,
    fmt: str,
    num_per_channels: int,
    psum: torch.Tensor | None,
    topk_weights: torch.Tensor | None,
    factor: float | None,
    col: bool,
    round_sf: bool,
    packed: bool,
    clamp_value: float | None,
    do_recompute: bool,
) -> tuple[Any, ...]:
    if fmt != "e4m3":
        raise TileKernelsValueError(
            f"fmt got {fmt!r}; allowed: 'e4m3' (swiglu_backward makes 'bf16' and 'fp32')"
        )
    if num_per_channels not in GROUPS:
        raise TileKernelsValueError(f"num_per_channels got {num_per_channels}; allowed: 32, 128")
    config = common.get_cast_output_config(fmt, (1, num_per_channels), col, round_sf, packed)
    data, x_sf, sf_in = _checked(x, num_per_channels)
    if data.numel() and data.is_contiguous():
        rows = check_backward(
            data, act_x_grad, psum, topk_weights, factor, clamp_value,
            (torch.bfloat16, torch.float8_e4m3fn),
        )  # fmt: skip
        plan = plan_of(
            data, act_x_grad, torch.bfloat16, psum, topk_weights is not None, clamp_value,
            do_recompute, sf_in, band_of(config),
        )  # fmt: skip
        if plan.fuses(data.shape[-1] // 2):
            return _in_one(
                plan, rows, data, x_sf, act_x_grad, config, psum, topk_weights, factor, clamp_value
            )
    with launched_together():
        values = (
            data if isinstance(x, torch.Tensor) else cast_back(x, "fp32", (1, num_per_channels))
        )
        results = run_backward(
            values, act_x_grad, torch.bfloat16, psum, topk_weights, factor, clamp_value,
            do_recompute,
        )  # fmt: skip
        flat = results[0].flatten(0, -2)
        quantised = per_token_cast(flat, fmt, num_per_channels, None, col, round_sf, packed)
    return results[0], quantised, *results[1:]


def _in_one(
    plan: BackwardPlan,
    rows: int,
    x: torch.Tensor,
    x_sf: torch.Tensor | None,
    act_x_grad: torch.Tensor,
    config: common.CastOutputConfig,
    psum: torch.Tensor | None,
    topk_weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
) -> tuple[Any, ...]:
    """The results of one kernel, for checked inputs that are not empty."""
    x_grad = torch.empty_like(x, dtype=torch.bfloat16)
    weight_grad = None if topk_weights is None else torch.empty_like(topk_weights)
    act = torch.empty_like(act_x_grad, dtype=torch.bfloat16) if plan.has_act else None
    shape = (rows, x.shape[-1])
    codes = torch.empty(shape, dtype=config.torch_dtype, device=x.device)
    sf = common.cast_epilogue(common.alloc_scaling_factors(shape, config, x.device), config)
    data = x if x_sf is None else x.view(torch.uint8)
    launch_backward(
        plan, data.view(shape), x_sf, act_x_grad.view(rows, -1), x_grad.view(shape),
        weight_grad, None if act is None else act.view(rows, -1), psum, topk_weights, factor,
        clamp_value, codes, sf, config,
    )  # fmt: skip
    others = tuple(tensor for tensor in (weight_grad, act) if tensor is not None)
    return x_grad, (codes, sf), *others


def _checked(
    x: torch.Tensor | QuantTensor, num_per_channels: int
) -> tuple[torch.Tensor, torch.Tensor | None, Band]:
    """The data, its scales and where they lie."""
    if isinstance(x, torch.Tensor):
        if x.dtype != torch.bfloat16:
            raise TileKernelsTypeError(f"x has dtype {x.dtype}; allowed: bfloat16 or (e4m3, sf)")
        return x, None, NO_SCALES
    data, sf, config = common.get_cast_input_and_config(x, (1, num_per_channels))
    if data.dtype != torch.float8_e4m3fn:
        raise TileKernelsTypeError(f"x[0] has dtype {data.dtype}; allowed: float8_e4m3fn")
    return data, sf, band_of(config)
