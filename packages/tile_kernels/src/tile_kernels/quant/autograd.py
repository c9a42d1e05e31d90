"""SwiGLU and RMSNorm for autograd (tile_kernels.md section 16)."""

from __future__ import annotations

from typing import Any

import torch

from tile_kernels.quant.norm_backward_kernel import norm_backward
from tile_kernels.quant.norm_forward_kernel import norm_forward
from tile_kernels.quant.swiglu_backward_kernel import swiglu_backward
from tile_kernels.quant.swiglu_forward_kernel import swiglu_forward

__all__ = ["NormFunction", "SwigluFunction", "norm", "swiglu"]

_FORMATS = {torch.bfloat16: "bf16", torch.float32: "fp32"}


class SwigluFunction(torch.autograd.Function):
    """`swiglu_forward` with `swiglu_backward` as its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        topk_weights: torch.Tensor | None,
        psum: torch.Tensor | None,
        routed_scaling_factor: float | None,
        clamp_value: float | None,
    ) -> torch.Tensor:
        """Runs the kernel and keeps its inputs."""
        ctx.save_for_backward(x, topk_weights, psum)
        ctx.options = (routed_scaling_factor, clamp_value)
        return swiglu_forward(
            x, _FORMATS.get(x.dtype, "bf16"), psum, topk_weights, routed_scaling_factor, clamp_value
        )

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients of x and of the weights."""
        x, topk_weights, psum = ctx.saved_tensors
        result = swiglu_backward(
            x, grads[0].contiguous(), _FORMATS[x.dtype], psum, topk_weights, *ctx.options
        )
        weight_grad = result[1] if topk_weights is not None else None
        return result[0], weight_grad, None, None, None


class NormFunction(torch.autograd.Function):
    """`norm_forward` with `norm_backward` as its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor | None,
        eps: float,
        residual: torch.Tensor | None,
        out_scale: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Runs the kernel and keeps what the backward pass needs."""
        out, rstd, norm_input = norm_forward(x, weight, eps, residual, out_scale)
        if residual is None:
            norm_input = norm_input.view_as(norm_input)
        ctx.save_for_backward(norm_input, weight, rstd)
        ctx.out_scale, ctx.has_residual = out_scale, residual is not None
        return out, norm_input

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients of x, weight and residual."""
        norm_input, weight, rstd = ctx.saved_tensors
        x_grad, weight_grad = norm_backward(
            grads[0].contiguous(), norm_input, weight, rstd, grads[1].contiguous(), ctx.out_scale
        )
        return x_grad, weight_grad, None, x_grad if ctx.has_residual else None, None


def swiglu(
    x: torch.Tensor,
    topk_weights: torch.Tensor | None = None,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    clamp_value: float | None = None,
) -> torch.Tensor:
    """Returns `swiglu_forward` in the dtype of x; gradients reach x and topk_weights.

    Rows between the experts are not written, and get no gradient. Arguments and errors are those of
    `swiglu_forward`.
    """
    result: torch.Tensor = SwigluFunction.apply(
        x, topk_weights, psum_num_tokens_per_expert, routed_scaling_factor, clamp_value
    )  # type: ignore[no-untyped-call]
    return result


def norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    eps: float,
    residual: torch.Tensor | None = None,
    out_scale: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (out, norm_input) of `norm_forward`; gradients reach x, weight and residual."""
    result: tuple[torch.Tensor, torch.Tensor] = NormFunction.apply(
        x, weight, eps, residual, out_scale
    )  # type: ignore[no-untyped-call]
    return result
