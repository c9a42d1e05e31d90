"""`inplace_unique_group_indices`: each group once per token."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores

__all__ = ["inplace_unique_group_indices"]


def inplace_unique_group_indices(group_indices: torch.Tensor, num_groups: int) -> None:
    """Replaces every index that already stands further left in its row by -1, in place.

    Args:
        group_indices: int64 [tokens, k], contiguous.
        num_groups: number of groups.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: an index is not below num_groups.
    """
    check_tensor("group_indices", group_indices, (torch.int64,), 2)
    check_whole("num_groups", num_groups, 1)
    if group_indices.numel():
        from tile_kernels.moe.inplace_unique_group_indices_asc import unique_group_indices

        unique_group_indices(group_indices, num_groups, cores=get_num_vec_cores())
