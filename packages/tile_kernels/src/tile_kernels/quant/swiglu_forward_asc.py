"""The kernel of SwiGLU forward, with or without a cast, on vector registers (tile_kernels.md 4.8).

A tile belongs to one expert at most: its rows divide the alignment of the experts' first rows. So
its valid rows are its first ones, and only those are stored. With a cast, values and the largest
magnitude of each group are computed first, then all scales of the tile, then the codes.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES
from tile_kernels.quant.registers_asc import HALF, LANES, magnitude_bits, store_numbers, values_at
from tile_kernels.quant.scales_asc import clear_magnitudes, scales_of_magnitudes
from tile_kernels.quant.swiglu_asc import TOGETHER, clear_behind, count_clamped, rows_of_experts
from tile_kernels.quant.swiglu_codes_asc import (
    codes_of_batches,
    codes_of_halves,
    even_places,
    place_of_value,
    place_offsets,
)
from tile_kernels.quant.swiglu_plan import BATCH

__all__ = ["swiglu_forward"]

COUNTS = 4


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
def values_of_tile(halves, values, amax, rows, batches, limit, weight, factor, counts, plan):
    """Writes the activations of a tile, and the bits of each group's largest magnitude.

    The exponentials of a batch are begun before the divisions of the batch before it are used, and
    each step is done for a whole batch: so no instruction waits long for its operands.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    w = T.alloc_var("float32x64")
    beyond = halves.shape[1] // 2 // LANES
    high, low = T.alloc_var("bfloat16x128"), T.alloc_var("bfloat16x128")
    if plan.narrows:
        high = T.simd.vdup(T.cast(limit, "bfloat16"), "bfloat16", all16)
        low = T.simd.vdup(T.cast(-limit, "bfloat16"), "bfloat16", all16)
    bounds = (low, high) if plan.narrows else (None, None)
    places = T.alloc_var("uint32x64")
    lanes = T.simd.vci(T.int32(0), "int32")
    evens = T.alloc_var("uint32x64")
    if plan.fold == 2:
        evens = even_places(lanes, plan.cols // 2, all32)
    if plan.fold == 4:
        places = place_offsets(lanes, plan.sf.layout, amax.shape[1], all32)
    l, d, y, r = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(4))
    largest = T.simd.alloc_local(1, "int32")
    most = T.simd.alloc_local(TOGETHER // 2, "int32")
    for i in T.serial(T.min(rows, 1)):
        left_of_batch(halves, i, 0, l, bounds, limit, counts, one, plan, all16, all32)
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
                halves, i, beyond + b * TOGETHER, r, bounds, limit, counts, one, plan, all16, all32
            )
            if next_row < rows:
                left_of_batch(
                    halves, next_row, next_chunk, l, bounds, limit, counts, one, plan, all16, all32
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
                if plan.fold == 2:
                    place = place_of_value(b, k - k % 2, plan) + k % 2
                    T.simd.vscatter(y[k], values[i, place], evens, all32)
                else:
                    store_numbers(y[k], values, i, place_of_value(b, k, plan), all16, all32)
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


@asc_kernel()
def swiglu_forward(
    x, psum, weights, count, out, sf,
    factor: T.float32, limit: T.float32, floor_bits: T.int32, tasks: T.int32, across: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Writes silu(left) * right * weight of `x` [tokens, 2 hidden].

    `plan` is a `SwigluPlan`; unused tensors have one element. `count` is accumulated: left above
    the limit, right above, right below, valid elements. `across` tiles lie side by side.
    """
    N, XW, NP, NW, OM, OW, S0, S1, SS = T.dynamic("N, XW, NP, NW, OM, OW, S0, S1, SS")
    x: T.Tensor((N, XW), plan.x_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    count: T.Tensor((4,), T.int64)
    out: T.Tensor((OM, OW), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    places, pitch = plan.places, plan.pitch
    groups = C // plan.sf.block[1] if plan.group in ("half", "pair") else 1
    with T.Kernel(plan.cores) as core:
        halves = T.alloc_shared((R, 2 * C), plan.x_dtype)  # left ones, then right ones
        codes = T.alloc_shared((R, C), plan.out_dtype)
        weight = T.alloc_shared((LANES,), T.float32)
        # Activations lie where their halves were
        values = T.view(halves, (R, C * BYTES[plan.x_dtype] // 2), T.float32)
        amax = T.alloc_shared((places, pitch), T.int32)
        inverse = T.alloc_shared((places, pitch), T.float32)
        scales = T.alloc_shared((places, pitch), plan.sf.dtype)
        clamped = T.alloc_shared((COUNTS, LANES), T.float32)
        totals = T.alloc_shared((COUNTS, LANES), T.int32)
        versions = {halves: plan.stages, codes: plan.stages, clamped: 1}
        if plan.casts:
            versions |= {scales: 2, amax: 1, inverse: 1}
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
            row0, col0, valid = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
                valid = T.min(N - row0, R)
                if plan.alignment:
                    rows_of_experts(valid, psum, NP, row0, T.min(N - row0, R), plan.alignment)
            wide = T.min(C, OW - col0)
            rows = valid
            stored = valid if plan.alignment else R
            # NOTE: behind the left half lies the right one, which the last tile of a row may read
            T.copy(x[row0 : row0 + stored, col0 : col0 + C], halves[0:stored, 0:C])
            T.copy(x[row0 : row0 + stored, OW + col0 : OW + col0 + C], halves[0:stored, C : 2 * C])
            if plan.has_weights:
                T.copy(weights[row0 : row0 + stored], weight[0:stored])
            with T.SimdVF():
                chunks, beyond = T.truncdiv(wide, LANES), C // LANES
                batches = T.truncdiv(wide + BATCH - 1, BATCH)
                counts = T.simd.alloc_local(COUNTS, "float32")
                all32 = T.simd.pset(32)
                if plan.has_count:
                    for k in T.unroll(COUNTS):
                        counts[k] = T.simd.vld(clamped[k, 0])
                clear_behind(halves, rows, chunks, batches * TOGETHER)
                clear_behind(halves, rows, beyond + chunks, beyond + batches * TOGETHER)
                T.simd.mem_bar("VST_VLD")
                values_of_tile(
                    halves, values if plan.casts else codes, amax, rows, batches, limit,
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
                        codes_of_halves(values, inverse, codes, rows, chunks, plan)
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
