"""Kernels of `group_count` and `aux_fi`: a histogram of expert indices, then a factor."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces, require
from tile_kernels._bridge import asc_kernel


@asc_kernel()
def group_count(group_idx, counts, cores: int):
    """Adds to `counts`, zero before, how often each index occurs; negative ones do not count."""
    n, groups = T.dynamic("n, groups")
    group_idx: T.Tensor((n,), T.int64)
    counts: T.Tensor((groups,), T.int32)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            for step in T.serial(pieces(n, cores * THREADS)):
                at = (step * cores + core) * THREADS + thread
                if at < n:
                    group = group_idx[at]
                    require(group < groups)
                    if group >= 0:
                        T.atomic_add(counts[group], 1)


@asc_kernel()
def scale_counts(counts, out, factor: T.float32, divisor: T.float32, cores: int):
    """Writes counts * factor / divisor in fp32."""
    n = T.dynamic("n")
    counts: T.Tensor((n,), T.int32)
    out: T.Tensor((n,), T.float32)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            for step in T.serial(pieces(n, cores * THREADS)):
                at = (step * cores + core) * THREADS + thread
                if at < n:
                    out[at] = T.cast(counts[at], T.float32) * factor / divisor
