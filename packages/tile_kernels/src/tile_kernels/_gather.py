"""Numbers gathered by a mapping between tokens and positions."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels._checks import check_same_device, check_tensor

__all__ = ["gathered"]


def gathered(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns fp32 `values.flatten()[index]` in the shape of int32 `index`; 0 where it is negative.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: another dtype, not contiguous, or two devices.
        LaunchError: an index is not below the number of values.
    """
    check_tensor("values", values, (torch.float32,), (1, 2))
    check_tensor("index", index, (torch.int32,), (1, 2))
    check_same_device(values=values, index=index)
    out = torch.empty(index.shape, dtype=torch.float32, device=values.device)
    if out.numel():
        from tile_kernels._gather_asc import gather

        given = values if values.numel() else values.new_zeros(1)
        gather(given.view(-1), index.view(-1), out.view(-1), cores=settings.get_num_vec_cores())
    return out
