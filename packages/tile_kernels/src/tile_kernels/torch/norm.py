"""References of RMSNorm in float64, for tests (tile_kernels.md sections 4.9 and 10)."""

from __future__ import annotations

import torch

__all__ = ["norm_forward_ref"]


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
