"""The kernel of SwiGLU backward on vector registers (tile_kernels.md section 4.8).

A task is a few whole rows, cut into tiles of columns; a core keeps the lanes' sums of its rows for
the gradient of the weight from tile to tile. Rows outside the experts get zeros. With a cast, the
gradients of both halves, one below the other, are then a tile of `token_cast_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH
from tile_kernels.quant.quads_asc import SLOT, UNIT
from tile_kernels.quant.registers_asc import HALF, LANES, store_numbers, values_at
from tile_kernels.quant.scales_asc import FACTORS, clear_magnitudes, factors_of_scales
from tile_kernels.quant.swiglu_asc import clear_behind, clear_rows, rows_of_experts
from tile_kernels.quant.token_cast_asc import REGISTER, cast_rows, magnitude_dtype

__all__ = ["swiglu_backward"]

TOGETHER = 8  # registers on which a step works before the next one


def number_at(tile: Any, given: Any, i: Any, j: Any, band: Any, masks: tuple[Any, ...]) -> Any:
    """64 numbers of row i as float32; those of e4m3 bytes times their `given` scales."""
    all8, all16, all32, first = masks
    if tile.dtype != "uint8":
        return values_at(tile, i, j, all16)
    code = T.reinterpret(T.simd.vld(tile[i, j], dist="UNPK4_B8"), "float8_e4m3fnx256")
    group = T.truncdiv(j, band.block[1])
    scale = T.simd.vld(given[i, group], dist="BRC_B32")
    if band.block[1] < LANES:
        other = T.simd.vld(given[i, group + 1], dist="BRC_B32")
        scale = T.simd.vsel(scale, other, first)
    return T.simd.vmul(T.simd.vcvt(code, "float32", all8, part=0), scale, all32)


@T.macro
def halves_at(left, right, given, i, j, l, r, limit, plan, masks):
    """Sets l and r to some registers of both halves of row i, within the limits."""
    all32 = masks[2]
    for k in T.unroll(TOGETHER):
        l[k] = number_at(left, given[0], i, j + k * LANES, plan.sf_in, masks)
    for k in T.unroll(TOGETHER):
        r[k] = number_at(right, given[1], i, j + k * LANES, plan.sf_in, masks)
    if plan.has_limit:
        for k in T.unroll(TOGETHER):
            l[k] = T.simd.vmins(l[k], limit, all32)
        for k in T.unroll(TOGETHER):
            r[k] = T.simd.vmaxs(T.simd.vmins(r[k], limit, all32), -limit, all32)


@T.macro
def drop_clamped(left, right, given, i, j, dl, dr, limit, plan, masks):
    """Replaces gradients by zeros where the halves were clamped."""
    all32 = masks[2]
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    for k in T.unroll(TOGETHER):
        number = number_at(left, given[0], i, j + k * LANES, plan.sf_in, masks)
        dl[k] = T.simd.vsel(zero, dl[k], T.simd.vcmps(number, limit, all32, "gt"))
    for k in T.unroll(TOGETHER):
        number = number_at(right, given[1], i, j + k * LANES, plan.sf_in, masks)
        size = T.simd.vabs(number, all32)
        dr[k] = T.simd.vsel(zero, dr[k], T.simd.vcmps(size, limit, all32, "gt"))


@T.macro
def gradients_of_tile(
    left, right, given, upper, both, act, sums, weight, first, rows, batches, limit, factor, plan,
):  # fmt: skip
    """Writes the gradients of both halves and the activations of the valid rows of a tile.

    `both` are the rows of the left half, then those of the right one; `sums` are the lanes' sums of
    upper * activation of each row; `first` begins them anew.
    """
    all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
    half = T.simd.pset(32, HALF)
    masks = (all8, all16, all32, half)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    w, total = T.alloc_var("float32x64"), T.simd.alloc_local(1, "float32")
    l, r, g, s, y, t = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(6))
    for i in T.serial(rows):
        if plan.has_weights:
            w = T.simd.vmuls(T.simd.vld(weight[i], dist="BRC_B32"), factor, all32)
            total[0] = T.simd.vdup(T.float32(0.0), "float32", all32)
            if first == 0:
                total[0] = T.simd.vld(sums[i, 0])
        for b in T.serial(batches):
            j = b * (TOGETHER * LANES)
            halves_at(left, right, given, i, j, l, r, limit, plan, masks)
            # The sigmoid of l
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vexpdif(zero, l[k], all32)
            for k in T.unroll(TOGETHER):
                g[k] = values_at(upper, i, j + k * LANES, all16)
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vadds(s[k], T.float32(1.0), all32)
            if plan.has_act or plan.has_weights:
                for k in T.unroll(TOGETHER):
                    y[k] = T.simd.vdiv(l[k], s[k], all32, precision="ftz_true")
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vdiv(one, s[k], all32, precision="ftz_true")
            # The activation, its product with the upper gradient, and the weighted one
            if plan.has_act or plan.has_weights:
                for k in T.unroll(TOGETHER):
                    y[k] = T.simd.vmul(y[k], r[k], all32)
            if plan.has_weights:
                for k in T.unroll(TOGETHER):
                    T.simd.vmula(total[0], g[k], y[k], all32)
                for k in T.unroll(TOGETHER):
                    g[k] = T.simd.vmul(g[k], w, all32)
            if plan.has_act:
                for k in T.unroll(TOGETHER):
                    if plan.has_weights:
                        y[k] = T.simd.vmul(y[k], w, all32)
                for k in T.unroll(TOGETHER):
                    store_numbers(y[k], act, i, j + k * LANES, all16, all32)
            # Both gradients
            for k in T.unroll(TOGETHER):
                g[k] = T.simd.vmul(g[k], s[k], all32)
            for k in T.unroll(TOGETHER):
                t[k] = T.simd.vsub(one, s[k], all32)
            for k in T.unroll(TOGETHER):
                T.simd.vmadd(t[k], l[k], one, all32)
            for k in T.unroll(TOGETHER):
                l[k] = T.simd.vmul(g[k], l[k], all32)
            for k in T.unroll(TOGETHER):
                g[k] = T.simd.vmul(g[k], r[k], all32)
            for k in T.unroll(TOGETHER):
                t[k] = T.simd.vmul(g[k], t[k], all32)
            if plan.has_limit:
                drop_clamped(left, right, given, i, j, t, l, limit, plan, masks)
            for k in T.unroll(TOGETHER):
                store_numbers(t[k], both, i, j + k * LANES, all16, all32)
            for k in T.unroll(TOGETHER):
                store_numbers(l[k], both, plan.rows + i, j + k * LANES, all16, all32)
        if plan.has_weights:
            T.simd.vsts(sums[i, 0], total[0], all32)


@T.macro
def sums_of_rows(sums, totals, rows, stored, factor):
    """Writes the sum of the lanes of each valid row, times the factor, and zeros for the others."""
    all32 = T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    for i in T.serial(rows):
        total = T.simd.vmuls(T.simd.vcadd(T.simd.vld(sums[i, 0]), all32), factor, all32)
        T.simd.vsts(totals[i], total, all32, dist="ONEPT_B32")
    for i in T.serial(stored - rows):
        T.simd.vsts(totals[rows + i], zero, all32, dist="ONEPT_B32")


@asc_kernel()
def swiglu_backward(
    x, x_sf, grad, psum, weights, x_grad, weight_grad, act_out, codes_out, sf,
    factor: T.float32, limit: T.float32, floor_bits: T.int32, turns: T.int32, steps: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Gradients of silu(left) * right * weight; unused tensors have one element.

    There are `turns` tasks, of `steps` tiles each. `x_sf` are scales of `x`, e4m3 in bytes. With
    a cast `codes_out` and `sf` are those of x_grad, `sf` as in `token_cast`.
    """
    N, XW, H, NP, NW, A0, A1 = T.dynamic("N, XW, H, NP, NW, A0, A1")
    I0, I1, IS, C0, C1, S0, S1, SS = T.dynamic("I0, I1, IS, C0, C1, S0, S1, SS")
    pack, is_turned = plan.sf.word, plan.sf.layout.is_column_major
    sf_dtype = f"int{8 * pack}" if is_turned and pack > 1 else plan.sf.dtype
    x: T.Tensor((N, XW), plan.x_dtype)
    x_sf: T.StridedTensor((I0, I1), (IS, 1), T.float32)
    grad: T.Tensor((N, H), plan.grad_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    x_grad: T.Tensor((N, XW), plan.out_dtype)
    weight_grad: T.Tensor((NW,), T.float32)
    act_out: T.Tensor((A0, A1), plan.out_dtype)
    codes_out: T.Tensor((C0, C1), T.float8_e4m3fn)
    sf: T.StridedTensor((S0, S1), (SS, 1), sf_dtype)

    R, C = plan.rows, plan.cols
    has_sf = plan.sf_in.exists
    width_in = plan.sf_in.block[1] if has_sf else LANES
    width = plan.sf.block[1] if plan.casts else SLOT
    G, ratio = C // width, width // SLOT
    high, wide_cast = (2 * R, C) if plan.casts else (1, LANES)
    wide, pitch = (1, 32)
    if is_turned:
        # NOTE: 32 bytes behind each column, so that columns hit all banks
        wide, pitch = G // pack, max(2 * R, 16) + MIN_PITCH // BYTES[sf_dtype]
    with T.Kernel(plan.cores) as core:
        left = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C), plan.x_dtype)
        upper = T.alloc_shared((R, C), plan.grad_dtype)
        both = T.alloc_shared((2 * R, C), plan.out_dtype)  # gradients of left halves, right halves
        act = T.alloc_shared((R, C) if plan.has_act else (1, LANES), plan.out_dtype)
        weight = T.alloc_shared((LANES,), T.float32)
        totals = T.alloc_shared((LANES,), T.float32)
        sums = T.alloc_shared((R, LANES), T.float32)
        # Scales of x, and the same with zeros behind them
        sf_left = T.alloc_shared((R, LANES) if has_sf else (1, LANES), T.float32)
        sf_right = T.alloc_shared((R, LANES) if has_sf else (1, LANES), T.float32)
        given_left = T.alloc_shared((R, FACTORS) if has_sf else (1, LANES), T.float32)
        given_right = T.alloc_shared((R, FACTORS) if has_sf else (1, LANES), T.float32)
        # The cast
        codes = T.alloc_shared((high, wide_cast), T.float8_e4m3fn)
        slots = T.alloc_shared((high, max(wide_cast // SLOT, LANES // high)), T.int32)
        factors = T.alloc_shared((high, max(wide_cast // SLOT, LANES // high)), T.float32)
        kind = magnitude_dtype(plan.cast)
        groups = T.alloc_shared((high, G) if ratio > 1 else (1, 2 * LANES), kind)
        inverse = T.alloc_shared((high, G) if ratio > 1 else (1, 2 * LANES), T.float32)
        scales = T.alloc_shared((max(high, REGISTER // G), G), plan.sf.dtype)
        turned = T.alloc_shared((wide, pitch), sf_dtype)
        in_flight = {left: 2, right: 2, upper: 2, both: 2}
        if plan.has_act:
            in_flight[act] = 2
        if plan.has_weights:
            in_flight |= {weight: 2, totals: 2, sums: 1}
        if has_sf:
            in_flight |= {sf_left: 2, sf_right: 2, given_left: 1, given_right: 1}
        if plan.casts:
            in_flight |= {codes: 2, slots: 1, factors: 1, groups: 1, inverse: 1}
            in_flight |= {scales: 1 if is_turned else 2, turned: 2 if is_turned else 1}
        T.annotate_buffer_versions(in_flight)
        if plan.casts:
            with T.SimdVF():
                clear_magnitudes(slots, high * wide_cast // SLOT, wide_cast // SLOT)
                if ratio > 1:
                    clear_magnitudes(groups, high * G, G)
        for turn in T.Pipelined(
            T.truncdiv(turns - core + plan.cores - 1, plan.cores) * steps, num_stages=2
        ):
            row0, col0, valid = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (T.truncdiv(turn, steps) * plan.cores + core) * R
                col0 = T.truncmod(turn, steps) * C
                valid = T.min(N - row0, R)
                if plan.alignment:
                    rows_of_experts(valid, psum, NP, row0, T.min(N - row0, R), plan.alignment)
            reused(left, right, upper, both)
            # NOTE: behind the left half lies the right one, which the last tile of a row may read
            T.copy(x[row0, col0], left)
            T.copy(x[row0, H + col0], right)
            T.copy(grad[row0, col0], upper)
            if has_sf:
                reused(sf_left, sf_right, given_left, given_right)
                n = C // width_in
                first_in, other_in = T.truncdiv(col0, width_in), T.truncdiv(H + col0, width_in)
                T.copy(x_sf[row0 : row0 + R, first_in : first_in + n], sf_left[0:R, 0:n])
                T.copy(x_sf[row0 : row0 + R, other_in : other_in + n], sf_right[0:R, 0:n])
            if plan.has_weights:
                T.copy(weights[row0 : row0 + R], weight[0:R])
            if plan.casts:
                reused(codes, slots, factors, groups, inverse, scales, turned)
            with T.SimdVF():
                cols = T.min(H - col0, C)
                chunks = T.truncdiv(cols, LANES)
                batches = T.truncdiv(chunks + TOGETHER - 1, TOGETHER)
                stored = T.min(N - row0, R)
                clear_behind(left, valid, chunks, batches * TOGETHER)
                clear_behind(right, valid, chunks, batches * TOGETHER)
                clear_behind(upper, valid, chunks, batches * TOGETHER)
                if has_sf:
                    per_row = T.truncdiv(cols, width_in)
                    factors_of_scales(sf_left, given_left, valid, per_row, 1, LANES, plan.sf_in)
                    factors_of_scales(sf_right, given_right, valid, per_row, 1, LANES, plan.sf_in)
                T.simd.mem_bar("VST_VLD")
                gradients_of_tile(
                    left, right, (given_left, given_right), upper, both, act, sums, weight,
                    col0 == 0, valid, batches, limit, factor, plan,
                )  # fmt: skip
                # Zeros in the other rows; a cast handles all rows of a tile and whole batches
                below = R if plan.casts else stored
                across = batches * TOGETHER if plan.casts else chunks
                clear_rows(both, valid, below, across)
                clear_rows(both, R + valid, R + below, across)
                if plan.has_act:
                    clear_rows(act, valid, stored, chunks)
                if plan.has_weights or plan.casts:
                    T.simd.mem_bar("VST_VLD")
                if plan.has_weights:
                    sums_of_rows(sums, totals, valid, stored, factor)
                if plan.casts:
                    units = batches * (TOGETHER * LANES // UNIT)
                    cast_rows(
                        both, codes, slots, factors, groups, inverse, scales, turned, 2 * R, cols,
                        units, floor_bits, round_sf, plan.cast,
                    )  # fmt: skip
            wide_here = T.min(C, H - col0)
            T.copy(both[0:R, 0:wide_here], x_grad[row0 : row0 + R, col0 : col0 + wide_here])
            T.copy(
                both[R : 2 * R, 0:wide_here],
                x_grad[row0 : row0 + R, H + col0 : H + col0 + wide_here],
            )
            if plan.has_act:
                T.copy(act, act_out[row0, col0])
            if plan.has_weights:
                T.copy(totals[0:R], weight_grad[row0 : row0 + R])
            if plan.casts:
                T.copy(codes[0:R, 0:wide_here], codes_out[row0 : row0 + R, col0 : col0 + wide_here])
                T.copy(
                    codes[R : 2 * R, 0:wide_here],
                    codes_out[row0 : row0 + R, H + col0 : H + col0 + wide_here],
                )
                n_here = T.truncdiv(wide_here, width * pack if is_turned else width)
                first, other = T.truncdiv(col0, width), T.truncdiv(H + col0, width)
                if is_turned:
                    w0, w1 = T.truncdiv(first, pack), T.truncdiv(other, pack)
                    T.copy(turned[0:n_here, 0:R], sf[w0 : w0 + n_here, row0 : row0 + R])
                    T.copy(turned[0:n_here, R : 2 * R], sf[w1 : w1 + n_here, row0 : row0 + R])
                else:
                    T.copy(scales[0:R, 0:n_here], sf[row0 : row0 + R, first : first + n_here])
                    T.copy(scales[R : 2 * R, 0:n_here], sf[row0 : row0 + R, other : other + n_here])
