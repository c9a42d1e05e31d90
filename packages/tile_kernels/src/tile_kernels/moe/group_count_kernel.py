"""`group_count`: how often each group or expert is named."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores

__all__ = ["group_count"]


def group_count(group_idx: torch.Tensor, num_groups: int) -> torch.Tensor:
    """Counts indices.

    Args:
        group_idx: int64, contiguous, one or two dimensions; negative ones do not count.
        num_groups: number of groups.

    Returns:
        int32 [num_groups].

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: an index is not below num_groups.
    """
    check_tensor("group_idx", group_idx, (torch.int64,), (1, 2))
    check_whole("num_groups", num_groups, 1)
    counts = torch.zeros(num_groups, dtype=torch.int32, device=group_idx.device)
    if group_idx.numel():
        from tile_kernels.moe.group_count_asc import group_count as kernel

        kernel(group_idx.view(-1), counts, cores=get_num_vec_cores())
    return counts
