"""`topk_sum_and_topk_group_idx`: the groups whose best experts score highest."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.moe.topk_gate_kernel import row_width

__all__ = ["topk_sum_and_topk_group_idx"]


def topk_sum_and_topk_group_idx(
    scores: torch.Tensor, num_topk_sum: int, num_topk_groups: int
) -> torch.Tensor:
    """Picks groups of experts by the sum of their largest scores.

    Args:
        scores: fp32 [tokens, groups, experts per group], contiguous, no NaN.
        num_topk_sum: 1 or 2, how many scores of a group count.
        num_topk_groups: how many groups to pick.

    Returns:
        int64 [tokens, num_topk_groups], largest sum first, equal sums by index.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    check_tensor("scores", scores, (torch.float32,), 3)
    tokens, groups, per_group = scores.shape
    width, groups_width = row_width(groups * per_group), row_width(groups)
    check_whole("num_topk_sum", num_topk_sum, 1, min(2, per_group))
    check_whole("num_topk_groups", num_topk_groups, 1, groups)
    out = torch.empty((tokens, num_topk_groups), dtype=torch.int64, device=scores.device)
    if tokens:
        from tile_kernels.moe.topk_sum_and_topk_group_idx_asc import ROWS, topk_groups

        rows, cores = scores.view(tokens, groups * per_group), get_num_vec_cores()
        share = min(ROWS, -(-tokens // cores))
        sizes = {"width": width, "groups_width": groups_width, "cores": cores}
        topk_groups(rows, out.view(torch.int32), per_group, num_topk_sum, share, **sizes)
    return out
