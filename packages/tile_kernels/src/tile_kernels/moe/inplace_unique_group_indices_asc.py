"""Kernel of `inplace_unique_group_indices`: one thread a token."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces, require
from tile_kernels._bridge import asc_kernel


@asc_kernel()
def unique_group_indices(group_indices, num_groups: T.int32, cores: int):
    """Replaces every index that its row had before by -1."""
    tokens, k = T.dynamic("tokens, k")
    group_indices: T.Tensor((tokens, k), T.int64)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            seen = T.alloc_local((1,), T.int32)
            for step in T.serial(pieces(tokens, cores * THREADS)):
                token = (step * cores + core) * THREADS + thread
                if token < tokens:
                    for slot in T.serial(k):
                        mine = group_indices[token, slot]
                        require(mine < num_groups)
                        seen[0] = 0
                        for before in T.serial(slot):
                            if group_indices[token, before] == mine:
                                seen[0] = 1
                        if seen[0] == 1:
                            group_indices[token, slot] = T.int64(-1)
