"""Kernel of `topk_gate`: one warp a token, scores in the unified buffer (tile_kernels.md 13.2)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces, require
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._select_asc import all_finite, next_best, rows_of_tile


@asc_kernel()
def topk_gate(scores, topk_idx, width: int, cores: int):
    """Writes the indices of the largest scores of each row, largest first.

    `width` is the room for a row in the unified buffer, at least the number of experts.
    """
    tokens, experts, k = T.dynamic("tokens, experts, k")
    scores: T.Tensor((tokens, experts), T.float32)
    topk_idx: T.Tensor((tokens, k), T.int64)
    rows = rows_of_tile(width)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), T.float32)
        for turn in T.serial(pieces(pieces(tokens, rows) - core, cores)):
            first = (turn * cores + core) * rows
            T.copy(scores[first, 0], tile)
            with T.SimtVF(threads=rows * LANES):
                thread = T.get_thread_binding()
                row, lane = thread // LANES, thread % LANES
                token = first + row
                value = T.alloc_local((1,), T.float32)
                index = T.alloc_local((1,), T.int32)
                finite = T.alloc_local((1,), T.int32)
                if token < tokens:
                    all_finite(tile, row, experts, lane, finite)
                    require(finite[0] == 1)
                    value[0] = T.infinity(T.float32)
                    index[0] = -1
                    for slot in T.serial(k):
                        next_best(tile, row, experts, lane, value, index)
                        if lane == 0:
                            topk_idx[token, slot] = T.cast(index[0], T.int64)
