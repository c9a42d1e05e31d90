"""The kernel of per-token casts in groups of 16, 32, 64 or 128 channels, on vector registers.

A tile is a few rows of whole groups. Largest magnitudes are found in groups of 128, or in slots of
32 channels that are joined; then all scales of the tile are computed together, in the order of the
rows, then the codes, or the numbers that they stand for. Column-major scales are turned at the end.
What groups of 16 have of their own is in `small_groups_asc`.
Loads, arithmetic and stores of three tiles overlap. Given scales are in `given_cast_asc`, quantised
inputs in `recast_asc`, other groups in `block_cast_asc`, with the same results. How codes are
rounded at random is in `random_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH
from tile_kernels.quant.numeric_asc import MAX_VALUE
from tile_kernels.quant.quads_asc import (
    PARTS,
    SLOT,
    UNIT,
    clear_behind,
    e2m1_of_products,
    largest_of_128,
    load_quads,
    round_e2m1,
    round_e4m3,
    slot_magnitudes,
    store_e2m1,
    store_e4m3,
    store_limited_e4m3,
    store_quads,
)
from tile_kernels.quant.random_asc import place_bits, place_of, store_at_random
from tile_kernels.quant.registers_asc import LANES, saturate, values_at
from tile_kernels.quant.scales_asc import (
    clear_last_words,
    clear_magnitudes,
    scales_of_magnitudes,
    turn_scales,
)
from tile_kernels.quant.small_groups_asc import (
    SMALL,
    STEP,
    e2m1_of_small,
    magnitudes_of_small,
    small_factors,
)

__all__ = [
    "REGISTER", "cast_rows", "codes_of_units", "magnitude_dtype", "spread_factors", "token_cast",
]  # fmt: skip

REGISTER = 256  # bytes


def magnitude_dtype(plan: Any) -> str:
    """The dtype of the bits of the largest magnitudes of groups."""
    is_short = plan.x_dtype == "bfloat16" and plan.sf.block[1] in (SMALL, 2 * LANES)
    return "int16" if is_short else "int32"


@T.macro
def magnitudes_of_128(tile, groups, rows, units):
    """Writes the bits of the largest magnitude of each 128 channels, those of four units at once.

    They are those of bf16 (as int16) or fp32 numbers; behind the last unit it is that one again.
    """
    width = 32 if tile.dtype == "float32" else 16
    every = T.simd.pset(width)
    most = T.int32(0x7FFFFFFF) if width == 32 else T.int16(0x7FFF)
    magnitude = T.simd.vdup(most, f"int{width}", every)
    largest = T.simd.alloc_local(2 * PARTS, f"int{width}")
    for i in T.serial(rows):
        for step in T.serial(T.truncdiv(units + PARTS - 1, PARTS)):
            for k in T.unroll(2 * PARTS):
                group = T.min(step * 2 * PARTS + k, 2 * units - 1)
                largest[k] = largest_of_128(tile, i, group * 2 * LANES, magnitude, every)
            for k in T.unroll(2 * PARTS):
                largest[k] = T.simd.vcmax(largest[k], every)
            for k in T.unroll(2 * PARTS):
                group = T.min(step * 2 * PARTS + k, 2 * units - 1)
                T.simd.vsts(groups[i, group], largest[k], every, dist=f"ONEPT_B{width}")


@T.macro
def join_slots(slots, groups, steps, ratio):
    """Writes the larger of each two slots, or the largest of each four."""
    all32 = T.simd.pset(32)
    for step in T.serial(steps):
        first = step * LANES * ratio
        part = T.simd.alloc_local(ratio, "int32")
        for k in T.unroll(ratio):
            part[k] = T.simd.vld(slots[0, first + k * LANES])
        for k in T.unroll(ratio // 2):
            a, b = T.simd.vdintlv(part[2 * k], part[2 * k + 1])
            part[k] = T.simd.vmax(a, b, all32)
        if ratio == 4:
            a, b = T.simd.vdintlv(part[0], part[1])
            part[0] = T.simd.vmax(a, b, all32)
        T.simd.vsts(groups[0, step * LANES], part[0], all32)


@T.macro
def spread_factors(inverse, factors, items, ratio):
    """Writes each inverse to the two or four slots of its group."""
    bits = 16 if inverse.dtype == "bfloat16" else 32
    lanes, every = REGISTER * 8 // bits, T.simd.pset(bits)
    for step in T.serial(items // lanes):
        part = T.simd.alloc_local(ratio, inverse.dtype)
        one = T.simd.vld(inverse[0, step * lanes])
        part[0], part[1] = T.simd.vintlv(one, one)
        if ratio == 4:
            part[2], part[3] = T.simd.vintlv(part[1], part[1])
            part[0], part[1] = T.simd.vintlv(part[0], part[0])
        for k in T.unroll(ratio):
            place = step * lanes * ratio + k * lanes
            T.simd.vsts(factors[0, place], part[k], every, dist=f"NORM_B{bits}")


def factors_at(factors: Any, i: Any, unit: Any) -> Any:
    """The factors of the slots of a unit in row i, one in each part of a register."""
    return T.simd.vld(factors[i, unit * (UNIT // SLOT)], dist="E2B_B32")


def factors_of_two(factors: Any, i: Any, a: Any, b: Any, slot: int) -> Any:
    """The factors of the slots of two units in row i; of small slots unit b is the one behind a."""
    if slot == SMALL:
        return small_factors(factors, i, a)
    return factors_at(factors, i, a), factors_at(factors, i, b)


def second_unit(a: Any, units: Any, slot: int) -> Any:
    """The unit behind unit a; without one, a once more, or zeros behind it if slots are small."""
    return a + 1 if slot == SMALL else T.min(a + 1, units - 1)


@T.macro
def scale_quads(v, factor_a, factor_b):
    """Multiplies two units by the factors of their slots."""
    all32 = T.simd.pset(32)
    for k in T.unroll(PARTS):
        v[k] = T.simd.vmul(v[k], factor_a, all32)
    for k in T.unroll(PARTS):
        v[PARTS + k] = T.simd.vmul(v[PARTS + k], factor_b, all32)


@T.macro
def codes_of_units(
    tile, factors, codes, rows, units, fmt, is_given=False, is_shared=False, in_quads=False,
    slot=SLOT, in_e4m3=False, place0=None, hidden=0,
):  # fmt: skip
    """Writes the codes nearest to value * inverse, two units at a time.

    Products with inverses of given scales may be above the largest code; with `is_shared` all rows
    have the same factors. With `in_quads` the tile holds registers as `load_quads` sets them.
    Factors have `slot` channels; `in_e4m3` they are inverses of e4m3 scales. With `place0`, that of
    the tile in a matrix of `hidden` columns, codes are rounded at random.
    """
    if place0 is not None:
        all32 = T.simd.pset(32)
        lanes = place_bits(all32)
    for i in T.serial(rows):
        for pair in T.serial(T.truncdiv(units + 1, 2)):
            v = T.simd.alloc_local(2 * PARTS, "float32")
            a = 2 * pair
            b = second_unit(a, units, slot)
            factor_a, factor_b = factors_of_two(factors, 0 if is_shared else i, a, b, slot)
            if in_quads:
                for k in T.unroll(PARTS):
                    v[k] = T.simd.vld(tile[i, a * UNIT + k * LANES])
                    v[PARTS + k] = T.simd.vld(tile[i, b * UNIT + k * LANES])
            else:
                load_quads(v, tile, i, a * UNIT)
                load_quads(v, tile, i, b * UNIT, PARTS)
            scale_quads(v, factor_a, factor_b)
            if place0 is not None:
                start = place0 + place_of(i, 0, hidden)
                store_at_random(v, lanes, start, codes, i, a * UNIT, b * UNIT, fmt)
            elif fmt == "e4m3" and in_e4m3:
                store_limited_e4m3(v, 0, factor_a, codes, i, a * UNIT)
                store_limited_e4m3(v, PARTS, factor_b, codes, i, b * UNIT)
            elif fmt == "e4m3":
                if is_given:
                    saturate(v, 2 * PARTS)
                store_e4m3(v, 0, codes, i, a * UNIT)
                store_e4m3(v, PARTS, codes, i, b * UNIT)
            else:
                store_e2m1(v, codes, i, a * UNIT, b * UNIT)


@T.macro
def numbers_of_units(tile, factors, powers, values, rows, units, fmt, slot=SLOT, in_e4m3=False):
    """Writes scale * (code nearest to value * inverse), two units at a time.

    Options are those of `codes_of_units`; the scale of a group with NaN is NaN.
    """
    for i in T.serial(rows):
        for pair in T.serial(T.truncdiv(units + 1, 2)):
            v = T.simd.alloc_local(2 * PARTS, "float32")
            a = 2 * pair
            b = second_unit(a, units, slot)
            factor_a, factor_b = factors_of_two(factors, i, a, b, slot)
            load_quads(v, tile, i, a * UNIT)
            load_quads(v, tile, i, b * UNIT, PARTS)
            scale_quads(v, factor_a, factor_b)
            if fmt == "e4m3":
                round_e4m3(v, sat=in_e4m3)
            else:
                round_e2m1(v)
            power_a, power_b = factors_of_two(powers, i, a, b, slot)
            scale_quads(v, power_a, power_b)
            store_quads(v, 0, values, i, a * UNIT)
            store_quads(v, PARTS, values, i, b * UNIT)


@T.macro
def load_two_units(v, tile, i, a, b):
    """Sets v to the 512 numbers of two units of row i, 64 in a register."""
    all16 = T.simd.pset(16)
    for k in T.unroll(PARTS):
        v[k] = values_at(tile, i, a * UNIT + k * LANES, all16)
    for k in T.unroll(PARTS):
        v[PARTS + k] = values_at(tile, i, b * UNIT + k * LANES, all16)


@T.macro
def codes_of_groups(tile, inverse, codes, rows, units, width):
    """Writes the e4m3 codes nearest to value * inverse of groups of 64 or 128, as they lie.

    Two units are loaded before the products of the two before them are converted.
    """
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    v, product = (T.simd.alloc_local(2 * PARTS, "float32") for _ in range(2))
    pairs = T.truncdiv(units + 1, 2)
    load_two_units(v, tile, 0, 0, T.min(1, units - 1))
    for i in T.serial(rows):
        for pair in T.serial(pairs):
            # NOTE: behind the last unit comes that one once more, behind the last pair its row's
            # first one, for nothing
            next_row, next_unit = T.alloc_var(T.int32), T.alloc_var(T.int32)
            next_row = T.if_then_else(pair + 1 < pairs, i, T.min(i + 1, rows - 1))
            next_unit = T.if_then_else(pair + 1 < pairs, 2 * pair + 2, 0)
            for h in T.unroll(2):
                unit = T.min(2 * pair + h, units - 1)
                for k in T.unroll(PARTS):
                    place = T.truncdiv(unit * UNIT + k * LANES, width)
                    factor = T.simd.vld(inverse[i, place], dist="BRC_B32")
                    product[h * PARTS + k] = T.simd.vmul(v[h * PARTS + k], factor, all32)
            load_two_units(v, tile, next_row, next_unit, T.min(next_unit + 1, units - 1))
            for h in T.unroll(2):
                unit = T.min(2 * pair + h, units - 1)
                for k in T.unroll(PARTS):
                    code = T.simd.vcvt(
                        product[h * PARTS + k], "float8_e4m3fn", all8, sat=False, part=0
                    )
                    T.simd.vsts(codes[i, unit * UNIT + k * LANES], code, all32, dist="PK4_B32")


@T.macro
def cast_rows(
    tile, codes, slots, factors, groups, inverse, scales, turned, rows, cols, units, floor_bits,
    round_sf, plan, powers=None, in_quads=False, multiple=LANES, place0=None, hidden=0,
):  # fmt: skip
    """Casts the first rows of a tile: `units` of 256 channels, of which `cols` exist.

    `cols` is a multiple of `multiple`; buffers are those of `token_cast`. What lies behind the last
    channel must be zeros. With `in_quads` the tile is fp32, as `codes_of_units` takes it, and
    `slots` are complete. `place0` and `hidden` are for random rounding, as there.
    """
    R, C = plan.rows, plan.cols
    pack, width, is_turned = plan.sf.word, plan.sf.block[1], plan.sf.layout.is_column_major
    slot, in_e4m3 = min(width, SLOT), plan.sf.dtype == "float8_e4m3fn"
    G, ratio = C // width, width // slot
    is_direct = width == 2 * LANES and not in_quads
    if slot == SMALL:
        magnitudes_of_small(tile, slots, rows, units)
    elif is_direct:
        magnitudes_of_128(tile, groups, rows, units)
    elif not in_quads:
        slot_magnitudes(tile, slots, rows, units)
    if not in_quads:
        T.simd.mem_bar("VST_VLD")
    # Scales
    if ratio > 1 and not is_direct:
        join_slots(slots, groups, R * G // LANES, ratio)
        T.simd.mem_bar("VST_VLD")
    scales_of_magnitudes(
        groups if ratio > 1 else slots, inverse if ratio > 1 else factors, scales,
        R * G, G, floor_bits, round_sf, MAX_VALUE[plan.fmt], tile.dtype == "bfloat16", in_e4m3,
    )  # fmt: skip
    if pack > 1 and multiple % (width * pack):
        T.simd.mem_bar("VST_VST")
        clear_last_words(scales, rows, T.truncdiv(cols + width - 1, width), pack)
    if is_turned or plan.mode != "sf":
        T.simd.mem_bar("VST_VLD")
    if is_turned:
        turn_scales(scales, turned, R * G // pack, G // pack, turned.shape[1])
    # Codes
    is_plain = not (in_quads or in_e4m3 or plan.stochastic)
    in_groups = ratio > 1 and (plan.mode, plan.fmt) == ("cast", "e4m3") and is_plain
    if plan.mode != "sf" and ratio > 1 and not in_groups:
        spread_factors(inverse, factors, R * G, ratio)
        if plan.mode == "round_trip":
            spread_factors(scales, powers, R * G, ratio)
        T.simd.mem_bar("VST_VLD")
    if plan.mode == "round_trip":
        numbers_of_units(
            tile, factors, powers if ratio > 1 else scales, codes, rows, units, plan.fmt, slot,
            in_e4m3,
        )  # fmt: skip
    elif plan.mode == "cast":
        if in_groups:
            codes_of_groups(tile, inverse, codes, rows, units, width)
        elif factors.dtype == "bfloat16" and slot == SMALL:
            e2m1_of_small(tile, factors, codes, rows, units)
        elif factors.dtype == "bfloat16":
            e2m1_of_products(tile, factors, codes, rows, units)
        else:
            codes_of_units(
                tile, factors, codes, rows, units, plan.fmt, in_quads=in_quads, slot=slot,
                in_e4m3=in_e4m3, place0=place0, hidden=hidden,
            )  # fmt: skip


@asc_kernel()
def token_cast(
    x, out, sf, floor_bits: T.int32, tasks: T.int32, across: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Casts [tokens, hidden] bf16 or fp32, hidden a multiple of 64; `across` tiles lie in a row.

    `sf` are the items of row-major scales, or the words of column-major ones. `plan` is by
    `plan_token_cast`; its mode ``sf`` writes scales only, ``round_trip`` numbers to `out`, which
    may be `x`, and no scales.
    """
    M, H, XS = T.dynamic("M, H, XS")
    OM, OW, OS, S0, S1, SS = T.dynamic("OM, OW, OS, S0, S1, SS")
    pack, is_turned = plan.sf.word, plan.sf.layout.is_column_major
    sf_dtype = f"int{8 * pack}" if is_turned and pack > 1 else plan.sf.dtype
    x: T.StridedTensor((M, H), (XS, 1), plan.x_dtype)
    out: T.StridedTensor((OM, OW), (OS, 1), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), sf_dtype)

    R, C = plan.rows, plan.cols
    width = plan.sf.block[1]
    slot = min(width, SLOT)
    G, ratio = C // width, width // slot
    # NOTE: 32 bytes behind each column, so that columns hit all banks
    least = MIN_PITCH // BYTES[sf_dtype]
    wide, pitch = (G // pack, max(R, 16, least) + least) if is_turned else (1, 32)
    # NOTE: behind the factors of the last half row of small groups lies what is read with them
    spare = 1 if slot == SMALL else 0
    # Values times powers of two are exact as bf16
    returns = plan.mode == "round_trip"
    is_nearest = not (returns or plan.stochastic)
    is_exact = round_sf and is_nearest and (plan.x_dtype, plan.fmt) == ("bfloat16", "e2m1")
    factor_dtype = "bfloat16" if is_exact else "float32"
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        codes = T.alloc_shared((R, C // plan.out_per_item), plan.out_dtype)
        slots_dtype = magnitude_dtype(plan) if slot == SMALL else "int32"
        slots = T.alloc_shared((R, C // slot), slots_dtype)
        factors = T.alloc_shared((R + spare, C // slot), factor_dtype)
        groups = T.alloc_shared((R, G if ratio > 1 else LANES), magnitude_dtype(plan))
        inverse = T.alloc_shared((R, G) if ratio > 1 else (1, 2 * LANES), factor_dtype)
        scales_dtype = "float32" if returns else plan.sf.dtype
        scales = T.alloc_shared((max(R, REGISTER // G) + spare, G), scales_dtype)
        turned = T.alloc_shared((wide, pitch), sf_dtype)
        powers = T.alloc_shared((R, C // SLOT) if returns and ratio > 1 else (1, LANES), T.float32)
        versions = {slots: 1, factors: 1, groups: 1, inverse: 1, powers: 1, tile: 2, codes: 2}
        T.annotate_buffer_versions(
            {**versions, scales: 1 if is_turned or returns else 2, turned: 2 if is_turned else 1}
        )
        with T.SimdVF():
            clear_magnitudes(slots, R * C // slot, C // slot)
            if ratio > 1:
                clear_magnitudes(groups, R * G, G)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            reused(tile, codes, slots, factors, groups, inverse, scales, turned, powers)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            T.copy(x[row0, col0], tile)
            with T.SimdVF():
                rows, cols = T.min(M - row0, R), T.min(H - col0, C)
                units = T.truncdiv(cols + UNIT - 1, UNIT)
                clear_behind(tile, rows, cols, STEP if slot == SMALL else UNIT)
                T.simd.mem_bar("VST_VLD")
                cast_rows(
                    tile, codes, slots, factors, groups, inverse, scales, turned, rows, cols,
                    units, floor_bits, round_sf, plan, powers,
                    place0=place_of(row0, col0, H) if plan.stochastic else None, hidden=H,
                )  # fmt: skip
            if plan.mode != "sf":
                T.copy(codes, out[row0, col0 // plan.out_per_item])
            if is_turned:
                first = T.truncdiv(col0, width * pack)
                T.copy(turned[0:wide, 0:R], sf[first : first + wide, row0 : row0 + R])
            elif not returns:
                first = T.truncdiv(col0, width)
                T.copy(scales[0:R, 0:G], sf[row0 : row0 + R, first : first + G])
