"""References of the MoE functions: exact, or in float64 (tile_kernels.md sections 5 and 10)."""

from __future__ import annotations

import torch

__all__ = [
    "aux_fi", "expand_to_fused", "expand_to_fused_with_sf", "group_count",
    "inplace_unique_group_indices", "mask_indices_by_tp", "normalize_weight", "reduce_fused",
    "stable_topk", "topk_sum_and_topk_group_idx",
]  # fmt: skip


def stable_topk(scores: torch.Tensor, num_topk: int) -> torch.Tensor:
    """Indices of the largest entries of the last axis, equal ones in their order."""
    order = torch.sort(scores, dim=-1, descending=True, stable=True).indices
    return order[..., :num_topk].contiguous()


def topk_sum_and_topk_group_idx(
    scores: torch.Tensor, num_topk_sum: int, num_topk_groups: int
) -> torch.Tensor:
    """Groups with the largest sum of their `num_topk_sum` largest scores."""
    sums = torch.topk(scores, num_topk_sum, dim=-1).values.sum(-1)
    return stable_topk(sums, num_topk_groups)


def normalize_weight(topk_weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sum in the order of the slots from 1e-20, in fp32, and the quotients."""
    total = torch.full_like(topk_weights[:, 0], 1e-20)
    for slot in range(topk_weights.shape[1]):
        total = total + topk_weights[:, slot]
    return total, topk_weights / total[:, None]


def group_count(group_idx: torch.Tensor, num_groups: int) -> torch.Tensor:
    """How often each index occurs; negative ones do not count."""
    valid = group_idx[group_idx >= 0]
    return torch.bincount(valid, minlength=num_groups).to(torch.int32)


def aux_fi(topk_idx: torch.Tensor, num_experts: int, num_aux_topk: int) -> torch.Tensor:
    """count * experts / (tokens * num_aux_topk), from float64."""
    counts = group_count(topk_idx, num_experts).double()
    return (counts * num_experts / (topk_idx.shape[0] * num_aux_topk)).float()


def mask_indices_by_tp(
    indices: torch.Tensor, n: int, num_ep_ranks: int, tp_rank: int, num_tp_ranks: int
) -> torch.Tensor:
    """Local indices of one TP rank: which DP group, and which of its experts."""
    per_gpu = n // num_ep_ranks
    wide = indices.to(torch.int64)
    gpu, expert = wide.div(per_gpu, rounding_mode="floor"), wide.remainder(per_gpu)
    mine = (wide >= 0) & (gpu.remainder(num_tp_ranks) == tp_rank)
    local = gpu.div(num_tp_ranks, rounding_mode="floor") * per_gpu + expert
    return torch.where(mine, local, -1).to(indices.dtype)


def inplace_unique_group_indices(group_indices: torch.Tensor, num_groups: int) -> None:
    """Later duplicates of a row become -1, in place."""
    for row in group_indices:
        seen: set[int] = set()
        for slot, value in enumerate(row.tolist()):
            if value in seen:
                row[slot] = -1
            seen.add(value)


def expand_to_fused(
    x: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
) -> torch.Tensor:
    """out[pos] = x[token]; other rows are zero."""
    size = (pos_to_expert.shape[0], x.shape[1] * x.element_size())
    out = torch.zeros(size, dtype=torch.uint8)
    rows = x.contiguous().view(torch.uint8)
    token, slot = (token_topk_to_pos >= 0).nonzero(as_tuple=True)
    out[token_topk_to_pos[token, slot].long()] = rows[token]
    return out.view(x.dtype)


def expand_to_fused_with_sf(
    x: tuple[torch.Tensor, torch.Tensor],
    num_per_channels: int,
    token_topk_to_pos: torch.Tensor,
    pos_to_expert: torch.Tensor,
    use_tma_aligned_col_major_sf: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows and scales by position; column-major scales are padded to 4 rows."""
    data, sf = (expand_to_fused(item, token_topk_to_pos, pos_to_expert) for item in x)
    if use_tma_aligned_col_major_sf:
        rows = sf.shape[0]
        storage = torch.zeros((sf.shape[1], -(-rows // 4) * 4), dtype=sf.dtype)
        storage[:, :rows] = sf.T
        sf = storage.T[:rows]
    return data, sf


def reduce_fused(
    x: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    topk_weights: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    fp8_format: str = "",
    sf: torch.Tensor | None = None,
) -> torch.Tensor:
    """acc = fma(row, w * x_sf, acc) slot by slot; each fma is exact in float64, then rounded."""
    rows, x_sf = x if isinstance(x, tuple) else (x, None)
    total = torch.zeros((topk_weights.shape[0], rows.shape[1]))
    for slot in range(topk_weights.shape[1]):
        position = token_topk_to_pos[:, slot].long()
        valid = position >= 0
        factor = topk_weights[:, slot]
        if x_sf is not None:
            factor = factor * x_sf[position]
        # NOTE: products are exact in float64; the sum is rounded twice, which differs from a
        # fused multiply-add only when float64 lands on a tie of fp32.
        step = total.double() + rows[position].double() * factor.double()[:, None]
        total = torch.where(valid[:, None], step.float(), total)
    if sf is not None:
        total = total * sf
    if fp8_format == "e4m3":
        return total.clamp(-448, 448).to(torch.float8_e4m3fn)
    return total.to(rows.dtype)
