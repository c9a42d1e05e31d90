"""References of RMSNorm in float64, for tests (tile_kernels.md sections 4.9 and 10)."""

from __future__ import annotations

import torch

__all__ = ["norm_backward_ref", "norm_forward_ref"]


def norm_forward_ref(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    eps: float,
    residual: torch.Tensor | None = None,
    out_scale: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns (out in float64, rstd in float64, norm_input in the dtype of x)."""
    norm_input = x if residual is None else (x.float() + residual.float()).to(x.dtype)
    values = norm_input.double()
    rstd = 1.0 / torch.sqrt(values.square().mean(-1) + eps)
    result = values * rstd[..., None] * out_scale
    return result if weight is None else result * weight.double(), rstd, norm_input


def norm_backward_ref(
    out_grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    rstd: torch.Tensor,
    residual_out_grad: torch.Tensor | None = None,
    out_scale: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (x_grad, weight_grad) in float64."""
    hat, g = x.double() * rstd.double()[..., None], out_grad.double() * out_scale
    gw = g if weight is None else g * weight.double()
    x_grad = (gw - hat * (hat * gw).mean(-1, keepdim=True)) * rstd.double()[..., None]
    if residual_out_grad is not None:
        x_grad = x_grad + residual_out_grad.double()
    return x_grad, (hat * g).view(-1, x.shape[-1]).sum(0)
