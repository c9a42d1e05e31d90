"""Building blocks of the gates that run on threads: a warp takes a token."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES


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
