"""Scales of largest magnitudes on vector registers (tile_kernels.md section 3.2).

The kernels write the bits of each block's largest magnitude to its place; then all scales of a tile
are computed together. The rule is that of `scale_of_block` in `block_cast_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.registers_asc import LANES, store_numbers

__all__ = [
    "FACTORS", "clear_last_words", "clear_magnitudes", "factors_of_scales", "inverse_of_power",
    "inverse_of_scale", "numbers_of_scales", "place_of_slots", "scale_bits_at",
    "scales_of_magnitudes", "spread_lanes", "turn_scales",
]  # fmt: skip

# NOTE: products with the inverse of these lie between the same powers of two as the quotients;
# tried with every mantissa.
PRODUCTS_DO = (448.0, 6.0)
BITS = {"int16": 16, "int32": 32}
FACTORS = 32  # of a row by `factors_of_scales`


@T.macro
def clear_magnitudes(amax, items, pitch):
    """Writes zeros to all places, also to those between the rows of a tile's scales."""
    width = BITS[amax.dtype]
    lanes = 32 // width * LANES
    some = T.simd.pset(width, "PAT_ALL" if items >= lanes else f"PAT_VL{items}")
    zero = T.simd.vdup(T.cast(0, amax.dtype), amax.dtype, some)
    for step in T.serial(max(items // lanes, 1)):
        r, c = step * lanes // pitch, step * lanes % pitch
        T.simd.vsts(amax[r, c], zero, some, dist=f"NORM_B{width}")


def is_finite(value: Any, all32: Any) -> Any:
    """Lanes of a positive number that are neither infinity nor NaN."""
    return T.simd.vcmps(T.reinterpret(value, "int32x64"), T.int32(0x7F800000), all32, "lt")


@T.macro
def correct(quotient, over, under, one_over, all32):
    """Adds what a quotient of two registers lacks, `one_over` being near the inverse of `under`."""
    rest = T.alloc_var("float32x64")
    rest = over
    T.simd.vmula(rest, quotient[0], T.simd.vneg(under, all32), all32)
    T.simd.vmula(quotient[0], rest, one_over, all32)


@T.macro
def correct_quotient(quotient, largest, largest_code, all32):
    """Makes the product of `largest` and 1 / largest_code the exact quotient; infinity stays.

    NOTE: tried with every mantissa for 448, 6 and 65024.
    """
    most = T.simd.vdup(T.float32(largest_code), "float32", all32)
    tiny = T.simd.vdup(T.float32(1.0 / largest_code), "float32", all32)
    product = T.alloc_var("float32x64")
    product = quotient[0]
    correct(quotient, largest, most, tiny, all32)
    quotient[0] = T.simd.vsel(quotient[0], product, is_finite(largest, all32))


@T.macro
def invert(inverse, largest, largest_code, all32):
    """Sets inverse to the exact largest_code / largest; 0 for infinity.

    NOTE: tried with every mantissa and quotients of the hardware one unit off in the last place:
    one correction does but beside a power of two. TileLang's exact division takes twice the
    instructions.
    """
    most = T.simd.vdup(T.float32(largest_code), "float32", all32)
    given = T.alloc_var("float32x64")
    near = T.alloc_var("float32x64")
    given = T.simd.vdiv(most, largest, all32, precision="ftz_true")
    near = T.simd.vmuls(given, T.float32(1.0 / largest_code), all32)
    inverse[0] = given
    correct(inverse, most, largest, near, all32)
    correct(inverse, most, largest, near, all32)
    inverse[0] = T.simd.vsel(inverse[0], given, is_finite(largest, all32))


@T.macro
def invert_e4m3(inverse, scale, all32):
    """Sets inverse to the exact 1 / scale of e4m3 numbers that are not 0.

    NOTE: tried with every number and quotients of the hardware one unit off in the last place.
    """
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    near = T.alloc_var("float32x64")
    near = T.simd.vdiv(one, scale, all32, precision="ftz_true")
    inverse[0] = near
    correct(inverse, one, scale, near, all32)


@T.macro
def scales_of_magnitudes(
    amax, inverse, scales, items, pitch, floor_bits, round_sf, largest_code=448.0, is_bf16=True,
    in_e4m3=False,
):  # fmt: skip
    """Writes scale (or its exponent) and inverse of every place of a tile.

    `amax` holds the bits of bf16 or fp32 numbers as int32, or those of bf16 as int16. `scales` are
    fp32; or exponents as uint8, int16 or int32 with `round_sf`. Inverses are fp32, with `round_sf`
    also bf16. With `in_e4m3` scales are rounded to e4m3, which they may be stored as; none may
    become 0.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    if in_e4m3:
        all8 = T.simd.pset(8)
    for step in T.serial(items // LANES):
        r, c = step * LANES // pitch, step * LANES % pitch
        if amax.dtype == "int16":
            bits = T.reinterpret(T.simd.vld(amax[r, c], dist="UNPK_B16"), "int32x64")
        else:
            bits = T.simd.vld(amax[r, c])
        if is_bf16:
            bits = T.simd.vshls(bits, 16, all32)
        largest = T.reinterpret(T.simd.vmaxs(bits, floor_bits, all32), "float32x64")
        if round_sf:
            quotient = T.simd.alloc_local(1, "float32")
            quotient[0] = T.simd.vmuls(largest, T.float32(1.0 / largest_code), all32)
            if largest_code not in PRODUCTS_DO:
                correct_quotient(quotient, largest, largest_code, all32)
            below = T.simd.vadds(T.reinterpret(quotient[0], "int32x64"), T.int32(-1), all32)
            above = T.simd.vadds(T.simd.vshrs(below, 23, all32), T.int32(1), all32)
            exponent = T.simd.vmins(above, T.int32(255), all32)
            mirrored = T.simd.vsub(T.simd.vdup(T.int32(254), "int32", all32), exponent, all32)
            rest = T.simd.vshls(T.simd.vmaxs(mirrored, T.int32(0), all32), 23, all32)
            store_numbers(T.reinterpret(rest, "float32x64"), inverse, r, c, all16, all32)
            if scales.dtype == "uint8":
                T.simd.vsts(
                    scales[r, c], T.reinterpret(exponent, "uint8x256"), all32, dist="PK4_B32"
                )
            elif scales.dtype == "int16":
                T.simd.vsts(
                    scales[r, c], T.reinterpret(exponent, "int16x128"), all32, dist="PK_B32"
                )
            elif scales.dtype == "int32":
                T.simd.vsts(scales[r, c], exponent, all32)
            else:
                power = T.reinterpret(T.simd.vshls(exponent, 23, all32), "float32x64")
                T.simd.vsts(scales[r, c], power, all32)
        else:
            quotient, other = (T.simd.alloc_local(1, "float32") for _ in range(2))
            quotient[0] = T.simd.vmuls(largest, T.float32(1.0 / largest_code), all32)
            correct_quotient(quotient, largest, largest_code, all32)
            if in_e4m3:
                limited = T.simd.vmins(quotient[0], T.float32(448.0), all32)
                code = T.simd.vcvt(limited, "float8_e4m3fn", all8, sat=False, part=0)
                quotient[0] = T.simd.vcvt(code, "float32", all8, part=0)
                invert_e4m3(other, quotient[0], all32)
            else:
                invert(other, largest, largest_code, all32)
            T.simd.vsts(inverse[r, c], other[0], all32)
            if scales.dtype == "float8_e4m3fn":
                T.simd.vsts(scales[r, c], code, all32, dist="PK4_B32")
            else:
                T.simd.vsts(scales[r, c], quotient[0], all32)


@T.macro
def clear_last_words(scales, rows, groups, pack):
    """Writes 0 to the bytes of each row's last word that stand for no group."""
    all8 = T.simd.pset(8)
    zero = T.simd.vdup(T.uint8(0), "uint8", all8)
    for i in T.serial(rows):
        for b in T.serial(T.truncmod(4 * pack - T.truncmod(groups, pack), pack)):
            T.simd.vsts(scales[i, groups + b], zero, all8, dist="ONEPT_B8")


@T.macro
def turn_scales(scales, turned, items, wide, pitch):
    """Writes the items of rows of `wide`, a power of two, to columns `pitch` apart."""
    is_e4m3 = turned.dtype == "float8_e4m3fn"
    bits = 16 if is_e4m3 or turned.dtype == "int16" else 32
    lanes, kind = 2048 // bits, f"int{bits}"
    every = T.simd.pset(bits)
    some = T.simd.pset(bits, f"PAT_VL{min(items, lanes)}")
    # Where the items of the first register go; those of others are as far apart
    place, last = T.simd.vci(T.cast(0, kind), kind), min(wide, lanes) - 1
    low = T.simd.vdup(T.cast(last, kind), kind, every)
    column = T.simd.vmuls(T.simd.vand(place, low, every), T.cast(pitch, kind), every)
    first = T.simd.vadd(T.simd.vshrs(place, last.bit_length(), every), column, every)
    for step in T.serial(max(items // lanes, 1)):
        item = step * lanes
        behind = T.truncdiv(item, wide) + T.truncmod(item, wide) * pitch
        index = T.simd.vadds(first, T.cast(behind, kind), every)
        per_item = 1 if scales.dtype == turned.dtype else bits // 8
        dist = "UNPK_B8" if is_e4m3 else "NORM"  # of bytes those in even places are taken
        value = T.simd.vld(scales[0, item * per_item], dist=dist)
        if scales.dtype != turned.dtype:
            value = T.reinterpret(value, f"{kind}x{lanes}")
        T.simd.vscatter(value, turned[0, 0], T.reinterpret(index, f"u{kind}x{lanes}"), some)


def scale_bits_at(
    scales: Any, i: Any, place: Any, band: Any, some: Any, some16: Any, gathers: bool = False
) -> Any:
    """The scales of row i, a group a lane: exponents, or the bits of numbers (int32).

    Those of row-major layouts are read in a row, without `gathers`.
    """
    is_turned = band.layout.is_column_major
    step = scales.shape[1]  # to the next row
    if is_turned:
        step = band.layout.pack if band.dtype == "uint8" else 1
    if band.dtype == "uint8":
        if not (is_turned or gathers):
            bytes_ = T.simd.vld(scales[i, 0], dist="UNPK4_B8")
            return T.reinterpret(bytes_, "int32x64")
        index = T.simd.vadds(place, T.cast(i * step, "uint16"), some16)
        bytes_ = T.simd.vgather2(scales[0, 0], index, some16)
        return T.reinterpret(T.simd.vunpack(bytes_, "LOWER"), "int32x64")
    if not is_turned:
        return T.reinterpret(T.simd.vld(scales[i, 0]), "int32x64")
    index = T.simd.vadds(place, T.cast(i, "uint32"), some)
    return T.reinterpret(T.simd.vgather2(scales[0, 0], index, some), "int32x64")


def place_of_slots(pitch: int, band: Any, bits: int, every: Any, slots: int = LANES) -> Any:
    """Where the scale of each lane lies: `slots` groups of a row, then those of the next row.

    `pitch` parts columns of words, or rows.
    """
    kind = f"int{bits}"
    lane = T.simd.vci(T.cast(0, kind), kind)
    low = T.simd.vdup(T.cast(slots - 1, kind), kind, every)
    slot = T.simd.vand(lane, low, every)
    row = T.simd.vshrs(lane, slots.bit_length() - 1, every)
    if band.layout.is_column_major:
        pack = band.word
        byte = T.simd.vand(slot, T.simd.vdup(T.cast(pack - 1, kind), kind, every), every)
        column = T.simd.vmuls(T.simd.vshrs(slot, pack // 2, every), T.cast(pitch, kind), every)
        slot = T.simd.vadd(column, byte, every)
        pitch = pack
    place = T.simd.vadd(slot, T.simd.vmuls(row, T.cast(pitch, kind), every), every)
    return T.reinterpret(place, f"u{kind}x{2048 // bits}")


@T.macro
def spread_lanes(value, ratio):
    """Writes each of the first lanes to two or four neighbours."""
    for _ in T.unroll({1: 0, 2: 1, 4: 2}[ratio]):
        left, _ = T.simd.vintlv(value[0], value[0])
        value[0] = left


@T.macro
def factors_of_scales(scales, factors, rows, groups, ratio, pitch, band):
    """Writes the numbers that given scales stand for, each to the `ratio` slots of its group.

    Scales lie as in `scale_bits_at`; `factors` are fp32 [rows, FACTORS], zeros behind the last.
    """
    bits = 16 if band.dtype == "uint8" else 32
    all32, half = T.simd.pset(32), T.simd.pset(32, "PAT_VL32")
    some, some16 = T.simd.update_mask(groups, 32), T.simd.update_mask(groups, 16)
    zero = T.simd.vdup(T.int32(0), "int32", all32)
    every = T.simd.pset(bits)
    place = place_of_slots(pitch, band, bits, every)
    value = T.simd.alloc_local(1, "int32")
    for i in T.serial(rows):
        value[0] = scale_bits_at(scales, i, place, band, some, some16)
        if band.dtype == "uint8":
            value[0] = T.simd.vshls(value[0], 23, all32)
        value[0] = T.simd.vsel(value[0], zero, some)
        spread_lanes(value, ratio)
        T.simd.vsts(factors[i, 0], T.reinterpret(value[0], "float32x64"), half)


def inverse_of_power(exponent: Any, all32: Any) -> Any:
    """1 / 2 ** (exponent - 127) as float32; 0 stands for 0, 255 for infinity."""
    is_zero = T.simd.vcmps(exponent, T.int32(0), all32, "eq")
    is_most = T.simd.vcmps(exponent, T.int32(254), all32, "eq")
    mirrored = T.simd.vsub(T.simd.vdup(T.int32(254), "int32", all32), exponent, all32)
    bits = T.simd.vshls(T.simd.vmaxs(mirrored, T.int32(0), all32), 23, all32)
    subnormal = T.simd.vdup(T.int32(0x00400000), "int32", all32)
    infinity = T.simd.vdup(T.int32(0x7F800000), "int32", all32)
    bits = T.simd.vsel(infinity, T.simd.vsel(subnormal, bits, is_most), is_zero)
    return T.reinterpret(bits, "float32x64")


def inverse_of_scale(scale: Any, all32: Any) -> Any:
    """1 / scale of float32.

    NOTE: the division flushes subnormal numbers to zero; so scales that are, or whose inverses are,
    are divided times a power of two.
    """
    far = 2.0**24
    small = T.simd.vcmps(scale, T.float32(2.0**-126), all32, "lt")
    large = T.simd.vcmps(scale, T.float32(2.0**126), all32, "gt")
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    less = T.simd.vsel(T.simd.vmuls(scale, T.float32(1 / far), all32), scale, large)
    near = T.simd.vsel(T.simd.vmuls(scale, T.float32(far), all32), less, small)
    quotient = T.simd.vdiv(one, near, all32, precision="exact")
    less = T.simd.vsel(T.simd.vmuls(quotient, T.float32(1 / far), all32), quotient, large)
    return T.simd.vsel(T.simd.vmuls(quotient, T.float32(far), all32), less, small)


def _number(scale: Any, band: Any, inverts: bool, all32: Any) -> Any:
    """The numbers that scales as `scale_bits_at` gives them stand for, or their inverses."""
    if band.dtype == "uint8":
        if inverts:
            return inverse_of_power(scale, all32)
        return T.reinterpret(T.simd.vshls(scale, 23, all32), "float32x64")
    number = T.reinterpret(scale, "float32x64")
    return inverse_of_scale(number, all32) if inverts else number


@T.macro
def numbers_of_scales(scales, numbers, items, groups, pitch, band, inverts):
    """Writes the first `items` scales as fp32, those of a row behind those of the one before.

    A row has `groups`, a power of two up to 32. Row-major fp32 scales lie without gaps, others as
    in `scale_bits_at`. With `inverts` they become 1 / scale.
    """
    all32 = T.simd.pset(32)
    bits = 16 if band.dtype == "uint8" else 32
    every = T.simd.pset(bits)
    place = place_of_slots(pitch, band, bits, every, groups)
    for step in T.serial(T.truncdiv(items + LANES - 1, LANES)):
        some = T.simd.update_mask(items - step * LANES, 32)
        some16 = T.simd.update_mask(items - step * LANES, 16)
        scale = scale_bits_at(scales, step * (LANES // groups), place, band, some, some16, True)
        T.simd.vsts(numbers[0, step * LANES], _number(scale, band, inverts, all32), all32)
