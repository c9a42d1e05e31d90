"""The kernels of RMSNorm backward on vector registers (tile_kernels.md section 4.9).

The first handles a few whole rows at a time and adds up the weight's gradient of a core's rows in
the unified buffer; the second adds the sums of all cores, in order.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.pairs_asc import STEP, clear_tail, pair_at, store_pair
from tile_kernels.quant.registers_asc import LANES, store_numbers, values_at

__all__ = ["COLS", "column_sum", "norm_backward"]

COLS = 2 * LANES  # columns that a core adds up at a time


@T.macro
def sums_of_products(tile, upper, given, inverse, totals, rows, length, has_weight):
    """Writes the sum of x * rstd * weighted gradient of each row."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    parts = T.simd.alloc_local(4, "float32")
    for i in T.serial(rows):
        times = T.simd.vld(inverse[i], dist="BRC_B32")
        for k in T.unroll(4):
            parts[k] = T.simd.vdup(T.float32(0.0), "float32", all32)
        for g in T.serial(pieces(length, 2 * STEP)):
            for k in T.unroll(2):
                j = (2 * g + k) * STEP
                a, b = pair_at(tile, i, j, all16)
                a, b = T.simd.vmul(a, times, all32), T.simd.vmul(b, times, all32)
                c, d = pair_at(upper, i, j, all16)
                if has_weight:
                    v, w = pair_at(given, 0, j, all16)
                    c, d = T.simd.vmul(c, v, all32), T.simd.vmul(d, w, all32)
                T.simd.vmula(parts[2 * k], a, c, all32)
                T.simd.vmula(parts[2 * k + 1], b, d, all32)
        halves = T.simd.vadd(
            T.simd.vadd(parts[0], parts[1], all32), T.simd.vadd(parts[2], parts[3], all32), all32
        )
        T.simd.vsts(totals[i], T.simd.vcadd(halves, all32), all32, dist="ONEPT_B32")


@T.macro
def factors_of_rows(totals, inverse, means, scales, rows, length, out_scale):
    """Writes the negative means of the products, and rstd * out_scale, of all rows."""
    every, some = T.simd.pset(32), T.simd.update_mask(rows, 32)
    divisor = T.simd.vdup(-T.cast(length, "float32"), "float32", every)
    T.simd.vsts(means[0], T.simd.vdiv(T.simd.vld(totals[0]), divisor, some), some)
    T.simd.vsts(scales[0], T.simd.vmuls(T.simd.vld(inverse[0]), out_scale, some), some)


@T.macro
def gradients_of_tile(
    tile, upper, extra, given, inverse, means, scales, sums, rows, length,
    has_residual, has_weight,
):  # fmt: skip
    """Replaces upper gradients by those of x; adds x * rstd * gradient of all rows to the sums."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    added, hats, grads = (T.simd.alloc_local(4, "float32") for _ in range(3))
    weights = T.simd.alloc_local(4, "float32")
    for g in T.serial(pieces(length, 2 * STEP)):
        j = g * (2 * STEP)
        if has_weight:
            for k in T.unroll(2):
                weights[2 * k], weights[2 * k + 1] = pair_at(given, 0, j + k * STEP, all16)
            for k in T.unroll(4):
                added[k] = T.simd.vld(sums[j + k * LANES])
        for i in T.serial(rows):
            times = T.simd.vld(inverse[i], dist="BRC_B32")
            mean = T.simd.vld(means[i], dist="BRC_B32")
            scale = T.simd.vld(scales[i], dist="BRC_B32")
            for k in T.unroll(2):
                hats[2 * k], hats[2 * k + 1] = pair_at(tile, i, j + k * STEP, all16)
            for k in T.unroll(2):
                grads[2 * k], grads[2 * k + 1] = pair_at(upper, i, j + k * STEP, all16)
            for k in T.unroll(4):
                hats[k] = T.simd.vmul(hats[k], times, all32)
            if has_weight:
                for k in T.unroll(4):
                    T.simd.vmula(added[k], hats[k], grads[k], all32)
                for k in T.unroll(4):
                    grads[k] = T.simd.vmul(grads[k], weights[k], all32)
            for k in T.unroll(4):
                T.simd.vmula(grads[k], hats[k], mean, all32)
            for k in T.unroll(4):
                grads[k] = T.simd.vmul(grads[k], scale, all32)
            if has_residual:
                for k in T.unroll(2):
                    a, b = pair_at(extra, i, j + k * STEP, all16)
                    grads[2 * k] = T.simd.vadd(grads[2 * k], a, all32)
                    grads[2 * k + 1] = T.simd.vadd(grads[2 * k + 1], b, all32)
            for k in T.unroll(2):
                store_pair(grads[2 * k], grads[2 * k + 1], upper, i, j + k * STEP, all16, all32)
        if has_weight:
            for k in T.unroll(4):
                T.simd.vsts(sums[j + k * LANES], added[k], all32)


@T.macro
def clear_sums(sums, length):
    """Writes zeros to the sums of whole steps of two pairs."""
    all32 = T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    for g in T.serial(pieces(length, 2 * STEP)):
        for k in T.unroll(4):
            T.simd.vsts(sums[(4 * g + k) * LANES], zero, all32)


@T.macro
def sort_sums(sums, length, out_scale, dtype):
    """Puts the sums of pairs into the order of the columns, times the scale."""
    all32 = T.simd.pset(32)
    for g in T.serial(pieces(length, STEP)):
        a = T.simd.vmuls(T.simd.vld(sums[g * STEP]), out_scale, all32)
        b = T.simd.vmuls(T.simd.vld(sums[g * STEP + LANES]), out_scale, all32)
        if dtype == "bfloat16":
            a, b = T.simd.vintlv(a, b)
        T.simd.vsts(sums[g * STEP], a, all32)
        T.simd.vsts(sums[g * STEP + LANES], b, all32)


@asc_kernel()
def norm_backward(
    grad, x, weight, rstd, residual_grad, x_grad, partial,
    out_scale: T.float32, tasks: T.int32,
    dtype: str = "", rows: int = 1, width: int = 0, versions: int = 2, cores: int = 1,
    has_residual: bool = False, has_weight: bool = False,
):  # fmt: skip
    """Writes x_grad, and to `partial` [cores, hidden] each core's sum of x * rstd * grad.

    Rows are a multiple of 32 long; `width` is at least that, a multiple of 256. Tiles are kept in
    `versions` copies. Unused tensors have one element.
    """
    M, H, GS, XS, W, RM, RH, RS, P0, P1 = T.dynamic("M, H, GS, XS, W, RM, RH, RS, P0, P1")
    grad: T.StridedTensor((M, H), (GS, 1), dtype)
    x: T.StridedTensor((M, H), (XS, 1), dtype)
    weight: T.Tensor((W,), dtype)
    rstd: T.Tensor((M,), T.float32)
    residual_grad: T.StridedTensor((RM, RH), (RS, 1), dtype)
    x_grad: T.Tensor((M, H), dtype)
    partial: T.Tensor((P0, P1), T.float32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), dtype)
        upper = T.alloc_shared((rows, width), dtype)
        extra = T.alloc_shared((rows, width) if has_residual else (1, STEP), dtype)
        given = T.alloc_shared((1, width) if has_weight else (1, STEP), dtype)
        sums = T.alloc_shared((width if has_weight else STEP,), T.float32)
        inverse = T.alloc_shared((LANES,), T.float32)
        totals = T.alloc_shared((LANES,), T.float32)
        means = T.alloc_shared((LANES,), T.float32)
        scales = T.alloc_shared((LANES,), T.float32)
        in_flight = {tile: versions, upper: versions, inverse: versions}
        in_flight |= {totals: 1, means: 1, scales: 1}
        if has_residual:
            in_flight[extra] = versions
        T.annotate_buffer_versions(in_flight)
        if has_weight:
            T.copy(weight[0:width], given[0, 0:width])
            with T.SimdVF():
                clear_tail(given, 1, H, 2 * STEP)
                clear_sums(sums, H)
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, upper, inverse, totals, means, scales)
            if has_residual:
                reused(extra)
            if has_weight:
                reused(sums)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            T.copy(grad[row0, 0], upper)
            T.copy(rstd[row0 : row0 + rows], inverse[0:rows])
            if has_residual:
                T.copy(residual_grad[row0, 0], extra)
            with T.SimdVF():
                valid = T.min(M - row0, rows)
                clear_tail(tile, valid, H, 2 * STEP)
                clear_tail(upper, valid, H, 2 * STEP)
                if has_residual:
                    clear_tail(extra, valid, H, 2 * STEP)
                T.simd.mem_bar("VST_VLD")
                sums_of_products(tile, upper, given, inverse, totals, valid, H, has_weight)
                T.simd.mem_bar("VST_VLD")
                factors_of_rows(totals, inverse, means, scales, valid, H, out_scale)
                T.simd.mem_bar("VST_VLD")
                gradients_of_tile(
                    tile, upper, extra, given, inverse, means, scales, sums, valid, H,
                    has_residual, has_weight,
                )  # fmt: skip
            T.copy(upper, x_grad[row0, 0])
        if has_weight:
            with T.SimdVF():
                sort_sums(sums, H, out_scale, dtype)
            T.copy(sums, partial[core, 0:width])


@asc_kernel()
def column_sum(
    partial, out, parts: T.int32, dtype: str = "", most: int = 1, cores: int = 1
):  # fmt: skip
    """Adds the sums over the first dimension, at most `most`, to `out`."""
    P, H = T.dynamic("P, H")
    partial: T.Tensor((P, H), T.float32)
    out: T.Tensor((H,), dtype)
    with T.Kernel(cores) as core:
        row = T.alloc_shared((1, COLS), dtype)
        block = T.alloc_shared((most, COLS), T.float32)
        for turn in T.serial(T.truncdiv(pieces(H, COLS) - core + cores - 1, cores)):
            reused(row, block)
            col0 = (turn * cores + core) * COLS
            T.copy(out[col0 : col0 + COLS], row[0, 0:COLS])
            T.copy(partial[0:most, col0 : col0 + COLS], block)
            with T.SimdVF():
                all16, all32 = T.simd.pset(16), T.simd.pset(32)
                cols = T.min(H - col0, COLS)
                clear_tail(row, 1, cols, LANES)
                clear_tail(block, parts, cols, LANES)
                T.simd.mem_bar("VST_VLD")
                total = T.simd.alloc_local(1, "float32")
                for c in T.serial(pieces(cols, LANES)):
                    total[0] = values_at(row, 0, c * LANES, all16)
                    for p in T.serial(parts):
                        total[0] = T.simd.vadd(total[0], T.simd.vld(block[p, c * LANES]), all32)
                    store_numbers(total[0], row, 0, c * LANES, all16, all32)
            T.copy(row[0, 0:COLS], out[col0 : col0 + COLS])
