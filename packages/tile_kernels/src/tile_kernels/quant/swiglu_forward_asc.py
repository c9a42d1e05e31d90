"""The kernel of SwiGLU forward, with or without a cast, on vector registers (tile_kernels.md 4.8).

A tile belongs to one expert at most: its rows divide the alignment of the experts' first rows. So
its valid rows are its first ones, and only those are stored. With a cast, values and the largest
magnitude of each group are computed first, then all scales of the tile, then the codes.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from math import gcd
from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import HALF, LANES, magnitude_bits, store_numbers, values_at
from tile_kernels.quant.scales_asc import clear_magnitudes, scales_of_magnitudes
from tile_kernels.quant.swiglu_asc import count_clamped, rows_of_experts
from tile_kernels.quant.swiglu_plan import BATCH
from tile_kernels.utils import align

__all__ = ["swiglu_forward"]

TOGETHER = BATCH // LANES
COUNTS = 4


@T.macro
def clear_behind(tile, rows, chunks, batches):
    """Writes zeros to the chunks of the last batch that do not exist: they count nowhere."""
    width = 32 if tile.dtype == "float32" else 16
    every = T.simd.pset(width)
    zero = T.simd.vdup(T.cast(0, tile.dtype), tile.dtype, every)
    some = T.simd.pset(width, "PAT_VL64")
    for i in T.serial(rows):
        for c in T.serial(batches * TOGETHER - chunks):
            at = (chunks + c) * LANES
            T.simd.vsts(tile[i, at], zero, some, dist=f"NORM_B{width}")


@T.macro
def begin_batch(left, i, c, l, d, limit, counts, one, zero, plan, all16, all32):
    """Sets l to the left halves of a batch from chunk c of row i on, d to 1 + exp(-l)."""
    for k in T.unroll(TOGETHER):
        l[k] = values_at(left, i, (c + k) * LANES, all16)
    if plan.has_limit:
        for k in T.unroll(TOGETHER):
            if plan.has_count:
                count_clamped(counts, 0, T.simd.vcmps(l[k], limit, all32, "gt"), one, all32)
            l[k] = T.simd.vmins(l[k], limit, all32)
    for k in T.unroll(TOGETHER):
        d[k] = T.simd.vexpdif(zero, l[k], all32)


@T.macro
def end_batch(right, i, c, y, limit, weight, counts, one, plan, all16, all32):
    """Multiplies y by the right halves of a batch, and by the weight."""
    r = T.simd.alloc_local(TOGETHER, "float32")
    for k in T.unroll(TOGETHER):
        r[k] = values_at(right, i, (c + k) * LANES, all16)
    if plan.has_limit:
        for k in T.unroll(TOGETHER):
            if plan.has_count:
                count_clamped(counts, 1, T.simd.vcmps(r[k], limit, all32, "gt"), one, all32)
                count_clamped(counts, 2, T.simd.vcmps(r[k], -limit, all32, "lt"), one, all32)
            r[k] = T.simd.vmaxs(T.simd.vmins(r[k], limit, all32), -limit, all32)
    for k in T.unroll(TOGETHER):
        y[k] = T.simd.vmul(y[k], r[k], all32)
    if plan.has_weights:
        for k in T.unroll(TOGETHER):
            y[k] = T.simd.vmul(y[k], weight, all32)


@T.macro
def largest_of_batch(y, amax, i, c, largest, magnitude, plan, all32):
    """Writes the bits of the largest magnitude of each group of a batch to its place."""
    layout = plan.sf.layout
    if plan.group == "row":
        for k in T.unroll(TOGETHER):
            largest[0] = T.simd.vmax(largest[0], magnitude_bits(y[k], magnitude, all32), all32)
    elif plan.group == "half":
        first = T.simd.pset(32, HALF)
        second = T.simd.pnot(first, all32)
        for k in T.unroll(TOGETHER):
            bits = magnitude_bits(y[k], magnitude, all32)
            p0, p1 = layout.item(i, 2 * (c + k))
            q0, q1 = layout.item(i, 2 * (c + k) + 1)
            T.simd.vsts(amax[p0, p1], T.simd.vcmax(bits, first), all32, dist="ONEPT_B32")
            T.simd.vsts(amax[q0, q1], T.simd.vcmax(bits, second), all32, dist="ONEPT_B32")
    else:
        most = T.simd.alloc_local(TOGETHER // 2, "int32")
        for g in T.unroll(TOGETHER // 2):
            a = magnitude_bits(y[2 * g], magnitude, all32)
            b = magnitude_bits(y[2 * g + 1], magnitude, all32)
            most[g] = T.simd.vmax(a, b, all32)
        for g in T.unroll(TOGETHER // 2):
            most[g] = T.simd.vcmax(most[g], all32)
        for g in T.unroll(TOGETHER // 2):
            p0, p1 = layout.item(i, T.truncdiv(c, 2) + g)
            T.simd.vsts(amax[p0, p1], most[g], all32, dist="ONEPT_B32")


@T.macro
def values_of_tile(left, right, values, amax, rows, batches, limit, weight, factor, counts, plan):
    """Writes the activations of a tile, and the bits of each group's largest magnitude.

    The exponentials of a batch are begun before the divisions of the batch before it are used, and
    each step is done for a whole batch: so no instruction waits long for its operands.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    w = T.alloc_var("float32x64")
    l, d, y = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(3))
    largest = T.simd.alloc_local(1, "int32")
    for i in T.serial(T.min(rows, 1)):
        begin_batch(left, i, 0, l, d, limit, counts, one, zero, plan, all16, all32)
        for k in T.unroll(TOGETHER):
            d[k] = T.simd.vadds(d[k], T.float32(1.0), all32)
    for i in T.serial(rows):
        if plan.has_weights:
            w = T.simd.vmuls(T.simd.vld(weight[i], dist="BRC_B32"), factor, all32)
        if plan.group == "row":
            largest[0] = T.simd.vdup(T.int32(0), "int32", all32)
        for b in T.serial(batches):
            # The batch behind the last one is the first of the last row, which counts nothing
            next_row, next_chunk = T.alloc_var(T.int32), T.alloc_var(T.int32)
            next_row = i + T.if_then_else(b + 1 < batches, 0, 1)
            next_chunk = T.if_then_else(b + 1 < batches, (b + 1) * TOGETHER, 0)
            counted = T.alloc_var("float32x64")
            if plan.has_count:
                counted = T.simd.vdup(
                    T.if_then_else(next_row < rows, T.float32(1.0), T.float32(0.0)),
                    "float32", all32,
                )  # fmt: skip
            for k in T.unroll(TOGETHER):
                y[k] = T.simd.vdiv(l[k], d[k], all32, precision="ftz_true")
            begin_batch(
                left, T.min(next_row, rows - 1), next_chunk, l, d, limit, counts, counted, zero,
                plan, all16, all32,
            )  # fmt: skip
            end_batch(right, i, b * TOGETHER, y, limit, w, counts, one, plan, all16, all32)
            for k in T.unroll(TOGETHER):
                store_numbers(y[k], values, i, (b * TOGETHER + k) * LANES, all16, all32)
            for k in T.unroll(TOGETHER):
                d[k] = T.simd.vadds(d[k], T.float32(1.0), all32)
            if plan.casts:
                largest_of_batch(y, amax, i, b * TOGETHER, largest, magnitude, plan, all32)
        if plan.group == "row":
            p0, p1 = plan.sf.layout.item(i, 0)
            T.simd.vsts(amax[p0, p1], T.simd.vcmax(largest[0], all32), all32, dist="ONEPT_B32")


@T.macro
def codes_of_tile(values, inverse, codes, rows, chunks, plan):
    """Writes the e4m3 numbers nearest to value * inverse; NaN stays NaN.

    No product is above 448 but NaN, so the conversion that does not saturate is right for all.
    """
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    first = T.simd.pset(32, HALF)
    layout = plan.sf.layout
    for i in T.serial(rows):
        for c in T.serial(chunks):
            if plan.group == "half":
                p0, p1 = layout.item(i, 2 * c)
                q0, q1 = layout.item(i, 2 * c + 1)
                a = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
                factor = T.simd.vsel(a, T.simd.vld(inverse[q0, q1], dist="BRC_B32"), first)
            else:
                p0, p1 = layout.item(i, T.truncdiv(c, 2) if plan.group == "pair" else 0)
                factor = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
            product = T.simd.vmul(T.simd.vld(values[i, c * LANES]), factor, all32)
            code = T.simd.vcvt(product, "float8_e4m3fn", all8, sat=False, part=0)
            T.simd.vsts(codes[i, c * LANES], code, all32, dist="PK4_B32")


@asc_kernel()
def swiglu_forward(
    x, psum, weights, count, out, sf,
    factor: T.float32, limit: T.float32, floor_bits: T.int32, tasks: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Writes silu(left) * right * weight of `x` [tokens, 2 hidden].

    `plan` is a `SwigluPlan`; unused tensors have one element. `count` is accumulated: left above
    the limit, right above, right below, valid elements.
    """
    N, XW, NP, NW, OM, OW, S0, S1, SS = T.dynamic("N, XW, NP, NW, OM, OW, S0, S1, SS")
    x: T.Tensor((N, XW), plan.x_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    count: T.Tensor((4,), T.int64)
    out: T.Tensor((OM, OW), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    s0 = plan.sf.tile(R, C)[0]
    pitch = plan.sf.pitch(R, C)
    places = align(s0, LANES // gcd(pitch, LANES))  # rows of scales that fill whole registers
    groups = C // plan.sf.block[1] if plan.group in ("half", "pair") else 1
    with T.Kernel(plan.cores) as core:
        left = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C), plan.x_dtype)
        codes = T.alloc_shared((R, C), plan.out_dtype)
        weight = T.alloc_shared((LANES,), T.float32)
        values = T.alloc_shared((R, C) if plan.casts else (1, LANES), T.float32)
        amax = T.alloc_shared((places, pitch), T.int32)
        inverse = T.alloc_shared((places, pitch), T.float32)
        scales = T.alloc_shared((places, pitch), plan.sf.dtype)
        clamped = T.alloc_shared((COUNTS, LANES), T.float32)
        totals = T.alloc_shared((COUNTS, LANES), T.int32)
        versions = {left: plan.stages, right: plan.stages, codes: plan.stages, clamped: 1}
        if plan.casts:
            versions |= {scales: 2, values: 1, amax: 1, inverse: 1}
        if plan.has_weights:
            versions[weight] = 2
        T.annotate_buffer_versions(versions)
        with T.SimdVF():
            all32 = T.simd.pset(32)
            if plan.casts:
                clear_magnitudes(amax, places * pitch, pitch)
            if plan.has_count:
                for k in T.serial(COUNTS):
                    T.simd.vsts(clamped[k, 0], T.simd.vdup(0.0, "float32", all32), all32)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            task = turn * plan.cores + core
            row0 = T.truncdiv(task, plan.across) * R
            col0 = T.truncmod(task, plan.across) * C
            wide = OW if plan.across == 1 else T.min(C, OW - col0)
            if plan.alignment:
                valid = T.alloc_var(T.int32)
                rows_of_experts(valid, psum, NP, row0, T.min(N - row0, R), plan.alignment)
            rows = valid if plan.alignment else T.min(N - row0, R)
            stored = valid if plan.alignment else R
            # NOTE: behind the left half lies the right one, which the last tile of a row may read
            T.copy(x[row0 : row0 + stored, col0 : col0 + C], left[0:stored, 0:C])
            T.copy(x[row0 : row0 + stored, OW + col0 : OW + col0 + C], right[0:stored, 0:C])
            if plan.has_weights:
                T.copy(weights[row0 : row0 + stored], weight[0:stored])
            with T.SimdVF():
                chunks = T.truncdiv(wide, LANES)
                batches = T.truncdiv(wide + BATCH - 1, BATCH)
                counts = T.simd.alloc_local(COUNTS, "float32")
                all32 = T.simd.pset(32)
                if plan.has_count:
                    for k in T.unroll(COUNTS):
                        counts[k] = T.simd.vld(clamped[k, 0])
                clear_behind(left, rows, chunks, batches)
                clear_behind(right, rows, chunks, batches)
                T.simd.mem_bar("VST_VLD")
                values_of_tile(
                    left, right, values if plan.casts else codes, amax, rows, batches, limit,
                    weight, factor, counts, plan,
                )  # fmt: skip
                if plan.has_count:
                    counts[3] = T.simd.vadds(counts[3], T.cast(rows * chunks, "float32"), all32)
                    for k in T.unroll(COUNTS):
                        T.simd.vsts(clamped[k, 0], counts[k], all32)
                if plan.casts:
                    T.simd.mem_bar("VST_VLD")
                    scales_of_magnitudes(
                        amax, inverse, scales, places * pitch, pitch, floor_bits, round_sf,
                        is_bf16=False,
                    )  # fmt: skip
                    T.simd.mem_bar("VST_VLD")
                    codes_of_tile(values, inverse, codes, rows, chunks, plan)
            T.copy(codes[0:stored, 0:C], out[row0 : row0 + stored, col0 : col0 + C])
            if plan.casts:
                o0, o1 = plan.sf.layout.items(row0, T.truncdiv(col0, plan.sf.block[1]))
                n0, n1 = plan.sf.layout.items(stored, groups)
                T.copy(scales[0:n0, 0:n1], sf[o0 : o0 + n0, o1 : o1 + n1])
        if plan.has_count:
            with T.SimdVF():
                all32 = T.simd.pset(32)
                for k in T.serial(COUNTS):
                    number = T.simd.vcvt(T.simd.vld(clamped[k, 0]), "int32", all32)
                    T.simd.vsts(totals[k, 0], T.simd.vcadd(number, all32), all32)
            with T.SimtVF(threads=32):
                tx = T.get_thread_binding()
                if tx < COUNTS:
                    T.atomic_add(count[tx], T.cast(totals[tx, 0], "int64"))
