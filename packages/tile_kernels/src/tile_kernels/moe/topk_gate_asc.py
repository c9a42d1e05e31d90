"""Kernel of `topk_gate`: rows of scores on vector registers (tile_kernels.md 13.2)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, require, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._select_asc import (
    INFINITY_BITS,
    LANES,
    fill_chunks,
    largest_bits,
    select_rows,
)


@asc_kernel()
def topk_gate(scores, topk_idx, share: T.int32, width: int, rows: int, cores: int):
    """Writes the indices of the largest scores of each row, largest first, as (index, 0).

    A core takes `share` rows at once, at most `rows`. `width` is the room for a row in the unified
    buffer, at least the number of experts.
    """
    tokens, experts, words = T.dynamic("tokens, experts, words")
    scores: T.Tensor((tokens, experts), T.float32)
    topk_idx: T.Tensor((tokens, words), T.int32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), T.float32)
        found = T.alloc_shared((rows, 2 * width), T.int32)
        largest = T.alloc_shared((1, LANES), T.int32)
        with T.SimdVF():
            fill_chunks(tile, rows, T.truncdiv(experts, LANES), pieces(experts, LANES), 0.0)
            fill_chunks(found, rows, 0, 2 * width // LANES, 0)
            fill_chunks(largest, 1, 0, 1, 0)
        for turn in T.serial(pieces(pieces(tokens, share) - core, cores)):
            first = (turn * cores + core) * share
            here = T.min(share, tokens - first)
            reused(tile, found, largest)
            # NOTE: tasks in the order of the source: lowering searches for a schedule otherwise.
            with T.Stage(0), T.Task(latency=1, ii=1):
                T.copy(scores[first : first + here, 0:experts], tile[0:here, 0:experts])
            with T.Task(latency=1, ii=1), T.SimdVF():
                largest_bits(tile, here, experts, largest)
                T.simd.mem_bar("VST_VLD")
                for pair in T.serial(pieces(here, 2)):
                    other = T.min(2 * pair + 1, here - 1)
                    select_rows(tile, found, 2 * pair, other, T.truncdiv(words, 2), experts, 2)
            with T.Task(latency=1, ii=1):
                T.copy(found[0:here, 0:words], topk_idx[first : first + here, 0:words])
        require(largest[0, 0] < INFINITY_BITS)
