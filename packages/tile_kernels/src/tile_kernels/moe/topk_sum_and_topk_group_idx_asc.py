"""Kernel of `topk_sum_and_topk_group_idx`: a lane scores a group, the warp picks groups."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._select_asc import group_scores, next_best

ROWS = 4


@asc_kernel()
def topk_groups(
    scores,
    group_idx,
    per_group: T.int32,
    num_sum: T.int32,
    width: int,
    groups_width: int,
    cores: int,
):
    """Writes the groups with the largest sum of their `num_sum` (1 or 2) largest scores."""
    tokens, experts, k = T.dynamic("tokens, experts, k")
    scores: T.Tensor((tokens, experts), T.float32)
    group_idx: T.Tensor((tokens, k), T.int64)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((ROWS, width), T.float32)
        sums = T.alloc_shared((ROWS, groups_width), T.float32)
        for turn in T.serial(pieces(pieces(tokens, ROWS) - core, cores)):
            first = (turn * cores + core) * ROWS
            T.copy(scores[first, 0], tile)
            with T.SimtVF(threads=ROWS * LANES):
                thread = T.get_thread_binding()
                row, lane = thread // LANES, thread % LANES
                token = first + row
                value = T.alloc_local((1,), T.float32)
                index = T.alloc_local((1,), T.int32)
                groups = experts // per_group
                if token < tokens:
                    group_scores(tile, sums, row, groups, per_group, num_sum, lane)
                T.sync_threads()
                if token < tokens:
                    value[0] = T.infinity(T.float32)
                    index[0] = -1
                    for slot in T.serial(k):
                        next_best(sums, row, groups, lane, value, index)
                        if lane == 0:
                            group_idx[token, slot] = T.cast(index[0], T.int64)
