"""SwiGLU backward, with or without a cast (tile_kernels.md section 4.8)."""

from __future__ import annotations

from typing import Any

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, dtype_name
from tile_kernels.quant.cast_plan import Band
from tile_kernels.quant.common import CastOutputConfig
from tile_kernels.quant.psum import check_psum, check_weights
from tile_kernels.quant.swiglu_plan import NO_SCALES, BackwardPlan, plan_backward
from tile_kernels.utils import ceil_div, str_to_dtype

__all__ = ["check_backward", "launch_backward", "plan_of", "run_backward", "swiglu_backward"]

HIDDEN_MULTIPLE = 64


def swiglu_backward(
    x: torch.Tensor,
    act_x_grad: torch.Tensor,
    fmt: str,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    clamp_value: float | None = None,
    do_recompute: bool = False,
) -> tuple[torch.Tensor, ...]:
    """Returns the gradients of `swiglu_forward`.

    Args:
        x: contiguous bf16 or fp32 [..., 2 hidden], the input of the forward pass.
        act_x_grad: the gradient of its result, [..., hidden], same dtype.
        fmt: ``"bf16"`` or ``"fp32"``: the dtype of both, and of the results.
        psum_num_tokens_per_expert, topk_weights, routed_scaling_factor, clamp_value: as in the
            forward pass. Gradients of padding rows are 0.
        do_recompute: also returns the forward result.

    Returns:
        (x_grad like x[, weight_grad fp32 [tokens] with topk_weights][, act_out like act_x_grad with
        do_recompute]). Elements that were clamped get no gradient.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, dtype or option that is not allowed.
    """
    if fmt not in ("bf16", "fp32"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'bf16', 'fp32'")
    dtype = str_to_dtype(fmt)
    for name, tensor in (("x", x), ("act_x_grad", act_x_grad)):
        if tensor.dtype != dtype:
            raise TileKernelsTypeError(f"{name} has dtype {tensor.dtype}, wanted that of {fmt!r}")
    return run_backward(
        x, act_x_grad, dtype, psum_num_tokens_per_expert, topk_weights, routed_scaling_factor,
        clamp_value, do_recompute,
    )  # fmt: skip


def run_backward(
    x: torch.Tensor,
    act_x_grad: torch.Tensor,
    dtype: torch.dtype,
    psum: torch.Tensor | None,
    topk_weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    do_recompute: bool,
) -> tuple[torch.Tensor, ...]:
    """As `swiglu_backward`, with results in `dtype` from inputs in bf16 or fp32 each."""
    rows = check_backward(x, act_x_grad, psum, topk_weights, factor, clamp_value)
    x_grad = torch.empty_like(x, dtype=dtype)
    weight_grad = None if topk_weights is None else torch.empty_like(topk_weights)
    act = torch.empty_like(act_x_grad, dtype=dtype) if do_recompute else None
    if x.numel():
        plan = plan_of(
            x, act_x_grad, dtype, psum, topk_weights is not None, clamp_value, do_recompute
        )
        launch_backward(
            plan, x.view(rows, -1), None, act_x_grad.view(rows, -1), x_grad.view(rows, -1),
            weight_grad, None if act is None else act.view(rows, -1), psum, topk_weights, factor,
            clamp_value,
        )  # fmt: skip
    return tuple(tensor for tensor in (x_grad, weight_grad, act) if tensor is not None)


def check_backward(
    x: torch.Tensor,
    act_x_grad: torch.Tensor,
    psum: torch.Tensor | None,
    topk_weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    allowed: tuple[torch.dtype, ...] = (torch.bfloat16, torch.float32),
) -> int:
    """Checks the inputs of a backward pass, x being in one of the allowed dtypes.

    Returns:
        Number of rows.
    """
    for name, tensor in (("x", x), ("act_x_grad", act_x_grad)):
        dtypes = allowed if name == "x" else (torch.bfloat16, torch.float32)
        if tensor.dtype not in dtypes:
            raise TileKernelsTypeError(
                f"{name} has dtype {tensor.dtype}; allowed: "
                + ", ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
            )
        if tensor.dim() < 2 or not tensor.is_contiguous() or tensor.device != x.device:
            raise TileKernelsValueError(
                f"{name} is {tuple(tensor.shape)} with stride {tuple(tensor.stride())} on "
                f"{tensor.device}; wanted at least 2 dimensions, contiguous, on {x.device}"
            )
    hidden = x.shape[-1] // 2
    check_blocks("swiglu_backward (half of x)", hidden, HIDDEN_MULTIPLE)
    if tuple(act_x_grad.shape) != (*x.shape[:-1], hidden):
        raise TileKernelsValueError(
            f"act_x_grad is {tuple(act_x_grad.shape)}; wanted {(*x.shape[:-1], hidden)}"
        )
    if clamp_value is not None and not clamp_value > 0:
        raise TileKernelsValueError(f"clamp_value must be positive, got {clamp_value}")
    rows = x.numel() // x.shape[-1] if x.shape[-1] else 0
    check_psum(psum, x.device)
    check_weights(topk_weights, factor, rows, x.device)
    return rows


def plan_of(
    x: torch.Tensor,
    grad: torch.Tensor,
    dtype: torch.dtype,
    psum: torch.Tensor | None,
    has_weights: bool,
    clamp_value: float | None,
    do_recompute: bool,
    sf_in: Band = NO_SCALES,
    sf: Band = NO_SCALES,
) -> BackwardPlan:
    """Returns the plan of a backward pass with results in `dtype`."""
    return plan_backward(
        "uint8" if sf_in.exists else dtype_name(x.dtype), dtype_name(grad.dtype),
        dtype_name(dtype), grad.shape[-1], settings.get_num_vec_cores(),
        settings.get_token_alignment() if psum is not None else 0,
        has_weights, clamp_value is not None, do_recompute, sf_in, sf,
    )  # fmt: skip


def launch_backward(
    plan: BackwardPlan,
    x: torch.Tensor,
    x_sf: torch.Tensor | None,
    grad: torch.Tensor,
    x_grad: torch.Tensor,
    weight_grad: torch.Tensor | None,
    act: torch.Tensor | None,
    psum: torch.Tensor | None,
    weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    codes: torch.Tensor | None = None,
    sf: torch.Tensor | None = None,
    config: CastOutputConfig | None = None,
) -> None:
    """Runs the kernel of a plan; `codes` and `sf` are the cast of the gradient by `config`."""
    from tile_kernels.quant.swiglu_backward_asc import swiglu_backward as kernel

    def unused(*shape: int, dtype: Any = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=x.device)

    items = unused(1, 1)
    if sf is not None and config is not None:
        items = common.sf_items(sf, config, words=config.sf_layout.kind == "packed_col")
    kernel(
        x,
        x_sf if x_sf is not None else unused(1, 1),
        grad,
        psum if psum is not None else unused(1, dtype=torch.int32),
        weights if weights is not None else unused(1),
        x_grad,
        weight_grad if weight_grad is not None else unused(1),
        act if act is not None else unused(1, 1, dtype=x_grad.dtype),
        codes if codes is not None else unused(1, 1, dtype=torch.float8_e4m3fn),
        items,
        1.0 if factor is None else float(factor), 0.0 if clamp_value is None else clamp_value,
        0 if config is None else common.float_bits(config.clamp_min_value),
        ceil_div(x.shape[0], plan.rows), ceil_div(grad.shape[1], plan.cols),
        plan=plan, round_sf=config is not None and config.round_sf,
    )  # fmt: skip
