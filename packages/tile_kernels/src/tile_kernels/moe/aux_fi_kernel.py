"""`aux_fi`: share of each expert in the routing, for the balance loss."""

from __future__ import annotations

import torch

from tile_kernels._bridge import launched_together
from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.moe.group_count_kernel import group_count

__all__ = ["aux_fi"]


def aux_fi(topk_idx: torch.Tensor, num_experts: int, num_aux_topk: int) -> torch.Tensor:
    """Returns count * num_experts / (tokens * num_aux_topk) of each expert.

    Args:
        topk_idx: int64 [tokens, k], contiguous; negative indices do not count.
        num_experts: number of experts.
        num_aux_topk: slots a token counts for in the loss.

    Returns:
        fp32 [num_experts]; zeros when there are no tokens.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: an index is not below num_experts.
    """
    check_tensor("topk_idx", topk_idx, (torch.int64,), 2)
    check_whole("num_experts", num_experts, 1)
    check_whole("num_aux_topk", num_aux_topk, 1)
    tokens = topk_idx.shape[0]
    if not tokens:
        return torch.zeros(num_experts, dtype=torch.float32, device=topk_idx.device)
    from tile_kernels.moe.group_count_asc import scale_counts

    out = torch.empty(num_experts, dtype=torch.float32, device=topk_idx.device)
    divisor = float(tokens * num_aux_topk)
    with launched_together():
        counts = group_count(topk_idx, num_experts)
        scale_counts(counts, out, float(num_experts), divisor, cores=get_num_vec_cores())
    return out
