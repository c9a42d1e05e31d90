"""Where a SwiGLU cast keeps its activations, and their codes (tile_kernels.md section 4.8).

Activations are fp32 and lie where both halves of the same channels were, so a tile has room for
more of them.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.registers_asc import HALF, LANES
from tile_kernels.quant.swiglu_asc import TOGETHER

__all__ = ["codes_of_batches", "codes_of_halves", "even_places", "place_of_value", "place_offsets"]

PARTS = (0, 1, 2, 3)  # bytes of a lane


def place_offsets(group: Any, layout: Any, pitch: int, all32: Any) -> Any:
    """How far the places of groups lie behind that of the first group of some words."""
    if layout.kind in ("row", "packed_row"):
        return T.reinterpret(group, "uint32x64")
    last = T.simd.vdup(T.int32(layout.pack - 1), "int32", all32)
    words = T.simd.vshrs(group, layout.pack.bit_length() - 1, all32)
    rows = T.simd.vmuls(words, T.int32(pitch), all32)
    return T.reinterpret(T.simd.vadd(rows, T.simd.vand(group, last, all32), all32), "uint32x64")


def place_of_value(b: Any, k: int, plan: Any) -> Any:
    """Where the activations of chunk k of batch b lie in their row.

    A cast keeps them as fp32 where both halves of these channels were, which are not needed then:
    no store comes before the load whose place it takes.
    """
    if not plan.casts or plan.fold == 1:
        return (b * TOGETHER + k) * LANES
    part = k % plan.fold
    begin = (b * TOGETHER + k - part) * LANES // 2
    half = part // (plan.fold // 2)
    return half * (plan.cols // 2) + begin + part % (plan.fold // 2) * LANES


def even_places(lanes: Any, pitch: int, all32: Any) -> Any:
    """How far the even ones of 128 channels lie behind the first; `pitch` parts their halves."""
    twice = T.simd.vadd(lanes, lanes, all32)
    apart = T.simd.vmuls(T.simd.vshrs(lanes, 5, all32), T.int32(pitch - LANES), all32)
    return T.reinterpret(T.simd.vadd(twice, apart, all32), "uint32x64")


@T.macro
def codes_of_batches(values, inverse, codes, rows, batches, plan):
    """Writes the e4m3 numbers nearest to value * inverse; NaN stays NaN.

    No product is above 448 but NaN, so the conversion that does not saturate is right for all.
    With a fold of 4 a register holds each fourth channel.
    """
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
                number[k] = T.simd.vld(values[i, place_of_value(b, k, plan)])
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


@T.macro
def codes_of_halves(values, inverse, codes, rows, chunks, plan):
    """As `codes_of_batches`, of fp32 whose groups are half a register."""
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    first = T.simd.pset(32, HALF)
    layout = plan.sf.layout
    for i in T.serial(rows):
        for c in T.serial(chunks):
            p0, p1 = layout.item(i, 2 * c)
            q0, q1 = layout.item(i, 2 * c + 1)
            a = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
            factor = T.simd.vsel(a, T.simd.vld(inverse[q0, q1], dist="BRC_B32"), first)
            product = T.simd.vmul(T.simd.vld(values[i, c * LANES]), factor, all32)
            code = T.simd.vcvt(product, "float8_e4m3fn", all8, sat=False, part=0)
            T.simd.vsts(codes[i, c * LANES], code, all32, dist="PK4_B32")
