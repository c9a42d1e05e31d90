"""Kernel of `mask_indices_by_tp`: one thread an index."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces
from tile_kernels._bridge import asc_kernel


@T.macro
def local_index(value, per_gpu, per_dp, tp_rank, num_tp_ranks, result):
    """result[0] = index among this TP rank's experts of all DP groups, or -1."""
    result[0] = T.int64(-1)
    if value >= 0:
        if (value // per_gpu) % num_tp_ranks == tp_rank:
            shifted = value - tp_rank * per_gpu
            moved = shifted - shifted // per_dp * (per_dp - per_gpu)
            result[0] = T.max(moved, T.int64(-1))


@asc_kernel()
def mask_indices_by_tp(
    indices, out, per_gpu: T.int64, tp_rank: T.int64, num_tp_ranks: T.int64, dtype: str, cores: int
):
    """Writes the local index of each expert index, -1 where it belongs to another TP rank."""
    n = T.dynamic("n")
    indices: T.Tensor((n,), dtype)
    out: T.Tensor((n,), dtype)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            result = T.alloc_local((1,), T.int64)
            for step in T.serial(pieces(n, cores * THREADS)):
                at = (step * cores + core) * THREADS + thread
                if at < n:
                    value = T.cast(indices[at], T.int64)
                    local_index(
                        value, per_gpu, per_gpu * num_tp_ranks, tp_rank, num_tp_ranks, result
                    )
                    out[at] = T.cast(result[0], dtype)
