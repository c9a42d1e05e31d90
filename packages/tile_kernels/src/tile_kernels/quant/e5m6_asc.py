"""The kernels of e5m6, twelve bits a number (tile_kernels.md section 3.5).

A tile is a few whole rows, a warp per row. Eight numbers fill three words; a row has one scale.
Scales are items in a line, `step` of them a row: the number itself, or the bytes of a word whose
first one holds the exponent.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num
from tile_kernels.quant.block_cast_asc import scale_of_block

__all__ = ["cast_back_rows", "cast_rows"]

WARP = 32
LARGEST = 65024.0
NUMBERS, WORDS = 8, 3  # a group


# NOTE: the parts of a number go through variables of the kernels; as one expression, in which each
# part occurs several times, lowering would take many seconds.


def half_of(bits: Any, exponent: Any) -> Any:
    """fp16 bits (int32) of |value|, cut off; `exponent` is its fp16 exponent, NaN stays NaN."""
    tiny = (bits & 0x7FFFFF | 0x800000) >> T.min(14 - exponent, 31)
    normal = (exponent << 10) | (bits >> 13 & 0x3FF)
    special = T.if_then_else(bits > 0x7F800000, 0x7E00, 0x7C00)
    return T.if_then_else(exponent > 30, special, T.if_then_else(exponent > 0, normal, tiny))


def rounded_up(code: Any, bits: Any, exponent: Any) -> Any:
    """Whether the dropped bits round a code up, to the even one in a tie (int32)."""
    above = (code & 1) + (bits & 0x1FFFF) > 0x10000
    return T.if_then_else(exponent > 30, 0, T.cast(above, "int32"))


def decoded(code: Any) -> Any:
    """The float32 of 12 bits (int32)."""
    magnitude = (code & 0x7FF) << 17
    normal = num.float_of(magnitude + (112 << 23))
    tiny = T.cast(code & 0x3F, "float32") * T.float32(2.0**-20)
    special = num.float_of(magnitude | 0x7F800000)
    return T.if_then_else(
        (code & 0x7C0) == 0x7C0, special, T.if_then_else((code & 0x7C0) == 0, tiny, normal)
    )


@asc_kernel()
def cast_rows(
    x, out, sf, floor_bits: T.int32, round_sf: T.int32, tasks: T.int32,
    x_dtype: str = "", sf_dtype: str = "", step: int = 1, rows: int = 1, width: int = 0,
    cores: int = 1,
):  # fmt: skip
    """Casts [tokens, hidden] numbers to [tokens, 3 hidden / 8] words; `width` >= hidden."""
    M, H, XS, W, S = T.dynamic("M, H, XS, W, S")
    x: T.StridedTensor((M, H), (XS, 1), x_dtype)
    out: T.Tensor((M, W), T.int32)
    sf: T.Tensor((S,), sf_dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), x_dtype)
        words = T.alloc_shared((rows, width // NUMBERS * WORDS), T.int32)
        scales = T.alloc_shared((rows * step * 8,), sf_dtype)
        row0 = T.alloc_var(T.int32)
        count = T.alloc_var(T.int32)
        for turn in T.serial(T.truncdiv(tasks - core + cores - 1, cores)):
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (turn * cores + core) * rows
                count = T.min(rows, M - row0)
            T.copy(x[row0, 0], tile)
            with T.Task(latency=1, ii=1), T.SimtVF(threads=WARP * rows):
                tx = T.get_thread_binding()
                i = tx // WARP
                lane = tx % WARP
                amax = T.alloc_var(T.int32)
                exponent = T.alloc_var(T.int32)
                scale = T.alloc_var(T.float32)
                inverse = T.alloc_var(T.float32)
                value = T.alloc_var(T.float32)
                bits = T.alloc_var(T.int32)
                code = T.alloc_var(T.int32)
                codes = T.alloc_local((NUMBERS,), T.int32)
                # Scale of the row
                amax = 0
                for e in T.serial(width // WARP):
                    j = e * WARP + lane
                    if i < count and j < H:
                        amax = T.max(amax, num.abs_bits(T.cast(tile[i, j], "float32")))
                amax = T.warp_reduce_max(amax)
                scale_of_block(amax, floor_bits, LARGEST, round_sf, scale, inverse, exponent)
                if lane == 0:
                    if sf_dtype == "uint8":
                        for byte in T.serial(step):
                            scales[i * step + byte] = T.cast(
                                T.if_then_else(byte == 0, exponent, 0), "uint8"
                            )
                    else:
                        scales[i * step] = scale
                # Groups of codes
                for e in T.serial((width // NUMBERS + WARP - 1) // WARP):
                    group = e * WARP + lane
                    if i < count and group * NUMBERS < H:
                        for n in T.serial(NUMBERS):
                            value = T.cast(tile[i, group * NUMBERS + n], "float32") * inverse
                            bits = num.abs_bits(value)
                            exponent = (bits >> 23) - 112
                            code = half_of(bits, exponent) >> 4
                            code = code + rounded_up(code, bits, exponent)
                            codes[n] = code | (num.bits_of(value) >> 20 & 0x800)
                        place = group * WORDS
                        words[i, place] = codes[0] << 20 | codes[1] << 8 | codes[2] >> 4
                        words[i, place + 1] = (
                            codes[2] << 28 | codes[3] << 16 | codes[4] << 4 | codes[5] >> 8
                        )
                        words[i, place + 2] = codes[5] << 24 | codes[6] << 12 | codes[7]
            with T.Task(latency=1, ii=1):
                T.copy(words, out[row0, 0])
                T.copy(scales[0 : count * step], sf[row0 * step : (row0 + count) * step])


@asc_kernel()
def cast_back_rows(
    x, sf, out, tasks: T.int32, step: T.int32,
    sf_dtype: str = "", out_dtype: str = "", rows: int = 1, width: int = 0, cores: int = 1,
):  # fmt: skip
    """Writes the numbers of [tokens, 3 hidden / 8] words times their row's scale."""
    M, W, XS, S, H = T.dynamic("M, W, XS, S, H")
    x: T.StridedTensor((M, W), (XS, 1), T.int32)
    sf: T.Tensor((S,), sf_dtype)
    out: T.Tensor((M, H), out_dtype)
    with T.Kernel(cores) as core:
        words = T.alloc_shared((rows, width // NUMBERS * WORDS), T.int32)
        values = T.alloc_shared((rows, width), out_dtype)
        row0 = T.alloc_var(T.int32)
        for turn in T.serial(T.truncdiv(tasks - core + cores - 1, cores)):
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], words)
            with T.Task(latency=1, ii=1), T.SimtVF(threads=WARP * rows):
                tx = T.get_thread_binding()
                i = tx // WARP
                scale = T.alloc_var(T.float32)
                value = T.alloc_var(T.float32)
                code = T.alloc_var(T.int32)
                word = T.alloc_var(T.int32)
                shift = T.alloc_var(T.int32)
                if row0 + i < M:
                    if sf_dtype == "uint8":
                        scale = num.exponent_scale(T.cast(sf[(row0 + i) * step], "int32"))
                    else:
                        scale = sf[(row0 + i) * step]
                    for e in T.serial((width // NUMBERS + WARP - 1) // WARP):
                        group = e * WARP + tx % WARP
                        if group * NUMBERS < H:
                            for n in T.serial(NUMBERS):
                                # Bits 12 n to 12 n + 11, from the highest of the three words on
                                word = group * WORDS + n * 12 // 32
                                shift = 20 - n * 12 % 32
                                if shift >= 0:
                                    code = words[i, word] >> shift & 0xFFF
                                else:
                                    code = words[i, word] << -shift & 0xFFF
                                    code = code | (
                                        words[i, word + 1] >> (32 + shift) & ((1 << -shift) - 1)
                                    )
                                value = decoded(code)
                                value = T.if_then_else((code & 0x800) == 0, value, -value)
                                values[i, group * NUMBERS + n] = T.cast(value * scale, out_dtype)
            T.copy(values, out[row0, 0])
