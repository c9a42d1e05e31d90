"""Building blocks of the gates that run on threads: where the selected experts lie."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces
from tile_kernels.moe.mask_indices_by_tp_asc import local_index

__all__ = ["place_experts"]

DUPLICATE_STEP = 23333  # spreads tokens over the copies of an expert


@T.macro
def place_experts(
    words, rows, slots, first, maps, to_physical_map, logical_count, ep_rank,
    per_gpu, tp_rank, num_tp_ranks,
):  # fmt: skip
    """Replaces experts (pairs of words, negative = none) by the copies that serve their tokens.

    A thread takes a slot of a row. Without a map (`maps` is 0) an expert has one copy; with
    `per_gpu` > 0 the copies are numbered among those of this TP rank.
    """
    with T.SimtVF(threads=THREADS):
        thread = T.get_thread_binding()
        place = T.alloc_local((1,), T.int64)
        local = T.alloc_local((1,), T.int64)
        expert = T.alloc_local((1,), T.int32)
        row, slot = T.alloc_var(T.int32), T.alloc_var(T.int32)
        for step in T.serial(pieces(rows * slots, THREADS)):
            row = T.truncdiv(step * THREADS + thread, slots)
            slot = T.truncmod(step * THREADS + thread, slots)
            # NOTE: all threads load, so that all come to the barrier between loads and stores.
            expert[0] = words[T.min(row, rows - 1), 2 * slot]
            place[0] = T.cast(expert[0], T.int64)
            if row < rows:
                if expert[0] >= 0:
                    if maps > 0:
                        spread = ep_rank + T.cast(first + row, T.int64) * DUPLICATE_STEP
                        copy = spread % T.cast(logical_count[expert[0]], T.int64)
                        place[0] = T.cast(to_physical_map[expert[0], copy], T.int64)
                    if per_gpu > 0:
                        per_dp = per_gpu * num_tp_ranks
                        local_index(place[0], per_gpu, per_dp, tp_rank, num_tp_ranks, local)
                        place[0] = local[0]
                words[row, 2 * slot] = T.cast(place[0], T.int32)
                words[row, 2 * slot + 1] = T.if_then_else(place[0] < 0, -1, 0)
