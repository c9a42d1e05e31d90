"""The kernel of per-token casts of quantised rows, on vector registers.

A tile is a few rows. Its codes become fp32 numbers, kept in the order of registers that hold every
fourth of 256, and their largest magnitudes are found on the way; then it is cast as in
`token_cast_asc`. Other scales are in `block_cast_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH
from tile_kernels.quant.quads_asc import PARTS, SLOT, UNIT, clear_behind
from tile_kernels.quant.quads_back_asc import quads_of_codes
from tile_kernels.quant.random_asc import place_of
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import clear_magnitudes, numbers_of_scales
from tile_kernels.quant.token_cast_asc import REGISTER, cast_rows, spread_factors

__all__ = ["recast"]

UNITS = 4  # on which a step works before the next one
BATCH = UNITS * PARTS  # their registers


@T.macro
def numbers_of_codes(tile, given, values, slots, rows, units, is_shared):
    """Writes code * scale, and the bits of the largest magnitude of each 32 channels to `slots`.

    Each step is done for four units, so that no instruction waits long for its operands; behind the
    last unit it is that one once more.
    """
    all32, eight = T.simd.pset(32), T.simd.pset(32, "PAT_VL8")
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    v = T.simd.alloc_local(BATCH, "float32")
    m = T.simd.alloc_local(BATCH, "int32")
    for i in T.serial(rows):
        row = 0 if is_shared else i
        for step in T.serial(T.truncdiv(units + UNITS - 1, UNITS)):
            for n in T.unroll(UNITS):
                u = T.min(step * UNITS + n, units - 1)
                quads_of_codes(v, tile, i, u * UNIT, n * PARTS)
            for n in T.unroll(UNITS):
                u = T.min(step * UNITS + n, units - 1)
                factor = T.simd.vld(given[row, u * (UNIT // SLOT)], dist="E2B_B32")
                for k in T.unroll(PARTS):
                    v[n * PARTS + k] = T.simd.vmul(v[n * PARTS + k], factor, all32)
            for n in T.unroll(UNITS):
                u = T.min(step * UNITS + n, units - 1)
                for k in T.unroll(PARTS):
                    T.simd.vsts(values[i, u * UNIT + k * LANES], v[n * PARTS + k], all32)
            for k in T.unroll(BATCH):
                m[k] = T.simd.vand(T.reinterpret(v[k], "int32x64"), magnitude, all32)
            for k in T.unroll(BATCH // 2):
                m[k] = T.simd.vmax(m[2 * k], m[2 * k + 1], all32)
            for k in T.unroll(BATCH // 4):
                m[k] = T.simd.vmax(m[2 * k], m[2 * k + 1], all32)
            for k in T.unroll(UNITS):
                m[k] = T.simd.vcgmax(m[k], all32)
            for n in T.unroll(UNITS):
                u = T.min(step * UNITS + n, units - 1)
                T.simd.vsts(slots[i, u * (UNIT // SLOT)], m[n], eight, extent=UNIT // SLOT)


@T.macro
def clear_slots(slots, rows, cols):
    """Writes zeros to the slots behind `cols` up to the end of a unit: stale scales made them."""
    all32 = T.simd.pset(32)
    zero = T.simd.vdup(T.int32(0), "int32", all32)
    for i in T.serial(rows):
        for n in T.serial(T.truncdiv(T.truncmod(UNIT - T.truncmod(cols, UNIT), UNIT), SLOT)):
            place = T.truncdiv(cols, SLOT) + n
            T.simd.vsts(slots[i, place], zero, all32, dist="ONEPT_B32")


@asc_kernel()
def recast(
    x, sf_in, out, sf, floor_bits: T.int32, tasks: T.int32, across: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Casts codes in bytes, e4m3 as uint8 or two e2m1 as int8; `across` tiles lie in a row.

    `sf_in` are the items of their scales, `sf` those of row-major scales, or the words of
    column-major ones. `plan` is by `plan_recast`; its mode ``sf`` writes scales only.
    """
    M, XW, XS, I0, I1, IS = T.dynamic("M, XW, XS, I0, I1, IS")
    OM, OW, OS, S0, S1, SS = T.dynamic("OM, OW, OS, S0, S1, SS")
    x_dtype = "int8" if plan.x_dtype == "int8" else "uint8"
    pack, is_turned = plan.sf.word, plan.sf.layout.is_column_major
    sf_dtype = f"int{8 * pack}" if is_turned and pack > 1 else plan.sf.dtype
    x: T.StridedTensor((M, XW), (XS, 1), x_dtype)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), plan.sf_in.dtype)
    out: T.StridedTensor((OM, OW), (OS, 1), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), sf_dtype)

    R, C, band = plan.rows, plan.cols, plan.sf_in
    height, width_in = band.block
    is_shared = height > 1
    s0, s1 = band.tile(R, C)
    G_in, ratio_in = C // width_in, width_in // SLOT
    # Row-major fp32 scales need no work but to be spread
    is_ready = band.dtype == "float32" and not band.layout.is_column_major
    rows_in = s0 if band.layout.is_column_major else max(R, LANES // G_in)
    width = plan.sf.block[1]
    G, ratio = C // width, width // SLOT
    # NOTE: 32 bytes behind each column, so that columns hit all banks
    wide, pitch = (G // pack, max(R, 16) + MIN_PITCH // BYTES[sf_dtype]) if is_turned else (1, 32)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C // plan.x_per_item), x_dtype)
        scales_in = T.alloc_shared((rows_in, band.pitch(R, C)), band.dtype)
        numbers = T.alloc_shared((rows_in, G_in) if ratio_in > 1 else (1, LANES), T.float32)
        given = T.alloc_shared((R, C // SLOT), T.float32)
        values = T.alloc_shared((R, C), T.float32)
        codes = T.alloc_shared((R, C // plan.out_per_item), plan.out_dtype)
        slots = T.alloc_shared((R, C // SLOT), T.int32)
        factors = T.alloc_shared((R, C // SLOT), T.float32)
        groups = T.alloc_shared((R, G) if ratio > 1 else (1, LANES), T.int32)
        inverse = T.alloc_shared((R, G) if ratio > 1 else (1, LANES), T.float32)
        scales = T.alloc_shared((max(R, REGISTER // G), G), plan.sf.dtype)
        turned = T.alloc_shared((wide, pitch), sf_dtype)
        single = {numbers: 1, given: 1, values: 1, slots: 1, factors: 1, groups: 1, inverse: 1}
        T.annotate_buffer_versions(
            {
                **single, tile: 2, scales_in: 2, codes: 2 if plan.mode == "cast" else 1,
                scales: 1 if is_turned else 2, turned: 2 if is_turned else 1,
            }
        )  # fmt: skip
        with T.SimdVF():
            clear_magnitudes(slots, R * C // SLOT, C // SLOT)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            reused(tile, scales_in, numbers, given, values, codes)
            reused(slots, factors, groups, inverse, scales, turned)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            o0, o1 = band.layout.items(T.truncdiv(row0, height), T.truncdiv(col0, width_in))
            T.copy(x[row0, T.truncdiv(col0, plan.x_per_item)], tile)
            T.copy(sf_in[o0 : o0 + s0, o1 : o1 + s1], scales_in[0:s0, 0:s1])
            with T.SimdVF():
                rows = T.min(M - row0, R)
                hidden = XW * plan.x_per_item
                cols = T.min(hidden - col0, C)
                units = T.truncdiv(cols + UNIT - 1, UNIT)
                clear_behind(tile, rows, cols)
                items = G_in if is_shared else rows * G_in
                if not is_ready:
                    numbers_of_scales(
                        scales_in, numbers if ratio_in > 1 else given, items, G_in,
                        band.pitch(R, C), band, False,
                    )  # fmt: skip
                    if ratio_in > 1:
                        T.simd.mem_bar("VST_VLD")
                if ratio_in > 1:
                    whole = T.truncdiv(items + LANES - 1, LANES) * LANES
                    spread_factors(scales_in if is_ready else numbers, given, whole, ratio_in)
                T.simd.mem_bar("VST_VLD")
                given_here = scales_in if is_ready and ratio_in == 1 else given
                numbers_of_codes(tile, given_here, values, slots, rows, units, is_shared)
                T.simd.mem_bar("VST_VST")
                clear_slots(slots, rows, cols)
                T.simd.mem_bar("VST_VLD")
                cast_rows(
                    values, codes, slots, factors, groups, inverse, scales, turned, rows, cols,
                    units, floor_bits, round_sf, plan, in_quads=True,
                    place0=place_of(row0, col0, hidden) if plan.stochastic else None, hidden=hidden,
                )  # fmt: skip
            if plan.mode == "cast":
                T.copy(codes, out[row0, T.truncdiv(col0, plan.out_per_item)])
            if is_turned:
                first = T.truncdiv(col0, width * pack)
                T.copy(turned[0:wide, 0:R], sf[first : first + wide, row0 : row0 + R])
            else:
                first = T.truncdiv(col0, width)
                T.copy(scales[0:R, 0:G], sf[row0 : row0 + R, first : first + G])
