"""Scoring functions and their derivatives, in fp32, one value a lane (tile_kernels.md 13.2)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces

SIGMOID, SQRTSOFTPLUS, SOFTMAX, IDENTITY = 0, 1, 2, 3  # values of ScoringFunc


@T.macro
def score_lane(values, count, lane, scoring):
    """Turns the logits of a row into scores, in place: values[s] of a lane is entry 32 s + lane."""
    largest = T.alloc_local((1,), T.float32)
    total = T.alloc_local((1,), T.float32)
    result = T.alloc_local((1,), T.float32)
    above = T.alloc_local((1,), T.float32)
    largest[0] = -T.infinity(T.float32)
    total[0] = 0.0
    if scoring == SOFTMAX:
        for step in T.serial(pieces(count, LANES)):
            if step * LANES + lane < count:
                largest[0] = T.max(largest[0], values[step])
        largest[0] = T.warp_reduce_max(largest[0])
        for step in T.serial(pieces(count, LANES)):
            if step * LANES + lane < count:
                total[0] = total[0] + T.exp(values[step] - largest[0])
        total[0] = T.warp_reduce_sum(total[0])
    for step in T.serial(pieces(count, LANES)):
        x = values[step]
        result[0] = x
        if scoring == SIGMOID:
            result[0] = 1.0 / (1.0 + T.exp(-x))
        elif scoring == SQRTSOFTPLUS:
            q = T.exp(-T.abs(x))
            # NOTE: a buffer, else the simplifier cancels (1 + q) - 1.
            above[0] = 1.0 + q
            # log1p(q): the quotient takes back what rounding 1 + q has lost
            scaled = T.log(above[0]) * (q / (above[0] - 1.0))
            log1p = T.if_then_else(above[0] == 1.0, q, scaled)
            result[0] = T.sqrt(T.max(x, 0.0) + log1p)
        elif scoring == SOFTMAX:
            result[0] = T.exp(x - largest[0]) / total[0]
        values[step] = result[0]


@T.macro
def slope(u, scoring, result):
    """result[0] = derivative of a score by its logit, from the score (not for softmax)."""
    t = u * u
    # (1 - exp(-t)) / t as a series where the difference would cancel
    series = 1.0 - t / 2.0 * (
        1.0
        - t
        / 3.0
        * (1.0 - t / 4.0 * (1.0 - t / 5.0 * (1.0 - t / 6.0 * (1.0 - t / 7.0 * (1.0 - t / 8.0)))))
    )
    result[0] = 1.0
    if scoring == SIGMOID:
        result[0] = u * (1.0 - u)
    elif scoring == SQRTSOFTPLUS:
        if t < 0.5:
            result[0] = u * 0.5 * series
        else:
            result[0] = (1.0 - T.exp(-t)) / (2.0 * u)
