"""References of SwiGLU in float64, for tests (tile_kernels.md sections 4.8 and 10)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.utils import align

__all__ = ["get_mapping_from_psum", "swiglu_backward", "swiglu_forward"]


def get_mapping_from_psum(
    psum: torch.Tensor, num_tokens: int, alignment: int | None = None
) -> torch.Tensor:
    """Returns which of `num_tokens` rows belong to an expert, as bool."""
    step = alignment or settings.get_token_alignment()
    mask = torch.zeros(num_tokens, dtype=torch.bool)
    first = 0
    for end in psum.tolist():
        mask[first:end] = True
        first = align(end, step)
    return mask


def _halves(
    x: torch.Tensor, clamp_value: float | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    raw_left, raw_right = x.double().chunk(2, dim=-1)
    if clamp_value is None:
        return raw_left, raw_right, raw_left, raw_right
    limit = float(torch.tensor(clamp_value, dtype=torch.float32))
    return raw_left, raw_right, raw_left.clamp(max=limit), raw_right.clamp(-limit, limit)


def _weights(
    x: torch.Tensor, topk_weights: torch.Tensor | None, factor: float | None
) -> torch.Tensor:
    if topk_weights is None:
        return torch.ones(x.shape[0], 1, dtype=torch.float64)
    scaled = topk_weights if factor is None else topk_weights * torch.tensor(factor)
    return scaled.double()[:, None]


def swiglu_forward(
    x: torch.Tensor,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    clamp_value: float | None = None,
    clamped_count: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns silu(left) * right * weight in float64; padding rows are 0.

    `clamped_count` is added to as by the kernel.
    """
    raw_left, raw_right, left, right = _halves(x, clamp_value)
    mask = torch.ones(x.shape[0], dtype=torch.bool)
    if psum_num_tokens_per_expert is not None:
        mask = get_mapping_from_psum(psum_num_tokens_per_expert, x.shape[0])
    if clamped_count is not None and clamp_value is not None:
        limit = float(torch.tensor(clamp_value, dtype=torch.float32))
        clamped_count += torch.stack((
            (raw_left > limit)[mask].sum(), (raw_right > limit)[mask].sum(),
            (raw_right < -limit)[mask].sum(), torch.tensor(left[mask].numel()),
        ))  # fmt: skip
    result = left * torch.sigmoid(left) * right * _weights(x, topk_weights, routed_scaling_factor)
    return torch.where(mask[:, None], result, 0.0)


def swiglu_backward(
    x: torch.Tensor,
    grad_out: torch.Tensor,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    clamp_value: float | None = None,
    alignment: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns (x_grad, weight_grad, act_out) in float64, 0 in padding rows."""
    raw_left, raw_right, left, right = _halves(x, clamp_value)
    grad, weight = grad_out.double(), _weights(x, topk_weights, routed_scaling_factor)
    mask = torch.ones(x.shape[0], dtype=torch.bool)
    if psum_num_tokens_per_expert is not None:
        mask = get_mapping_from_psum(psum_num_tokens_per_expert, x.shape[0], alignment)
    sigmoid = torch.sigmoid(left)
    act = left * sigmoid * right
    d_left = grad * weight * sigmoid * right * (left * (1 - sigmoid) + 1)
    d_right = grad * weight * sigmoid * left
    d_left = torch.where(raw_left > left, 0.0, d_left)
    d_right = torch.where(raw_right != right, 0.0, d_right)
    weight_grad = (grad * act).sum(-1)
    if routed_scaling_factor is not None:
        weight_grad = weight_grad * routed_scaling_factor
    keep = mask[:, None]
    return (
        torch.where(keep, torch.cat((d_left, d_right), -1), 0.0),
        torch.where(mask, weight_grad, 0.0),
        torch.where(keep, act * weight, 0.0),
    )
