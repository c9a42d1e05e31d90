"""The fast kernel of the exact change from e2m1 to e4m3, on vector registers.

It takes scales of 32 channels of a row. A tile is whole output blocks. The largest exponent of a
block sets its new scale; then a table gives the new byte of each code and difference of exponents,
256 of them at a time. Other blocks are in `per_block_cast_lossless_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import require
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH
from tile_kernels.quant.per_block_cast_lossless_asc import FOOTROOM, HEADROOM, SMALLEST
from tile_kernels.quant.quads_asc import SLOT, UNIT, clear_behind
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import (
    place_of_slots,
    scale_bits_at,
    turn_scales,
)

__all__ = ["e2m1_to_e4m3"]

CODES = 16  # of e2m1; the table has as many entries for each difference of exponents


@T.macro
def fill_table(table):
    """Writes the e4m3 byte of code `entry` % 16 times 2 ** (entry // 16 - FOOTROOM)."""
    all32 = T.simd.pset(32)
    for quarter in T.serial(table.shape[0] // LANES):
        entry = T.simd.vci(quarter * LANES, "int32")
        sign = T.simd.vand(entry, T.simd.vdup(T.int32(8), "int32", all32), all32)
        magnitude = T.simd.vand(entry, T.simd.vdup(T.int32(7), "int32", all32), all32)
        # Exponent and first bit of the mantissa, then the shift of the exponent; 0.5 is normal
        steps = T.simd.vshls(T.simd.vadds(T.simd.vshrs(entry, 4, all32), 1, all32), 3, all32)
        moved = T.simd.vadd(T.simd.vshls(magnitude, 2, all32), steps, all32)
        half = T.simd.vsel(steps, moved, T.simd.vcmps(magnitude, T.int32(1), all32, "eq"))
        zero = T.simd.vdup(T.int32(0), "int32", all32)
        byte = T.simd.vsel(zero, half, T.simd.vcmps(magnitude, T.int32(0), all32, "eq"))
        with_sign = T.simd.vor(byte, T.simd.vshls(sign, 4, all32), all32)
        T.simd.vsts(
            table[quarter * LANES], T.reinterpret(with_sign, "uint8x256"), all32, dist="PK4_B32"
        )


def exponents_of(bits: Any, band: Any, all32: Any) -> Any:
    """Exponent bytes (int32) of the scales."""
    return bits if band.dtype == "uint8" else T.simd.vshrs(bits, 23, all32)


def other_bits(bits: Any, all32: Any, some: Any) -> Any:
    """What no positive power of two has, of the bits of numbers; 0 for powers of two."""
    rest = T.simd.vand(bits, T.simd.vdup(T.int32(-0x7F800001), "int32", all32), some)
    zero = T.simd.vdup(T.int32(0), "int32", all32)
    return T.simd.vsel(zero, rest, T.simd.vcmps(bits, T.int32(SMALLEST), all32, "eq"))


def distances_in_block(slots: int, each: int, ratio: int) -> tuple[int, ...]:
    """The bits in which lanes of the same block differ: of the group, then of the row."""
    bits = (1, 2, 4, 8, 16, 32)
    return tuple(bit for bit in bits if bit < ratio or slots <= bit < slots * each)


def other_lanes(value: Any, bytes_: Any, distance: int, all8: Any) -> Any:
    """The lanes whose number differs in the bit `distance`."""
    apart = T.simd.vdup(T.int8(4 * distance - (256 if distance > 31 else 0)), "int8", all8)
    index = T.reinterpret(T.simd.vxor(bytes_, apart, all8), "uint8x256")
    return T.reinterpret(T.simd.vselr(T.reinterpret(value, "uint8x256"), index), "int32x64")


@T.macro
def range_of_block(scales_in, place, first, rows, valid, most, least, faults, form, band):
    """Sets most and least to the extreme exponents of the block of each lane."""
    slots, each, ratio, gathers = form
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    far = T.simd.vdup(T.int32(255), "int32", all32)
    zero = T.simd.vdup(T.int32(0), "int32", all32)
    most[0] = zero
    least[0] = far
    for step in T.serial(T.truncdiv(rows + each - 1, each)):
        used = T.min((rows - step * each) * slots, LANES)
        some, some16 = T.simd.update_mask(used, 32), T.simd.update_mask(used, 16)
        bits = scale_bits_at(scales_in, first + step * each, place, band, some, some16, gathers)
        both = T.simd.pand(valid, some, all32)
        exponent = exponents_of(bits, band, all32)
        most[0] = T.simd.vmax(most[0], T.simd.vsel(exponent, zero, both), all32)
        least[0] = T.simd.vmin(least[0], T.simd.vsel(exponent, far, both), all32)
        if band.dtype != "uint8":
            faults[0] = T.simd.vor(faults[0], other_bits(bits, all32, both), all32)
    bytes_ = T.simd.vci(T.int8(0), "int8")
    for distance in distances_in_block(slots, each, ratio):
        other = other_lanes(most[0], bytes_, distance, all8)
        most[0] = T.simd.vmax(most[0], other, all32)
        less = other_lanes(least[0], bytes_, distance, all8)
        least[0] = T.simd.vmin(least[0], less, all32)


@T.macro
def store_scales(most, scales, b, ratio):
    """Writes the new scales of a row of blocks: exponents, or powers of two."""
    all32 = T.simd.pset(32)
    first = T.simd.alloc_local(1, "int32")
    first[0] = most[0]
    for _ in T.unroll({1: 0, 2: 1, 4: 2}[ratio]):
        even, _ = T.simd.vdintlv(first[0], first[0])
        first[0] = even
    if scales.dtype == "uint8":
        T.simd.vsts(scales[b, 0], T.reinterpret(first[0], "uint8x256"), all32, dist="PK4_B32")
    else:
        smallest = T.simd.vdup(T.int32(SMALLEST), "int32", all32)
        is_least = T.simd.vcmps(first[0], T.int32(0), all32, "eq")
        power = T.simd.vsel(smallest, T.simd.vshls(first[0], 23, all32), is_least)
        T.simd.vsts(scales[b, 0], T.reinterpret(power, "float32x64"), all32)


@T.macro
def store_shifts(scales_in, place, shifts, first, rows, most, form, band):
    """Writes where in the table the codes of each 32 channels begin, for both bytes of a lane."""
    slots, each, _, gathers = form
    all32 = T.simd.pset(32)
    for step in T.serial(T.truncdiv(rows + each - 1, each)):
        used = T.min((rows - step * each) * slots, LANES)
        some, some16 = T.simd.update_mask(used, 32), T.simd.update_mask(used, 16)
        i = first + step * each
        bits = scale_bits_at(scales_in, i, place, band, some, some16, gathers)
        above = T.simd.vsub(exponents_of(bits, band, all32), most[0], all32)
        start = T.simd.vshls(T.simd.vadds(above, T.int32(FOOTROOM), all32), 4, all32)
        both = T.simd.vor(start, T.simd.vshls(start, 8, all32), all32)
        T.simd.vsts(shifts[i, 0], T.reinterpret(both, "uint16x128"), all32, dist="PK_B32")


@T.macro
def codes_of_tile(tile, table, shifts, codes, rows, units):
    """Looks up the new bytes of 256 codes at a time."""
    all8, all16 = T.simd.pset(8), T.simd.pset(16)
    low = T.simd.vdup(T.uint16(0x000F), "uint16", all16)
    high = T.simd.vdup(T.uint16(0x0F00), "uint16", all16)
    entries = T.simd.vld(table[0])
    for i in T.serial(rows):
        for u in T.serial(units):
            # Each byte twice: for the code in its lower half and for the one in its upper half
            twice = T.simd.vld(tile[i, u * (UNIT // 2)], dist="US_B8")
            pair = T.reinterpret(twice, "uint16x128")
            start = T.simd.vld(shifts[i, u * (UNIT // SLOT)], dist="E2B_B16")
            second = T.simd.vand(T.simd.vshrs(pair, 4, all16), high, all16)
            both = T.simd.vor(T.simd.vand(pair, low, all16), second, all16)
            index = T.reinterpret(T.simd.vor(both, start, all16), "uint8x256")
            byte = T.simd.vselr(entries, index)
            T.simd.vsts(
                codes[i, u * UNIT], T.reinterpret(byte, "float8_e4m3fnx256"), all8, dist="NORM_B8"
            )


@asc_kernel()
def e2m1_to_e4m3(x, sf_in, out, sf, tasks: T.int32, across: T.int32, plan: Any = None):
    """Writes e4m3 codes and scales that stand for the same numbers.

    `plan` is by `plan_lossless`. `sf_in` are items, `sf` the items of row-major scales or the words
    of column-major ones.
    """
    M, XW, XS, HW = T.dynamic("M, XW, XS, HW")
    I0, I1, IS, S0, S1, SS = T.dynamic("I0, I1, IS, S0, S1, SS")
    pack, is_turned = plan.sf.word, plan.sf.layout.is_column_major
    sf_dtype = f"int{8 * pack}" if is_turned and pack > 1 else plan.sf.dtype
    x: T.StridedTensor((M, XW), (XS, 1), T.int8)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), plan.sf_in.dtype)
    out: T.Tensor((M, HW), T.float8_e4m3fn)
    sf: T.StridedTensor((S0, S1), (SS, 1), sf_dtype)

    R, C = plan.rows, plan.cols
    BM, BK = plan.sf.block
    blocks, ratio = R // BM, BK // SLOT
    t0, t1 = plan.sf_in.tile(R, C)
    is_in_turned = plan.sf_in.layout.is_column_major
    # Rows whose scales share a register; blocks of one row have one
    slots = C // SLOT
    each = LANES // slots if LANES // slots <= BM else 1
    row_pitch = LANES if each == 1 else max(slots, MIN_PITCH // BYTES[plan.sf_in.dtype])
    in_pitch = plan.sf_in.pitch(R, C) if is_in_turned else row_pitch
    form = (slots, each, ratio, each > 1 and row_pitch > slots)
    place_bits = 16 if plan.sf_in.dtype == "uint8" else 32
    turned_rows, turned_pitch = (LANES // pack, max(blocks, 16)) if is_turned else (1, 32)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C // 2), T.int8)
        codes = T.alloc_shared((R, C), T.float8_e4m3fn)
        scales_in = T.alloc_shared((max(t0, LANES), in_pitch), plan.sf_in.dtype)
        shifts = T.alloc_shared((R, LANES // each), T.uint16)
        scales = T.alloc_shared((max(blocks, 4), LANES), plan.sf.dtype)
        turned = T.alloc_shared((turned_rows, turned_pitch), sf_dtype)
        table = T.alloc_shared((4 * LANES,), T.uint8)
        seen = T.alloc_shared((LANES,), T.int32)
        T.annotate_buffer_versions({
            tile: plan.stages, codes: plan.stages, scales_in: 2, shifts: 1, table: 1, seen: 1,
            scales: 1 if is_turned else 2, turned: 2 if is_turned else 1,
        })  # fmt: skip
        with T.SimdVF():
            all32 = T.simd.pset(32)
            fill_table(table)
            T.simd.vsts(seen[0], T.simd.vdup(T.int32(0), "int32", all32), all32)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            i0, i1 = plan.sf_in.layout.items(row0, T.truncdiv(col0, SLOT))
            T.copy(x[row0, T.truncdiv(col0, 2)], tile)
            T.copy(sf_in[i0 : i0 + t0, i1 : i1 + t1], scales_in[0:t0, 0:t1])
            with T.SimdVF():
                all32, every = T.simd.pset(32), T.simd.pset(place_bits)
                rows, cols = T.min(M - row0, R), T.min(HW - col0, C)
                place = place_of_slots(in_pitch, plan.sf_in, place_bits, every, slots)
                lane = T.simd.vci(T.int32(0), "int32")
                last = T.simd.vdup(T.int32(slots - 1), "int32", all32)
                slot = T.simd.vand(lane, last, all32)
                valid = T.simd.vcmps(slot, T.truncdiv(cols, SLOT), all32, "lt")
                most, least, faults = (T.simd.alloc_local(1, "int32") for _ in range(3))
                clear_behind(tile, rows, cols)
                faults[0] = T.simd.vld(seen[0])
                for b in T.serial(T.truncdiv(rows + BM - 1, BM)):
                    # Scales
                    high = T.min(rows - b * BM, BM)
                    range_of_block(
                        scales_in, place, b * BM, high, valid, most, least, faults, form,
                        plan.sf_in,
                    )  # fmt: skip
                    most[0] = T.simd.vmaxs(most[0], T.int32(HEADROOM), all32)
                    most[0] = T.simd.vadds(most[0], T.int32(-HEADROOM), all32)
                    over = T.simd.vsub(most[0], least[0], all32)
                    beyond = T.simd.vadds(over, T.int32(-FOOTROOM), all32)
                    faults[0] = T.simd.vor(
                        faults[0], T.simd.vmaxs(beyond, T.int32(0), all32), all32
                    )
                    store_scales(most, scales, b, ratio)
                    store_shifts(scales_in, place, shifts, b * BM, high, most, form, plan.sf_in)
                T.simd.vsts(seen[0], faults[0], all32)
                # NOTE: lanes behind the last block are no valid ones, so the bytes that fill up its
                # word are 0
                T.simd.mem_bar("VST_VLD")
                if is_turned:
                    turn_scales(scales, turned, blocks * LANES // pack, LANES // pack, turned_pitch)
                # Codes
                codes_of_tile(tile, table, shifts, codes, rows, T.truncdiv(cols + UNIT - 1, UNIT))
            T.copy(codes, out[row0, col0])
            o0, o1 = T.truncdiv(row0, BM), T.truncdiv(col0, BK)
            wide = C // BK
            if is_turned:
                words = wide // pack
                first = T.truncdiv(o1, pack)
                T.copy(turned[0:words, 0:blocks], sf[first : first + words, o0 : o0 + blocks])
            else:
                T.copy(scales[0:blocks, 0:wide], sf[o0 : o0 + blocks, o1 : o1 + wide])
        with T.SimtVF(threads=LANES):
            require(seen[T.get_thread_binding()] == 0)
