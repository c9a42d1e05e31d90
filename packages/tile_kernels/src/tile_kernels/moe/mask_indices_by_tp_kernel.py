"""`mask_indices_by_tp`: expert indices as one tensor-parallel rank sees them."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsValueError

__all__ = ["mask_indices_by_tp"]

_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8)


def mask_indices_by_tp(
    indices: torch.Tensor, n: int, num_ep_ranks: int, tp_rank: int, num_tp_ranks: int
) -> torch.Tensor:
    """Renumbers expert indices for one TP rank, -1 where another rank has the expert.

    With per_gpu = n // num_ep_ranks and per_dp = num_tp_ranks * per_gpu: an index v stays if
    (v // per_gpu) % num_tp_ranks == tp_rank; then v -= tp_rank * per_gpu, and
    v -= (v // per_dp) * (per_dp - per_gpu).

    Args:
        indices: integers of any shape, contiguous; negative ones stay -1.
        n: number of experts, a multiple of num_ep_ranks.
        num_ep_ranks: GPUs that hold experts.
        tp_rank: this rank, below num_tp_ranks.
        num_tp_ranks: TP ranks, a divisor of num_ep_ranks.

    Returns:
        A new tensor of the same shape and dtype.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    check_tensor("indices", indices, _DTYPES, range(9))
    check_whole("n", n, 1)
    check_whole("num_ep_ranks", num_ep_ranks, 1)
    check_whole("num_tp_ranks", num_tp_ranks, 1)
    check_whole("tp_rank", tp_rank, 0, num_tp_ranks - 1)
    if n % num_ep_ranks:
        raise TileKernelsValueError(f"n got {n}, wanted a multiple of num_ep_ranks={num_ep_ranks}")
    out = torch.empty_like(indices)
    if indices.numel():
        from tile_kernels.moe.mask_indices_by_tp_asc import mask_indices_by_tp as kernel

        dtype = str(indices.dtype).removeprefix("torch.")
        per_gpu = n // num_ep_ranks
        cores = get_num_vec_cores()
        flat, target = indices.view(-1), out.view(-1)
        kernel(flat, target, per_gpu, tp_rank, num_tp_ranks, dtype=dtype, cores=cores)
    return out
