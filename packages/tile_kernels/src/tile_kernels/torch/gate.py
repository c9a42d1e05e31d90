"""References of the gates: scores in float64, selection and mapping token by token."""

from __future__ import annotations

import torch

from tile_kernels.torch.moe import mask_indices_by_tp, stable_topk, topk_sum_and_topk_group_idx

__all__ = ["moe_topk_gate_backward", "moe_topk_gate_forward", "score", "top2_sum_gate"]


def score(logits: torch.Tensor, scoring_func: str) -> torch.Tensor:
    """Scores in float64 of logits of any dtype; differentiable."""
    x = logits.double()
    if scoring_func == "sigmoid":
        return torch.sigmoid(x)
    if scoring_func == "sqrtsoftplus":
        return torch.nn.functional.softplus(x, threshold=40).sqrt()
    if scoring_func == "softmax":
        return torch.softmax(x, dim=-1)
    return x


def moe_topk_gate_forward(
    logits: torch.Tensor,
    num_topk: int,
    num_shared: int = 0,
    routed_scaling_factor: float = 1.0,
    ep_rank: int = 0,
    scoring_func: str = "sqrtsoftplus",
    mask: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    fixed: torch.Tensor | None = None,
    to_physical_map: torch.Tensor | None = None,
    logical_count: torch.Tensor | None = None,
    groups: tuple[int, int] = (1, 1),
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns physical indices, weights in float64, and logical indices before mapping.

    `bias` is [E], or [tokens, E] where tokens differ; `fixed` holds the experts of tokens that do
    not select themselves, -1 in the first slot for those that do.
    """
    tokens, experts = logits.shape
    scores = score(logits, scoring_func)
    key = (logits if scoring_func == "softmax" else scores.float()) + (0 if bias is None else bias)
    if groups[0] != groups[1]:
        grouped = key.view(tokens, groups[0], -1)
        kept = topk_sum_and_topk_group_idx(grouped, 2, groups[1])
        lost = torch.ones(tokens, groups[0], dtype=torch.bool).scatter(1, kept, False)
        key = grouped.masked_fill(lost[:, :, None], -torch.inf).view(tokens, experts)
    logical = stable_topk(key, num_topk)
    if fixed is not None:
        logical = torch.where(fixed[:, :1] >= 0, fixed, logical)
    selected = scores.gather(1, logical)
    weights = selected / (selected.sum(1, keepdim=True) + 1e-20) * routed_scaling_factor
    shared = torch.arange(experts, experts + num_shared).expand(tokens, -1)
    index = torch.cat([logical, shared], dim=1)
    weights = torch.cat([weights, torch.ones(tokens, num_shared).double()], dim=1)
    if to_physical_map is not None and logical_count is not None:
        spread = ep_rank + torch.arange(tokens)[:, None] * 23333
        index = to_physical_map[index, spread % logical_count[index]].long()
    if mask is not None:
        index = torch.where(mask[:, None], index, -1)
        weights = torch.where(mask[:, None], weights, 0.0)
        logical = torch.where(mask[:, None], logical, -1)
    return index, weights, logical


def top2_sum_gate(
    logits: torch.Tensor,
    bias: torch.Tensor,
    num_topk: int,
    num_topk_groups: int,
    num_groups: int,
    num_shared: int,
    routed_scaling_factor: float,
    ep_rank: int,
    num_ep_ranks: int,
    tp_rank: int,
    num_tp_ranks: int,
    scoring_func: str,
    mask: torch.Tensor | None = None,
    to_physical_map: torch.Tensor | None = None,
    logical_count: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """As `moe_topk_gate_forward`, inside the best groups, renumbered for one TP rank."""
    index, weights, logical = moe_topk_gate_forward(
        logits, num_topk, num_shared, routed_scaling_factor, ep_rank, scoring_func, mask, bias,
        to_physical_map=to_physical_map, logical_count=logical_count,
        groups=(num_groups or 1, num_topk_groups or 1),
    )  # fmt: skip
    extra = num_shared if to_physical_map is None else to_physical_map.shape[1] - 1
    physical = (logits.shape[1] + extra) // num_ep_ranks * num_ep_ranks
    index = mask_indices_by_tp(index, physical, num_ep_ranks, tp_rank, num_tp_ranks)
    return index, weights, logical


def moe_topk_gate_backward(
    logits: torch.Tensor,
    topk_idx: torch.Tensor,
    grad_topk_weights: torch.Tensor,
    routed_scaling_factor: float,
    scoring_func: str = "sqrtsoftplus",
    mask: torch.Tensor | None = None,
    grad_scores_sum: torch.Tensor | None = None,
) -> torch.Tensor:
    """Gradient in float64 by autograd through the definition, from the logits."""
    x = logits.double().requires_grad_()
    u = score(x, scoring_func)
    valid = (topk_idx >= 0) & (topk_idx < x.shape[1])
    selected = u.gather(1, topk_idx.clamp(0, x.shape[1] - 1)) * valid
    weights = selected / (selected.sum(1, keepdim=True) + 1e-20) * routed_scaling_factor
    loss = (weights * grad_topk_weights.double() * valid).sum(1)
    if grad_scores_sum is not None:
        h = grad_scores_sum.double().repeat_interleave(x.shape[0] // grad_scores_sum.shape[0], 0)
        loss = loss + (u / u.sum(1, keepdim=True) * h).sum(1)
    if mask is not None:
        loss = loss[mask]
    (grad,) = torch.autograd.grad(loss.sum(), x)
    return grad
