"""Building blocks of the gates on vector registers: the largest entries of rows, ties by index."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import pieces

__all__ = ["INFINITY_BITS", "LANES", "fill_chunks", "largest_bits", "select_rows"]

LANES = 64  # of a register of 32-bit numbers
NONE = 1 << 30  # index of "nothing left"
INFINITY_BITS = 0x7F800000


@T.macro
def fill_chunks(tile, rows, first, chunks, value):
    """Writes a number to registers `first` to before `chunks` of rows."""
    all32 = T.simd.pset(32)
    filling = T.simd.vdup(value, tile.dtype, all32)
    for i in T.serial(rows):
        for c in T.serial(chunks - first):
            T.simd.vsts(tile[i, (first + c) * LANES], filling, all32)


@T.macro
def largest_bits(tile, rows, count, result):
    """Raises result[0, 0] to the largest magnitude of rows of `count` fp32, as bits.

    They order as the magnitudes do, and those of infinities and NaN are largest. What lies behind a
    row becomes -inf, to the end of a register.
    """
    all32 = T.simd.pset(32)
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    most = T.alloc_var("int32x64")
    most = T.simd.vld(result[0, 0], dist="BRC_B32")
    for i in T.serial(rows):
        for c in T.serial(pieces(count, LANES)):
            inside = T.simd.vcmps(T.simd.vci(c * LANES, "int32"), count, all32, op="lt")
            entry = T.simd.vld(tile[i, c * LANES])
            bits = T.simd.vand(T.reinterpret(entry, "int32x64"), magnitude, inside)
            most = T.simd.vmax(most, bits, all32)
            T.simd.vsts(tile[i, c * LANES], T.simd.vsel(entry, lowest, inside), all32)
    T.simd.vsts(result[0, 0], T.simd.vcmax(most, all32), all32, dist="ONEPT_B32")


def smaller(entry: Any, at: Any, value: Any, index: Any, lowest: Any, all32: Any) -> Any:
    """Entries that come after (value, index) in the order, -inf in place of the others."""
    equal = T.simd.vcmp(entry, value, all32, op="eq")
    behind = T.simd.vcmp(at, index, equal, op="gt")
    below = T.simd.vcmp(entry, value, all32, op="lt")
    return T.simd.vsel(entry, lowest, T.simd.por(below, behind, all32))


def places(entry: Any, at: Any, value: Any, after: Any, none: Any, all32: Any) -> Any:
    """Indices of entries equal to a value whose index is larger than `after`, else NONE."""
    equal = T.simd.vcmp(entry, value, all32, op="eq")
    return T.simd.vsel(at, none, T.simd.vcmp(at, after, equal, op="gt"))


@T.macro
def select_rows(keys, found, row, other, slots, count, stride):
    """Writes the indices of the largest of `count` keys of rows `row` and `other`.

    Slot s goes to found[row, s * stride]. Keys are fp32 without NaN, -inf behind `count` to the
    end of a register; the order is by value, largest first, then by index, so nothing has to be
    marked as taken. Two rows at once: either waits for its own last instruction otherwise.
    """
    all32 = T.simd.pset(32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    none = T.simd.vdup(T.int32(NONE), "int32", all32)
    start = T.simd.vdup(T.int32(-1), "int32", all32)
    value0, value1 = T.alloc_var("float32x64"), T.alloc_var("float32x64")
    index0, index1 = T.alloc_var("int32x64"), T.alloc_var("int32x64")
    value0 = T.simd.vdup(T.infinity(T.float32), "float32", all32)
    value1 = value0
    index0 = start
    index1 = start
    for slot in T.serial(slots):
        best0, best1 = T.alloc_var("float32x64"), T.alloc_var("float32x64")
        at0, at1 = T.alloc_var("int32x64"), T.alloc_var("int32x64")
        best0 = lowest
        best1 = lowest
        for c in T.serial(pieces(count, LANES)):
            lane = T.simd.vci(c * LANES, "int32")
            entry0 = T.simd.vld(keys[row, c * LANES])
            entry1 = T.simd.vld(keys[other, c * LANES])
            best0 = T.simd.vmax(best0, smaller(entry0, lane, value0, index0, lowest, all32), all32)
            best1 = T.simd.vmax(best1, smaller(entry1, lane, value1, index1, lowest, all32), all32)
        next0 = T.simd.vdupv(T.simd.vcmax(best0, all32), all32)
        next1 = T.simd.vdupv(T.simd.vcmax(best1, all32), all32)
        after0 = T.simd.vsel(index0, start, T.simd.vcmp(next0, value0, all32, op="eq"))
        after1 = T.simd.vsel(index1, start, T.simd.vcmp(next1, value1, all32, op="eq"))
        at0 = none
        at1 = none
        for c in T.serial(pieces(count, LANES)):
            lane = T.simd.vci(c * LANES, "int32")
            entry0 = T.simd.vld(keys[row, c * LANES])
            entry1 = T.simd.vld(keys[other, c * LANES])
            at0 = T.simd.vmin(at0, places(entry0, lane, next0, after0, none, all32), all32)
            at1 = T.simd.vmin(at1, places(entry1, lane, next1, after1, none, all32), all32)
        value0 = next0
        value1 = next1
        index0 = T.simd.vdupv(T.simd.vcmin(at0, all32), all32)
        index1 = T.simd.vdupv(T.simd.vcmin(at1, all32), all32)
        T.simd.vsts(found[row, slot * stride], index0, all32, dist="ONEPT_B32")
        T.simd.vsts(found[other, slot * stride], index1, all32, dist="ONEPT_B32")
