"""256 numbers of a row on vector registers: register k of four holds the elements 4 j + k.

In this order one load brings the factors of eight groups of 32 channels to their lanes, bytes of
four registers join without a permutation, and the largest magnitude of each group is that of 32
bytes of lanes. Shared by the casts whose scales belong to single rows (tile_kernels.md section 3).
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.registers_asc import LANES

__all__ = [
    "PARTS", "SLOT", "UNIT", "clear_behind", "e2m1_of_products", "larger", "largest_of_128",
    "load_quads", "round_e2m1", "round_e4m3", "slot_magnitudes", "store_e2m1", "store_e4m3",
    "store_limited_e4m3", "store_quads",
]  # fmt: skip

UNIT = 256  # elements at a time
PARTS = 4  # registers they fill
SLOT = 32  # channels whose largest magnitude is found at once


@T.macro
def clear_behind(tile, rows, cols, unit=UNIT):
    """Writes zeros behind `cols` columns up to the end of a unit: they change no magnitude."""
    width = {"float32": 32, "bfloat16": 16, "int8": 8, "uint8": 8}[tile.dtype]
    # A byte holds two codes
    items = 2 if tile.dtype == "int8" else 1
    some = T.simd.pset(width, f"PAT_VL{LANES // items}")
    zero = T.simd.vdup(T.cast(0, tile.dtype), tile.dtype, some)
    chunks = T.truncmod(T.truncdiv(unit - T.truncmod(cols, unit), LANES), unit // LANES)
    for i in T.serial(rows):
        for c in T.serial(chunks):
            place = T.truncdiv(cols + c * LANES, items)
            T.simd.vsts(tile[i, place], zero, some, dist=f"NORM_B{width}")


@T.macro
def load_quads(v, tile, i, j, at=0):
    """Sets v[at : at + 4] to the 256 numbers of row i from column j on."""
    all16 = T.simd.pset(16)
    if tile.dtype == "float32":
        e0, o0 = T.simd.vld2(tile[i, j], "DINTLV_B32")
        e1, o1 = T.simd.vld2(tile[i, j + UNIT // 2], "DINTLV_B32")
        v[at], v[at + 2] = T.simd.vdintlv(e0, e1)
        v[at + 1], v[at + 3] = T.simd.vdintlv(o0, o1)
    else:
        even, odd = T.simd.vld2(tile[i, j], "DINTLV_B16")
        v[at] = T.simd.vcvt(even, "float32", all16, part=0)
        v[at + 1] = T.simd.vcvt(odd, "float32", all16, part=0)
        v[at + 2] = T.simd.vcvt(even, "float32", all16, part=1)
        v[at + 3] = T.simd.vcvt(odd, "float32", all16, part=1)


@T.macro
def store_quads(v, at, values, i, j):
    """Writes v[at : at + 4] to row i from column j on, rounded to bf16 or as fp32."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    if values.dtype == "float32":
        a, b = T.simd.vintlv(v[at], v[at + 2])
        c, d = T.simd.vintlv(v[at + 1], v[at + 3])
        q0, q1 = T.simd.vintlv(a, c)
        q2, q3 = T.simd.vintlv(b, d)
        T.simd.vsts(values[i, j], q0, all32)
        T.simd.vsts(values[i, j + LANES], q1, all32)
        T.simd.vsts(values[i, j + 2 * LANES], q2, all32)
        T.simd.vsts(values[i, j + 3 * LANES], q3, all32)
    else:
        left, right = T.simd.vintlv(
            _joined(v[at], v[at + 2], all16), _joined(v[at + 1], v[at + 3], all16)
        )
        T.simd.vsts(values[i, j], left, all16, dist="NORM_B16")
        T.simd.vsts(values[i, j + 2 * LANES], right, all16, dist="NORM_B16")


def _joined(a: Any, b: Any, all16: Any) -> Any:
    """Registers a and b rounded to bf16, in even and odd lanes."""
    even = T.simd.vcvt(a, "bfloat16", all16, sat=False, part=0)
    odd = T.simd.vcvt(b, "bfloat16", all16, sat=False, part=1)
    both = T.simd.vor(_halves(even), _halves(odd), all16)
    return T.reinterpret(both, "bfloat16x128")


def larger(a: Any, b: Any, magnitude: Any, mask: Any) -> Any:
    """The bits of the larger magnitudes of two registers."""
    kind = f"int{2048 // a.dtype.lanes}x{a.dtype.lanes}"
    a = T.simd.vand(T.reinterpret(a, kind), magnitude, mask)
    return T.simd.vmax(a, T.simd.vand(T.reinterpret(b, kind), magnitude, mask), mask)


def _largest_lanes(tile: Any, i: Any, j: Any, magnitude: Any, every: Any) -> Any:
    """Largest magnitudes of a unit so that each 32 channels have 32 bytes of lanes."""
    if tile.dtype == "bfloat16":
        return larger(*T.simd.vld2(tile[i, j], "DINTLV_B16"), magnitude, every)
    a = larger(*T.simd.vld2(tile[i, j], "DINTLV_B32"), magnitude, every)
    b = larger(*T.simd.vld2(tile[i, j + UNIT // 2], "DINTLV_B32"), magnitude, every)
    return T.simd.vmax(*T.simd.vdintlv(a, b), every)


def largest_of_128(tile: Any, i: Any, j: Any, magnitude: Any, every: Any) -> Any:
    """The bits of the magnitudes of 128 channels; of fp32 the larger of each two."""
    if tile.dtype == "bfloat16":
        return T.simd.vand(T.reinterpret(T.simd.vld(tile[i, j]), "int16x128"), magnitude, every)
    a, b = T.simd.vld(tile[i, j]), T.simd.vld(tile[i, j + LANES])
    return larger(a, b, magnitude, every)


@T.macro
def slot_magnitudes(tile, slots, rows, units):
    """Writes the bits of the largest magnitude of each 32 channels to `slots` (int32).

    They are those of bf16 or fp32 numbers. Each step is done for four units, so that no instruction
    waits long for its operands; behind the last unit it is that one once more.
    """
    width = 32 if tile.dtype == "float32" else 16
    every, eight = T.simd.pset(width), T.simd.pset(32, "PAT_VL8")
    magnitude = T.simd.vdup(
        T.int32(0x7FFFFFFF) if width == 32 else T.int16(0x7FFF), f"int{width}", every
    )
    largest = T.simd.alloc_local(PARTS, f"int{width}")
    for i in T.serial(rows):
        for step in T.serial(T.truncdiv(units + PARTS - 1, PARTS)):
            first = step * PARTS
            for k in T.unroll(PARTS):
                u = T.min(first + k, units - 1)
                largest[k] = _largest_lanes(tile, i, u * UNIT, magnitude, every)
            for k in T.unroll(PARTS):
                largest[k] = T.simd.vcgmax(largest[k], every)
            for k in T.unroll(PARTS):
                place = T.min(first + k, units - 1) * (UNIT // SLOT)
                bits = largest[k] if width == 32 else T.simd.vunpack(largest[k], "LOWER")
                T.simd.vsts(slots[i, place], bits, eight, extent=UNIT // SLOT)


def _e4m3_part(value: Any, k: int, all8: Any, sat: bool = False) -> Any:
    code = T.simd.vcvt(value, "float8_e4m3fn", all8, sat=sat, part=k)
    return T.reinterpret(code, "int32x64")


def _e4m3_quad(v: Any, at: int, all8: Any, all32: Any, sat: bool = False) -> Any:
    """The codes of v[at : at + 4], four in a lane (int32)."""
    part = [_e4m3_part(v[at + k], k, all8, sat) for k in range(PARTS)]
    left = T.simd.vor(part[0], part[1], all32)
    return T.simd.vor(left, T.simd.vor(part[2], part[3], all32), all32)


@T.macro
def store_e4m3(v, at, codes, i, j):
    """Writes the e4m3 numbers nearest to v[at : at + 4], none above 448; NaN stays NaN."""
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    quad = _e4m3_quad(v, at, all8, all32)
    T.simd.vsts(codes[i, j], T.reinterpret(quad, "float8_e4m3fnx256"), all8, dist="NORM_B8")


@T.macro
def store_limited_e4m3(v, at, factor, codes, i, j):
    """Writes the e4m3 numbers nearest to v[at : at + 4], at most +-448; NaN where `factor` is NaN.

    NOTE: a conversion that saturates makes 0 of NaN.
    """
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    nan = T.simd.vdup(T.int32(0x7F7F7F7F), "int32", all32)
    limited = _e4m3_quad(v, at, all8, all32, sat=True)
    quad = T.simd.vsel(nan, limited, T.simd.vcmp(factor, factor, all32, "ne"))
    T.simd.vsts(codes[i, j], T.reinterpret(quad, "float8_e4m3fnx256"), all8, dist="NORM_B8")


def _halves(value: Any) -> Any:
    return T.reinterpret(value, "uint16x128")


def _e2m1_part(odd: Any, k: int, all16: Any) -> Any:
    code = T.simd.vcvt(T.reinterpret(odd, "bfloat16x128"), "float4_e2m1fn", all16, part=k)
    return T.reinterpret(code, "int32x64")


@T.macro
def cut_pairs(v, odd):
    """Sets `odd` to bf16 numbers that round to the e2m1 codes nearest to two units v.

    The hardware rounds bf16 to e2m1 only. So registers are cut to bf16, in even and odd lanes, with
    the last bit set where anything was lost: the second rounding finds ties where there are some.
    Each step is done for all registers, so that no instruction waits long for its operands.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)  # of 16-bit lanes the latter has the even ones
    high, low = (T.simd.alloc_local(PARTS, "uint32") for _ in range(2))
    lost = T.simd.alloc_local(PARTS, "uint16")
    for k in T.unroll(PARTS):
        high[k] = T.simd.vshrs(T.reinterpret(v[2 * k], "uint32x64"), 16, all32)
    for k in T.unroll(PARTS):
        low[k] = T.simd.vshls(T.reinterpret(v[2 * k + 1], "uint32x64"), 16, all32)
    for k in T.unroll(PARTS):
        lost[k] = T.simd.vsel(_halves(v[2 * k]), _halves(low[k]), all32)
    for k in T.unroll(PARTS):
        lost[k] = T.simd.vmins(lost[k], T.uint16(1), all16)
    for k in T.unroll(PARTS):
        odd[k] = T.simd.vsel(_halves(high[k]), _halves(v[2 * k + 1]), all32)
    for k in T.unroll(PARTS):
        odd[k] = T.simd.vor(odd[k], lost[k], all16)


@T.macro
def store_e2m1(v, codes, i, j0, j1):
    """Writes the e2m1 codes nearest to two units v, two codes a byte; NaN becomes 0."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    odd = T.simd.alloc_local(PARTS, "uint16")
    cut_pairs(v, odd)
    first = T.simd.vor(_e2m1_part(odd[0], 0, all16), _e2m1_part(odd[1], 1, all16), all32)
    other = T.simd.vor(_e2m1_part(odd[2], 0, all16), _e2m1_part(odd[3], 1, all16), all32)
    T.simd.vsts(codes[i, j0 // 2], T.reinterpret(first, "int8x256"), all32, dist="PK_B32")
    T.simd.vsts(codes[i, j1 // 2], T.reinterpret(other, "int8x256"), all32, dist="PK_B32")


@T.macro
def e2m1_of_products(tile, factors, codes, rows, units):
    """Writes the e2m1 codes nearest to bf16 values times powers of two, exact as bf16."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    for i in T.serial(rows):
        for u in T.serial(units):
            factor = T.simd.vld(factors[i, u * (UNIT // SLOT)], dist="E2B_B16")
            even, odd = T.simd.vld2(tile[i, u * UNIT], "DINTLV_B16")
            left, right = T.simd.vintlv(
                T.simd.vmul(even, factor, all16), T.simd.vmul(odd, factor, all16)
            )
            first = T.simd.vcvt(left, "float4_e2m1fn", all16, part=0)
            other = T.simd.vcvt(right, "float4_e2m1fn", all16, part=0)
            at = u * (UNIT // 2)
            T.simd.vsts(codes[i, at], T.reinterpret(first, "int8x256"), all32, dist="PK4_B32")
            T.simd.vsts(
                codes[i, at + UNIT // 4], T.reinterpret(other, "int8x256"), all32, dist="PK4_B32"
            )


@T.macro
def round_e4m3(v, sat=False):
    """Rounds two units v to e4m3 numbers; NaN stays NaN.

    Without `sat` none may be above 448; with it those become 448, and NaN may become 0.
    """
    all8 = T.simd.pset(8)
    code = T.simd.alloc_local(2 * PARTS, "int32")
    for k in T.unroll(2 * PARTS):
        code[k] = _e4m3_part(v[k], 0, all8, sat)
    for k in T.unroll(2 * PARTS):
        v[k] = T.simd.vcvt(T.reinterpret(code[k], "float8_e4m3fnx256"), "float32", all8, part=0)


@T.macro
def round_e2m1(v):
    """Rounds two units v to e2m1 numbers; NaN becomes 0."""
    all8, all16 = T.simd.pset(8), T.simd.pset(16)
    odd = T.simd.alloc_local(PARTS, "uint16")
    code = T.simd.alloc_local(PARTS, "int32")
    number = T.simd.alloc_local(PARTS, "bfloat16")
    cut_pairs(v, odd)
    for k in T.unroll(PARTS):
        code[k] = _e2m1_part(odd[k], 0, all16)
    for k in T.unroll(PARTS):
        pairs = T.reinterpret(code[k], "float4_e2m1fnx512")
        number[k] = T.simd.vcvt(pairs, "bfloat16", all8, part=0)
    for k in T.unroll(PARTS):
        v[2 * k] = T.simd.vcvt(number[k], "float32", all16, part=0)
        v[2 * k + 1] = T.simd.vcvt(number[k], "float32", all16, part=1)
