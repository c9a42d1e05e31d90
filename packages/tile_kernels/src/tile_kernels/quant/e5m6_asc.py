"""The kernels of e5m6, twelve bits a number, on vector registers (tile_kernels.md section 3.5).

A tile is a few whole rows; a row has one scale. Eight numbers fill three words of 32 bits, the
first one from the highest bit on: so four numbers fill three half words, whose places alternate.
512 numbers at a time, a register holds the same half word of 128 such groups of four. Scales are a
line of numbers, or of words whose lowest byte is the exponent.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.quads_asc import PARTS, UNIT, clear_behind, load_quads, store_quads
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.row_cast_asc import row_magnitudes, scale_at
from tile_kernels.quant.scales_asc import scales_of_magnitudes

__all__ = ["LARGEST", "cast_back_rows", "cast_rows"]

LARGEST = 65024.0
PAIR = 2 * UNIT  # numbers at a time: the units of even and of odd lanes
HALF_WORDS = 3  # of four numbers


def place_of_half_word(n: int, all16: Any) -> Any:
    """Where half word n of each group of four lies: the halves of a word change places."""
    one = T.simd.vdup(T.int16(1), "int16", all16)
    lane = T.simd.vci(T.int16(0), "int16")
    index = T.simd.vmuls(T.simd.vshrs(lane, 1, all16), T.int16(HALF_WORDS), all16)
    within = T.simd.vxor(T.simd.vadds(index, T.int16(n), all16), one, all16)
    unit = T.simd.vmuls(T.simd.vand(lane, one, all16), T.int16(LANES * HALF_WORDS), all16)
    return T.reinterpret(T.simd.vadd(within, unit, all16), "uint16x128")


def halves(register: Any) -> Any:
    """The 16-bit lanes of a register."""
    return T.reinterpret(register, "uint16x128")


def cut_to_half(a: Any, b: Any, all16: Any) -> Any:
    """Registers a and b cut to fp16, in even and odd lanes."""
    even = T.simd.vcvt(a, "float16", all16, round="ROUND_Z", sat=False, part=0)
    odd = T.simd.vcvt(b, "float16", all16, round="ROUND_Z", sat=False, part=1)
    return T.simd.vor(halves(even), halves(odd), all16)


@T.macro
def codes_of_numbers(v, c):
    """Sets c to the codes of v, those of two units in even and odd lanes.

    The reference cuts to fp16, then rounds by the last 17 bits of the float32, ties to even, also
    below the normal numbers: up where the first of these bits is set, and another one or the last
    bit of the code. Each step is done for all registers, so that no instruction waits long for its
    operands.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)  # of 16-bit lanes the latter has the even ones
    last = T.simd.vdup(T.uint16(0x10), "uint16", all16)
    low, high = (T.simd.alloc_local(PARTS, "uint32") for _ in range(2))
    odd, up = (T.simd.alloc_local(PARTS, "uint16") for _ in range(2))
    for k in T.unroll(PARTS):
        c[k] = cut_to_half(v[k], v[PARTS + k], all16)
    for k in T.unroll(PARTS):
        low[k] = T.simd.vshls(T.reinterpret(v[PARTS + k], "uint32x64"), 16, all32)
    for k in T.unroll(PARTS):
        high[k] = T.simd.vshrs(T.reinterpret(v[k], "uint32x64"), 16, all32)
    for k in T.unroll(PARTS):
        up[k] = T.simd.vsel(halves(v[k]), halves(low[k]), all32)
    for k in T.unroll(PARTS):
        odd[k] = T.simd.vand(c[k], last, all16)
    for k in T.unroll(PARTS):
        up[k] = T.simd.vor(up[k], odd[k], all16)
    for k in T.unroll(PARTS):
        odd[k] = T.simd.vsel(halves(high[k]), halves(v[PARTS + k]), all32)
    for k in T.unroll(PARTS):
        up[k] = T.simd.vmins(up[k], T.uint16(1), all16)
    for k in T.unroll(PARTS):
        c[k] = T.simd.vshrs(c[k], 4, all16)
    for k in T.unroll(PARTS):
        up[k] = T.simd.vand(up[k], odd[k], all16)
    for k in T.unroll(PARTS):
        c[k] = T.simd.vadd(c[k], up[k], all16)


@T.macro
def pack_rows(tile, inverse, words, rows, cols):
    """Writes the codes of value * inverse."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    place0 = place_of_half_word(0, all16)
    place1 = place_of_half_word(1, all16)
    place2 = place_of_half_word(2, all16)
    for i in T.serial(rows):
        factor = T.simd.vld(inverse[0, i], dist="BRC_B32")
        for pair in T.serial(T.truncdiv(cols, PAIR)):
            v = T.simd.alloc_local(2 * PARTS, "float32")
            c = T.simd.alloc_local(PARTS, "uint16")
            load_quads(v, tile, i, pair * PAIR)
            load_quads(v, tile, i, pair * PAIR + UNIT, PARTS)
            for k in T.unroll(2 * PARTS):
                v[k] = T.simd.vmul(v[k], factor, all32)
            codes_of_numbers(v, c)
            first = T.simd.vor(T.simd.vshls(c[0], 4, all16), T.simd.vshrs(c[1], 8, all16), all16)
            second = T.simd.vor(T.simd.vshls(c[1], 8, all16), T.simd.vshrs(c[2], 4, all16), all16)
            third = T.simd.vor(T.simd.vshls(c[2], 12, all16), c[3], all16)
            at = pair * (PAIR // PARTS * HALF_WORDS)
            T.simd.vscatter(first, words[i, at], place0, all16)
            T.simd.vscatter(second, words[i, at], place1, all16)
            T.simd.vscatter(third, words[i, at], place2, all16)


@asc_kernel()
def cast_rows(
    x, out, sf, floor_bits: T.int32, tasks: T.int32,
    x_dtype: str = "", sf_dtype: str = "", rows: int = 1, width: int = 0, stages: int = 1,
    cores: int = 1, round_sf: bool = False,
):  # fmt: skip
    """Casts [tokens, hidden] numbers to [tokens, 3 hidden / 4] half words; `width` >= hidden."""
    M, H, XS, W = T.dynamic("M, H, XS, W")
    x: T.StridedTensor((M, H), (XS, 1), x_dtype)
    out: T.Tensor((M, W), T.uint16)
    sf: T.Tensor((M,), sf_dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), x_dtype)
        words = T.alloc_shared((rows, width // PARTS * HALF_WORDS), T.uint16)
        amax = T.alloc_shared((1, LANES), T.int32)
        inverse = T.alloc_shared((1, LANES), T.float32)
        scales = T.alloc_shared((1, 2 * LANES), sf_dtype)
        T.annotate_buffer_versions({tile: stages, words: stages, scales: 2, amax: 1, inverse: 1})
        with T.SimdVF():
            all32 = T.simd.pset(32)
            T.simd.vsts(amax[0, 0], T.simd.vdup(T.int32(0), "int32", all32), all32)
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, words, amax, inverse, scales)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            with T.SimdVF():
                count = T.min(M - row0, rows)
                cols = T.truncdiv(H + PAIR - 1, PAIR) * PAIR
                clear_behind(tile, count, H, PAIR)
                T.simd.mem_bar("VST_VLD")
                row_magnitudes(tile, amax, count, cols)
                T.simd.mem_bar("VST_VLD")
                scales_of_magnitudes(
                    amax, inverse, scales, LANES, LANES, floor_bits, round_sf, LARGEST,
                    x_dtype == "bfloat16",
                )  # fmt: skip
                T.simd.mem_bar("VST_VLD")
                pack_rows(tile, inverse, words, count, cols)
            T.copy(words, out[row0, 0])
            T.copy(scales[0, 0:rows], sf[row0 : row0 + rows])


@T.macro
def unpack_rows(words, scales, values, rows, cols):
    """Writes the numbers of the codes times their row's scale."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    place0 = place_of_half_word(0, all16)
    place1 = place_of_half_word(1, all16)
    place2 = place_of_half_word(2, all16)
    head = T.simd.vdup(T.uint16(0xFFF0), "uint16", all16)
    middle = T.simd.vdup(T.uint16(0x0FF0), "uint16", all16)
    tail = T.simd.vdup(T.uint16(0x00F0), "uint16", all16)
    for i in T.serial(rows):
        scale = scale_at(scales, i, all32)
        for pair in T.serial(T.truncdiv(cols, PAIR)):
            v = T.simd.alloc_local(2 * PARTS, "float32")
            c = T.simd.alloc_local(PARTS, "uint16")
            at = pair * (PAIR // PARTS * HALF_WORDS)
            first = T.simd.vgather2(words[i, at], place0, all16)
            second = T.simd.vgather2(words[i, at], place1, all16)
            third = T.simd.vgather2(words[i, at], place2, all16)
            # A code is the upper twelve bits of an fp16 number
            left1 = T.simd.vand(T.simd.vshrs(second, 4, all16), middle, all16)
            left2 = T.simd.vand(T.simd.vshrs(third, 8, all16), tail, all16)
            c[0] = T.simd.vand(first, head, all16)
            c[1] = T.simd.vor(T.simd.vshls(first, 12, all16), left1, all16)
            c[2] = T.simd.vor(T.simd.vshls(second, 8, all16), left2, all16)
            c[3] = T.simd.vshls(third, 4, all16)
            for k in T.unroll(PARTS):
                half = T.reinterpret(c[k], "float16x128")
                v[k] = T.simd.vcvt(half, "float32", all16, part=0)
                v[PARTS + k] = T.simd.vcvt(half, "float32", all16, part=1)
            for k in T.unroll(2 * PARTS):
                v[k] = T.simd.vmul(v[k], scale, all32)
            store_quads(v, 0, values, i, pair * PAIR)
            store_quads(v, PARTS, values, i, pair * PAIR + UNIT)


@asc_kernel()
def cast_back_rows(
    x, sf, out, tasks: T.int32,
    sf_dtype: str = "", out_dtype: str = "", rows: int = 1, width: int = 0, stages: int = 1,
    cores: int = 1,
):  # fmt: skip
    """Writes the numbers of [tokens, 3 hidden / 4] half words times their row's scale."""
    M, W, XS, SS, H = T.dynamic("M, W, XS, SS, H")
    x: T.StridedTensor((M, W), (XS, 1), T.uint16)
    sf: T.StridedTensor((M, 1), (SS, 1), sf_dtype)
    out: T.Tensor((M, H), out_dtype)
    with T.Kernel(cores) as core:
        words = T.alloc_shared((rows, width // PARTS * HALF_WORDS), T.uint16)
        scales = T.alloc_shared((rows, 16), sf_dtype)
        values = T.alloc_shared((rows, width), out_dtype)
        T.annotate_buffer_versions({words: stages, scales: 2, values: stages})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(words, scales, values)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], words)
            T.copy(sf[row0 : row0 + rows, 0:1], scales[0:rows, 0:1])
            with T.SimdVF():
                cols = T.truncdiv(H + PAIR - 1, PAIR) * PAIR
                unpack_rows(words, scales, values, T.min(M - row0, rows), cols)
            T.copy(values, out[row0, 0])
