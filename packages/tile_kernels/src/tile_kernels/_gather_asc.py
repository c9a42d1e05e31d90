"""The kernel that gathers numbers by a mapping, a SIMT thread a number."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, require
from tile_kernels._bridge import asc_kernel

__all__ = ["gather"]


@asc_kernel()
def gather(values, index, out, cores: int = 1):
    """out[i] = values[index[i]], 0 for negative indices."""
    V, N = T.dynamic("V, N")
    values: T.Tensor((V,), T.float32)
    index: T.Tensor((N,), T.int32)
    out: T.Tensor((N,), T.float32)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            place = T.alloc_var(T.int32)
            number = T.alloc_var(T.float32)
            for step in T.serial(T.ceildiv(N, cores * THREADS)):
                item = (step * cores + core) * THREADS + thread
                if item < N:
                    place = index[item]
                    require(place < V)
                    number = 0.0
                    if place >= 0:
                        number = values[place]
                    out[item] = number
