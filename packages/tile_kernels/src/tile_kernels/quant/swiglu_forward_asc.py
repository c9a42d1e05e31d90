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
from tile_kernels.quant.swiglu_asc import clear_behind, count_clamped, rows_of_experts
from tile_kernels.quant.swiglu_plan import BATCH
from tile_kernels.utils import align

__all__ = ["swiglu_forward"]

TOGETHER = BATCH // LANES
COUNTS = 4
PARTS = (0, 1, 2, 3)  # bytes of a lane


@T.macro
def numbers_of_batch(tile, i, c, numbers, bounds, plan, all16):
    """Sets `numbers` to a batch from chunk c of row i on; clamps to `bounds` what is still bf16.

    With a fold of 2 the first register of each pair has the even channels, and stores bring them
    back to their places, which costs no arithmetic; with 4 lane t of the registers of each four has
    the channels 4 t, 4 t + 1, 4 t + 2 and 4 t + 3.
    """
    low, high = bounds
    for k in T.unroll(TOGETHER // plan.fold):
        if plan.fold == 1:
            numbers[k] = values_at(tile, i, (c + k) * LANES, all16)
        elif plan.fold == 2:
            raw = T.alloc_var("bfloat16x128")
            raw = within(T.simd.vld(tile[i, (c + 2 * k) * LANES]), low, high, all16)
            numbers[2 * k] = T.simd.vcvt(raw, "float32", all16, part=0)
            numbers[2 * k + 1] = T.simd.vcvt(raw, "float32", all16, part=1)
        else:
            even, odd = T.alloc_var("bfloat16x128"), T.alloc_var("bfloat16x128")
            pair = T.simd.vld2(tile[i, (c + 4 * k) * LANES], dist="DINTLV_B16")
            even = within(T.simd.pair_get(pair, 0), low, high, all16)
            odd = within(T.simd.pair_get(pair, 1), low, high, all16)
            numbers[4 * k] = T.simd.vcvt(even, "float32", all16, part=0)
            numbers[4 * k + 1] = T.simd.vcvt(odd, "float32", all16, part=0)
            numbers[4 * k + 2] = T.simd.vcvt(even, "float32", all16, part=1)
            numbers[4 * k + 3] = T.simd.vcvt(odd, "float32", all16, part=1)


def within(value: Any, low: Any, high: Any, mask: Any) -> Any:
    """The register within the bounds that exist."""
    if high is not None:
        value = T.simd.vmin(value, high, mask)
    return value if low is None else T.simd.vmax(value, low, mask)


@T.macro
def left_of_batch(left, i, c, l, bounds, limit, counts, one, plan, all16, all32):
    """Sets l to the left halves of a batch from chunk c of row i on, at most the limit."""
    numbers_of_batch(left, i, c, l, (None, bounds[1]), plan, all16)
    if plan.has_limit and not plan.narrows:
        for k in T.unroll(TOGETHER):
            if plan.has_count:
                count_clamped(counts, 0, T.simd.vcmps(l[k], limit, all32, "gt"), one, all32)
            l[k] = T.simd.vmins(l[k], limit, all32)


@T.macro
def right_of_batch(right, i, c, r, bounds, limit, counts, one, plan, all16, all32):
    """Sets r to the right halves of a batch, within the limits."""
    numbers_of_batch(right, i, c, r, bounds, plan, all16)
    if plan.has_limit and not plan.narrows:
        for k in T.unroll(TOGETHER):
            if plan.has_count:
                count_clamped(counts, 1, T.simd.vcmps(r[k], limit, all32, "gt"), one, all32)
                count_clamped(counts, 2, T.simd.vcmps(r[k], -limit, all32, "lt"), one, all32)
            r[k] = T.simd.vmaxs(T.simd.vmins(r[k], limit, all32), -limit, all32)


def place_offsets(group: Any, layout: Any, pitch: int, all32: Any) -> Any:
    """How far the places of groups lie behind that of the first group of some words."""
    if layout.kind in ("row", "packed_row"):
        return T.reinterpret(group, "uint32x64")
    last = T.simd.vdup(T.int32(layout.pack - 1), "int32", all32)
    words = T.simd.vshrs(group, layout.pack.bit_length() - 1, all32)
    rows = T.simd.vmuls(words, T.int32(pitch), all32)
    return T.reinterpret(T.simd.vadd(rows, T.simd.vand(group, last, all32), all32), "uint32x64")


@T.macro
def magnitudes_of_batch(y, most, magnitude, all32):
    """Sets `most` to the bits of the larger magnitudes of each two registers."""
    for g in T.unroll(TOGETHER // 2):
        a = magnitude_bits(y[2 * g], magnitude, all32)
        b = magnitude_bits(y[2 * g + 1], magnitude, all32)
        most[g] = T.simd.vmax(a, b, all32)


@T.macro
def largest_of_batch(most, amax, i, c, places, plan, all32):
    """Writes the largest of each group, of `most` of the batch from chunk c of row i on."""
    layout = plan.sf.layout
    if plan.fold == 4:
        eight = T.simd.pset(32, "PAT_VL8")
        for g in T.unroll(TOGETHER // 4):
            four = T.simd.vmax(most[2 * g], most[2 * g + 1], all32)
            p0, p1 = layout.item(i, 2 * (c + 4 * g))
            T.simd.vscatter(T.simd.vcgmax(four, all32), amax[p0, p1], places, eight)
    else:
        for g in T.unroll(TOGETHER // 2):
            most[g] = T.simd.vcmax(most[g], all32)
        for g in T.unroll(TOGETHER // 2):
            p0, p1 = layout.item(i, T.truncdiv(c, 2) + g)
            T.simd.vsts(amax[p0, p1], most[g], all32, dist="ONEPT_B32")


@T.macro
def largest_of_halves(y, amax, i, c, magnitude, plan, all32):
    """Writes the bits of the largest magnitude of each half of the registers of a batch."""
    first = T.simd.pset(32, HALF)
    second = T.simd.pnot(first, all32)
    for k in T.unroll(TOGETHER):
        bits = magnitude_bits(y[k], magnitude, all32)
        p0, p1 = plan.sf.layout.item(i, 2 * (c + k))
        q0, q1 = plan.sf.layout.item(i, 2 * (c + k) + 1)
        T.simd.vsts(amax[p0, p1], T.simd.vcmax(bits, first), all32, dist="ONEPT_B32")
        T.simd.vsts(amax[q0, q1], T.simd.vcmax(bits, second), all32, dist="ONEPT_B32")


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
    high, low = T.alloc_var("bfloat16x128"), T.alloc_var("bfloat16x128")
    if plan.narrows:
        high = T.simd.vdup(T.cast(limit, "bfloat16"), "bfloat16", all16)
        low = T.simd.vdup(T.cast(-limit, "bfloat16"), "bfloat16", all16)
    bounds = (low, high) if plan.narrows else (None, None)
    places = T.alloc_var("uint32x64")
    lanes = T.simd.vci(T.int32(0), "int32")
    evens = T.reinterpret(T.simd.vadd(lanes, lanes, all32), "uint32x64")
    if plan.fold == 4:
        places = place_offsets(lanes, plan.sf.layout, amax.shape[1], all32)
    l, d, y, r = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(4))
    largest = T.simd.alloc_local(1, "int32")
    most = T.simd.alloc_local(TOGETHER // 2, "int32")
    for i in T.serial(T.min(rows, 1)):
        left_of_batch(left, i, 0, l, bounds, limit, counts, one, plan, all16, all32)
        for k in T.unroll(TOGETHER):
            d[k] = T.simd.vadds(T.simd.vexpdif(zero, l[k], all32), T.float32(1.0), all32)
    for i in T.serial(rows):
        if plan.has_weights:
            w = T.simd.vmuls(T.simd.vld(weight[i], dist="BRC_B32"), factor, all32)
        if plan.group == "row":
            largest[0] = T.simd.vdup(T.int32(0), "int32", all32)
        for b in T.serial(batches):
            next_row, next_chunk = T.alloc_var(T.int32), T.alloc_var(T.int32)
            next_row = i + T.if_then_else(b + 1 < batches, 0, 1)
            next_chunk = T.if_then_else(b + 1 < batches, (b + 1) * TOGETHER, 0)
            for k in T.unroll(TOGETHER):
                y[k] = T.simd.vdiv(l[k], d[k], all32, precision="ftz_true")
            right_of_batch(
                right, i, b * TOGETHER, r, bounds, limit, counts, one, plan, all16, all32
            )
            if next_row < rows:
                left_of_batch(
                    left, next_row, next_chunk, l, bounds, limit, counts, one, plan, all16, all32
                )
            if next_row < rows:
                for k in T.unroll(TOGETHER):
                    d[k] = T.simd.vexpdif(zero, l[k], all32)
            for k in T.unroll(TOGETHER):
                y[k] = T.simd.vmul(y[k], r[k], all32)
            if plan.has_weights:
                for k in T.unroll(TOGETHER):
                    y[k] = T.simd.vmul(y[k], w, all32)
            for k in T.unroll(TOGETHER):
                c = b * TOGETHER + k
                if plan.fold == 2:
                    T.simd.vscatter(y[k], values[i, (c - k % 2) * LANES + k % 2], evens, all32)
                else:
                    store_numbers(y[k], values, i, c * LANES, all16, all32)
            if next_row < rows:
                for k in T.unroll(TOGETHER):
                    d[k] = T.simd.vadds(d[k], T.float32(1.0), all32)
            if plan.group == "pair" or plan.fold == 4:
                magnitudes_of_batch(y, most, magnitude, all32)
                largest_of_batch(most, amax, i, b * TOGETHER, places, plan, all32)
            elif plan.group == "half":
                largest_of_halves(y, amax, i, b * TOGETHER, magnitude, plan, all32)
            elif plan.group == "row":
                for k in T.unroll(TOGETHER):
                    bits = magnitude_bits(y[k], magnitude, all32)
                    largest[0] = T.simd.vmax(largest[0], bits, all32)
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


@T.macro
def codes_of_batches(values, inverse, codes, rows, batches, plan):
    """As `codes_of_tile`, a batch at a time; by fours registers hold every fourth channel."""
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    layout = plan.sf.layout
    fold, shared = (4, 4) if plan.fold == 4 else (1, 2)  # registers with the same factors
    places = T.alloc_var("uint32x64")
    number = T.simd.alloc_local(TOGETHER, "float32")
    code = T.simd.alloc_local(TOGETHER, "int32")
    factor = T.simd.alloc_local(TOGETHER // shared, "float32")
    if fold == 4:
        lanes = T.simd.vci(T.int32(0), "int32")
        groups = T.simd.vshrs(lanes, 3, all32)
        places = place_offsets(groups, layout, inverse.shape[1], all32)
    for i in T.serial(rows):
        for b in T.serial(batches):
            for g in T.unroll(TOGETHER // shared):
                if fold == 4:
                    p0, p1 = layout.item(i, 2 * (b * TOGETHER + 4 * g))
                    factor[g] = T.simd.vgather2(inverse[p0, p1], places, all32)
                else:
                    p0, p1 = layout.item(i, b * (TOGETHER // 2) + g if plan.group == "pair" else 0)
                    factor[g] = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
            for k in T.unroll(TOGETHER):
                number[k] = T.simd.vld(values[i, (b * TOGETHER + k) * LANES])
            for k in T.unroll(TOGETHER):
                number[k] = T.simd.vmul(number[k], factor[k // shared], all32)
            for g in T.unroll(TOGETHER // fold):
                for part in PARTS[:fold]:
                    byte = T.simd.vcvt(
                        number[fold * g + part], "float8_e4m3fn", all8, sat=False, part=part
                    )
                    code[fold * g + part] = T.reinterpret(byte, "int32x64")
            if fold == 4:
                for g in T.unroll(TOGETHER // 2):
                    code[2 * g] = T.simd.vor(code[2 * g], code[2 * g + 1], all32)
                for g in T.unroll(TOGETHER // 4):
                    code[4 * g] = T.simd.vor(code[4 * g], code[4 * g + 2], all32)
            for g in T.unroll(TOGETHER // fold):
                place = (b * TOGETHER + fold * g) * LANES
                data = T.reinterpret(code[fold * g], "float8_e4m3fnx256")
                if fold == 4:
                    T.simd.vsts(codes[i, place], data, all8, dist="NORM_B8")
                else:
                    T.simd.vsts(codes[i, place], data, all32, dist="PK4_B32")


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
                clear_behind(left, rows, chunks, batches * TOGETHER)
                clear_behind(right, rows, chunks, batches * TOGETHER)
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
                    if plan.group == "half" and plan.fold == 1:
                        codes_of_tile(values, inverse, codes, rows, chunks, plan)
                    else:
                        codes_of_batches(values, inverse, codes, rows, batches, plan)
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
