"""Kernel of `topk_sum_and_topk_group_idx` on vector registers: a lane adds up a group."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._groups_asc import sum_groups
from tile_kernels.moe._select_asc import LANES, fill_chunks, select_rows

ROWS = 4  # tokens of a core at once, at most


@asc_kernel()
def topk_groups(
    scores,
    group_idx,
    per_group: T.int32,
    num_sum: T.int32,
    share: T.int32,
    width: int,
    groups_width: int,
    cores: int,
):
    """Writes the groups with the largest sum of their `num_sum` (1 or 2) largest scores.

    An index is two words, the second one zero. A core takes `share` tokens at once, at most ROWS.
    """
    tokens, experts, words = T.dynamic("tokens, experts, words")
    scores: T.Tensor((tokens, experts), T.float32)
    group_idx: T.Tensor((tokens, words), T.int32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((ROWS, width), T.float32)
        sums = T.alloc_shared((ROWS, groups_width), T.float32)
        found = T.alloc_shared((ROWS, 2 * groups_width), T.int32)
        with T.SimdVF():
            fill_chunks(found, ROWS, 0, 2 * groups_width // LANES, 0)
        for turn in T.serial(pieces(pieces(tokens, share) - core, cores)):
            first = (turn * cores + core) * share
            here = T.min(share, tokens - first)
            groups = T.truncdiv(experts, per_group)
            reused(tile, sums, found)
            # NOTE: tasks in the order of the source: lowering searches for a schedule otherwise.
            with T.Stage(0), T.Task(latency=1, ii=1):
                T.copy(scores[first : first + here, 0:experts], tile[0:here, 0:experts])
            with T.Task(latency=1, ii=1), T.SimdVF():
                sum_groups(tile, sums, here, groups, per_group, num_sum)
                T.simd.mem_bar("VST_VLD")
                for pair in T.serial(pieces(here, 2)):
                    other = T.min(2 * pair + 1, here - 1)
                    select_rows(sums, found, 2 * pair, other, T.truncdiv(words, 2), groups, 2)
            with T.Task(latency=1, ii=1):
                T.copy(found[0:here, 0:words], group_idx[first : first + here, 0:words])
