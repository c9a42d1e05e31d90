"""Building blocks of the gates: a warp picks entries of a row, largest first, ties by index."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces

NONE = 1 << 30  # index of "nothing left"


def rows_of_tile(width: int) -> int:
    """Tokens of a core at once, a warp each, for rows of scores with room for `width`.

    A warp waits for its own last instruction most of the time: 16 take as long as one. Wide rows
    do not leave the unified buffer room for so many.
    """
    return 16 if width <= 2048 else 8


@T.macro
def token_of_warp(first, tokens, mask, masked, active):
    """Row of the tile, lane, token and whether there is such a token, of a thread of a gate.

    active[0] becomes 1 if the token takes part: it is there, and `mask` (if it has `masked` > 0
    rows) says so.
    """
    thread = T.get_thread_binding()
    row, lane = thread // LANES, thread % LANES
    # NOTE: variables keep these terms out of expressions, lowering is quicker then.
    token, inside = T.alloc_var(T.int32), T.alloc_var(T.int32)
    token = T.min(first + row, tokens - 1)
    inside = T.if_then_else(first + row < tokens, 1, 0)
    active[0] = inside
    if masked > 0:
        active[0] = active[0] * T.cast(mask[token], T.int32)
    return row, lane, token, inside


@T.macro
def next_best(tile, row, count, lane, value, index):
    """The whole warp steps from entry (value[0], index[0]) of a row to the next smaller one.

    The order is by value, largest first, then by index, so nothing has to be marked as taken.
    Start with (inf, -1). `value` and `index` hold the same in all lanes; no value is NaN.
    """
    best = T.alloc_local((1,), T.float32)
    best_at = T.alloc_local((1,), T.int32)
    best[0] = -T.infinity(T.float32)
    best_at[0] = NONE
    for step in T.serial(pieces(count, LANES)):
        entry = step * LANES + lane
        if entry < count:
            candidate = tile[row, entry]
            if candidate < value[0] or (candidate == value[0] and entry > index[0]):
                if candidate > best[0] or best_at[0] == NONE:
                    best[0] = candidate
                    best_at[0] = entry
    value[0] = T.warp_reduce_max(best[0])
    index[0] = T.warp_reduce_min(T.if_then_else(best[0] == value[0], best_at[0], NONE))


@T.macro
def all_finite(tile, row, count, lane, flag):
    """Sets flag[0] in every lane to 1 if a row has no NaN or infinity, else to 0."""
    flag[0] = 1
    for step in T.serial(pieces(count, LANES)):
        entry = step * LANES + lane
        if entry < count:
            # NOTE: `not (a < b)` would be turned into `a >= b`, which a NaN does not fulfil.
            size = T.abs(tile[row, entry])
            flag[0] = T.if_then_else(size < T.infinity(T.float32), flag[0], 0)
    flag[0] = T.warp_reduce_min(flag[0])


@T.macro
def group_scores(tile, sums, row, groups, per_group, num_sum, lane):
    """sums[row, g] = sum of the `num_sum` (1 or 2) largest entries of group g, a lane a group.

    Other lanes may read `sums` after the next barrier.
    """
    first = T.alloc_local((1,), T.float32)
    second = T.alloc_local((1,), T.float32)
    for step in T.serial(pieces(groups, LANES)):
        group = step * LANES + lane
        if group < groups:
            first[0] = -T.infinity(T.float32)
            second[0] = -T.infinity(T.float32)
            for entry in T.serial(per_group):
                candidate = tile[row, group * per_group + entry]
                if candidate > first[0]:
                    second[0] = first[0]
                    first[0] = candidate
                else:
                    second[0] = T.max(second[0], candidate)
            sums[row, group] = T.if_then_else(num_sum == 2, first[0] + second[0], first[0])


@T.macro
def next_best_lane(values, count, lane, value, index):
    """As `next_best`, with values[s] of a lane being entry 32 s + lane."""
    best = T.alloc_local((1,), T.float32)
    best_at = T.alloc_local((1,), T.int32)
    best[0] = -T.infinity(T.float32)
    best_at[0] = NONE
    for step in T.serial(pieces(count, LANES)):
        entry = step * LANES + lane
        if entry < count:
            candidate = values[step]
            if candidate < value[0] or (candidate == value[0] and entry > index[0]):
                if candidate > best[0] or best_at[0] == NONE:
                    best[0] = candidate
                    best_at[0] = entry
    value[0] = T.warp_reduce_max(best[0])
    index[0] = T.warp_reduce_min(T.if_then_else(best[0] == value[0], best_at[0], NONE))
