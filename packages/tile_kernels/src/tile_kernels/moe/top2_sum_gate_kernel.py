"""`top2_sum_gate`: routing inside the best groups of experts, for one EP and TP rank."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_whole
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.moe.moe_topk_gate_kernel import MAX_SLOTS, GateOptions, run_gate
from tile_kernels.moe.scoring import ScoringFunc

__all__ = ["top2_sum_gate"]


def top2_sum_gate(
    logits: torch.Tensor,
    bias: torch.Tensor,
    num_topk: int,
    num_topk_groups: int,
    num_groups: int,
    use_shared_as_routed: bool,
    num_shared_experts: int,
    routed_scaling_factor: float,
    ep_rank: int,
    num_ep_ranks: int,
    tp_rank: int,
    num_tp_ranks: int,
    scoring_func: str | ScoringFunc,
    mask: torch.Tensor | None = None,
    fix_routing_mask: torch.Tensor | None = None,
    to_physical_map: torch.Tensor | None = None,
    logical_count: torch.Tensor | None = None,
    unmapped_topk_idx: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keeps the groups with the largest sum of two biased scores and selects experts in them.

    Args:
        logits: fp32 [tokens, E], contiguous, finite.
        bias: fp32 [E], for the selection only.
        num_topk, num_topk_groups, num_groups: experts a token, groups kept, groups; E is a multiple
            of num_groups. Both group counts 0, or equal, for no limit by groups.
        use_shared_as_routed, num_shared_experts, routed_scaling_factor, ep_rank, mask,
            fix_routing_mask, to_physical_map, logical_count, unmapped_topk_idx: as in
            `moe_topk_gate_forward`.
        num_ep_ranks: ranks that share the physical experts.
        tp_rank, num_tp_ranks: experts of other TP ranks become -1 and the rest is renumbered, as
            `mask_indices_by_tp` does.
        scoring_func: name or `ScoringFunc`; softmax selects by logit + bias.

    Returns:
        topk_idx int64 [tokens, k + S] and topk_weights fp32 of the same shape.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: a logit is NaN or infinite, or a fixed index is no expert.
    """
    if not isinstance(logits, torch.Tensor) or logits.dim() != 2:
        raise TileKernelsTypeError("logits must be a tensor [tokens, experts]")
    experts = logits.shape[1]
    _check_groups(experts, num_groups, num_topk_groups)
    check_whole("num_ep_ranks", num_ep_ranks, 1)
    check_whole("num_tp_ranks", num_tp_ranks, 1, num_ep_ranks)
    check_whole("tp_rank", tp_rank, 0, num_tp_ranks - 1)
    check_whole("num_shared_experts", num_shared_experts, 0)
    shared = num_shared_experts if use_shared_as_routed else 0
    extra = shared if to_physical_map is None else to_physical_map.shape[-1] - 1
    scoring = scoring_func if isinstance(scoring_func, ScoringFunc) else None
    options = GateOptions(
        bias=bias,
        mask=mask,
        fix_routing_mask=fix_routing_mask,
        to_physical_map=to_physical_map,
        logical_count=logical_count,
        unmapped_topk_idx=unmapped_topk_idx,
        num_shared=shared,
        num_groups=num_groups or 1,
        num_topk_groups=num_topk_groups or 1,
        routed_scaling_factor=routed_scaling_factor,
        ep_rank=ep_rank,
        per_gpu=(experts + extra) // num_ep_ranks,
        tp_rank=tp_rank,
        num_tp_ranks=num_tp_ranks,
        scoring=scoring if scoring is not None else ScoringFunc.from_str(str(scoring_func)),
    )
    return run_gate(logits, num_topk, options)


def _check_groups(experts: int, num_groups: int, num_topk_groups: int) -> None:
    check_whole("num_groups", num_groups, 0, MAX_SLOTS)
    check_whole("num_topk_groups", num_topk_groups, 0, num_groups)
    if (num_groups == 0) != (num_topk_groups == 0):
        raise TileKernelsValueError(
            f"num_groups got {num_groups} and num_topk_groups {num_topk_groups}; both are 0 or none"
        )
    if num_groups and experts % num_groups:
        raise TileKernelsValueError(
            f"logits have {experts} experts, wanted a multiple of num_groups={num_groups}"
        )
    if num_groups != num_topk_groups and experts // num_groups < 2:
        raise TileKernelsValueError(
            f"groups have {experts // num_groups} expert, wanted 2 or more to add two scores"
        )
