"""Scoring functions on vector registers, and their derivatives, in fp32 (tile_kernels.md 13.2)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces
from tile_kernels.moe._select_asc import LANES

SIGMOID, SQRTSOFTPLUS, SOFTMAX, IDENTITY = 0, 1, 2, 3  # values of ScoringFunc


TOGETHER = 4  # rows on which a step works before the next one: none waits for its operands


@T.macro
def row_totals(tile, rows, row, count, largest, total, x):
    """Sets all lanes to the largest logit of rows and to the sum of exp(logit - largest)."""
    all32 = T.simd.pset(32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    for k in T.unroll(TOGETHER):
        largest[k] = lowest
        total[k] = T.simd.vdup(T.float32(0.0), "float32", all32)
    for c in T.serial(pieces(count, LANES)):
        inside = T.simd.vcmps(T.simd.vci(c * LANES, "int32"), count, all32, op="lt")
        for k in T.unroll(TOGETHER):
            x[k] = T.simd.vld(tile[T.min(row + k, rows - 1), c * LANES])
        for k in T.unroll(TOGETHER):
            largest[k] = T.simd.vmax(largest[k], T.simd.vsel(x[k], lowest, inside), all32)
    for k in T.unroll(TOGETHER):
        largest[k] = T.simd.vcmax(largest[k], all32)
    for k in T.unroll(TOGETHER):
        largest[k] = T.simd.vdupv(largest[k], all32)
    for c in T.serial(pieces(count, LANES)):
        inside = T.simd.vcmps(T.simd.vci(c * LANES, "int32"), count, all32, op="lt")
        for k in T.unroll(TOGETHER):
            x[k] = T.simd.vld(tile[T.min(row + k, rows - 1), c * LANES])
        for k in T.unroll(TOGETHER):
            x[k] = T.simd.vexpdif(x[k], largest[k], inside)
        for k in T.unroll(TOGETHER):
            total[k] = T.simd.vadd(total[k], x[k], all32)
    for k in T.unroll(TOGETHER):
        total[k] = T.simd.vcadd(total[k], all32)
    for k in T.unroll(TOGETHER):
        total[k] = T.simd.vdupv(total[k], all32)


@T.macro
def score_registers(x, u, largest, total, all32, scoring):
    """u[k] = scores of 64 logits x[k] of a row; `largest` and `total` of the rows are for softmax.

    NOTE: the divisions and roots of the hardware are within 1 ulp.
    """
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    if scoring == SIGMOID:
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vexpdif(zero, x[k], all32)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vadd(u[k], one, all32)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vdiv(one, u[k], all32, precision="ftz_true")
    elif scoring == SQRTSOFTPLUS:
        above, lost = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(2))
        for k in T.unroll(TOGETHER):
            above[k] = T.simd.vabs(x[k], all32)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vexpdif(zero, above[k], all32)
        for k in T.unroll(TOGETHER):
            above[k] = T.simd.vadd(u[k], one, all32)
        # log1p(u): the quotient takes back what rounding 1 + u has lost
        for k in T.unroll(TOGETHER):
            lost[k] = T.simd.vsub(above[k], one, all32)
        for k in T.unroll(TOGETHER):
            lost[k] = T.simd.vdiv(u[k], lost[k], all32, precision="ftz_true")
        for k in T.unroll(TOGETHER):
            nothing = T.simd.vcmp(above[k], one, all32, op="eq")
            above[k] = T.simd.vmul(T.simd.vln(above[k], all32), lost[k], all32)
            u[k] = T.simd.vsel(u[k], above[k], nothing)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vadd(T.simd.vmax(x[k], zero, all32), u[k], all32)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vsqrt(u[k], all32)
    elif scoring == SOFTMAX:
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vexpdif(x[k], largest[k], all32)
        for k in T.unroll(TOGETHER):
            u[k] = T.simd.vdiv(u[k], total[k], all32, precision="ftz_true")
    else:
        for k in T.unroll(TOGETHER):
            u[k] = x[k]


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
