"""The kernels of casts with a scale a row, and of their way back, on vector registers.

A tile is a few whole rows. Scales are a line of numbers, or of words whose lowest byte is the
exponent.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.numeric_asc import MAX_VALUE
from tile_kernels.quant.quads_asc import (
    PARTS,
    UNIT,
    clear_behind,
    load_quads,
    store_e2m1,
    store_e4m3,
    store_quads,
)
from tile_kernels.quant.quads_back_asc import quads_of_codes
from tile_kernels.quant.registers_asc import LANES, saturate
from tile_kernels.quant.scales_asc import inverse_of_power, inverse_of_scale, scales_of_magnitudes

__all__ = ["row_cast", "row_magnitudes", "row_scaled", "scale_at"]

PAIR = 2 * UNIT  # numbers at a time
PER_ITEM = {"int8": 2}  # numbers in an item


@T.macro
def row_magnitudes(tile, amax, rows, cols):
    """Writes the bits of the largest magnitude of each row to `amax` (int32)."""
    width = 32 if tile.dtype == "float32" else 16
    lanes, every, all32 = 2048 // width, T.simd.pset(width), T.simd.pset(32)
    magnitude = T.simd.vdup(
        T.int32(0x7FFFFFFF) if width == 32 else T.int16(0x7FFF), f"int{width}", every
    )
    largest = T.simd.alloc_local(PARTS, f"int{width}")
    for i in T.serial(rows):
        for k in T.unroll(PARTS):
            largest[k] = T.simd.vdup(T.cast(0, f"int{width}"), f"int{width}", every)
        for step in T.serial(T.truncdiv(cols, PARTS * lanes)):
            for k in T.unroll(PARTS):
                value = T.simd.vld(tile[i, (step * PARTS + k) * lanes])
                bits = T.simd.vand(T.reinterpret(value, f"int{width}x{lanes}"), magnitude, every)
                largest[k] = T.simd.vmax(largest[k], bits, every)
        left = T.simd.vmax(largest[0], largest[1], every)
        most = T.simd.vcmax(
            T.simd.vmax(left, T.simd.vmax(largest[2], largest[3], every), every), every
        )
        bits = most if width == 32 else T.simd.vunpack(most, "LOWER")
        T.simd.vsts(amax[0, i], bits, all32, dist="ONEPT_B32")


def _exponent_at(scales: Any, i: Any, all32: Any) -> Any:
    """The lowest byte of a word in all lanes."""
    dist = "BRC_B16" if scales.dtype == "int16" else "BRC_B32"
    word = T.reinterpret(T.simd.vld(scales[i, 0], dist=dist), "int32x64")
    return T.simd.vand(word, T.simd.vdup(T.int32(0xFF), "int32", all32), all32)


def scale_at(scales: Any, i: Any, all32: Any) -> Any:
    """The scale of row i in all lanes; of a word its lowest byte is the exponent."""
    if scales.dtype == "float32":
        return T.simd.vld(scales[i, 0], dist="BRC_B32")
    return T.reinterpret(T.simd.vshls(_exponent_at(scales, i, all32), 23, all32), "float32x64")


def inverse_at(scales: Any, i: Any, all32: Any) -> Any:
    """1 / scale of row i in all lanes."""
    if scales.dtype == "float32":
        return inverse_of_scale(T.simd.vld(scales[i, 0], dist="BRC_B32"), all32)
    return inverse_of_power(_exponent_at(scales, i, all32), all32)


@T.macro
def scale_row(tile, factor, results, i, cols, fmt, is_given=False):
    """Writes number * factor of row i, as numbers or, with a `fmt`, as the nearest codes.

    Products with inverses of given scales may be above the largest code.
    """
    all32 = T.simd.pset(32)
    for pair in T.serial(T.truncdiv(cols, PAIR)):
        v = T.simd.alloc_local(2 * PARTS, "float32")
        a, b = pair * PAIR, pair * PAIR + UNIT
        if tile.dtype in ("uint8", "int8"):
            quads_of_codes(v, tile, i, a)
            quads_of_codes(v, tile, i, b, PARTS)
        else:
            load_quads(v, tile, i, a)
            load_quads(v, tile, i, b, PARTS)
        for k in T.unroll(2 * PARTS):
            v[k] = T.simd.vmul(v[k], factor, all32)
        if fmt == "e2m1":
            store_e2m1(v, results, i, a, b)
        elif fmt == "e4m3":
            if is_given:
                saturate(v, 2 * PARTS)
            store_e4m3(v, 0, results, i, a)
            store_e4m3(v, PARTS, results, i, b)
        else:
            store_quads(v, 0, results, i, a)
            store_quads(v, PARTS, results, i, b)


@asc_kernel()
def row_cast(
    x, out, sf, floor_bits: T.int32, tasks: T.int32,
    x_dtype: str = "", out_dtype: str = "", sf_dtype: str = "", fmt: str = "", rows: int = 1,
    width: int = 0, stages: int = 1, cores: int = 1, round_sf: bool = False, wants: bool = True,
):  # fmt: skip
    """Casts [tokens, hidden] bf16 or fp32 with a scale a row; `width` >= hidden.

    Without `wants` only scales are written.
    """
    M, H, XS, OM, W = T.dynamic("M, H, XS, OM, W")
    x: T.StridedTensor((M, H), (XS, 1), x_dtype)
    out: T.Tensor((OM, W), out_dtype)
    sf: T.Tensor((M,), sf_dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), x_dtype)
        codes = T.alloc_shared((rows, width // PER_ITEM.get(out_dtype, 1)), out_dtype)
        amax = T.alloc_shared((1, LANES), T.int32)
        inverse = T.alloc_shared((1, LANES), T.float32)
        scales = T.alloc_shared((1, 2 * LANES), sf_dtype)
        many = stages if wants else 1
        T.annotate_buffer_versions({tile: stages, codes: many, scales: 2, amax: 1, inverse: 1})
        with T.SimdVF():
            all32 = T.simd.pset(32)
            T.simd.vsts(amax[0, 0], T.simd.vdup(T.int32(0), "int32", all32), all32)
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, codes, amax, inverse, scales)
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
                    amax, inverse, scales, LANES, LANES, floor_bits, round_sf, MAX_VALUE[fmt],
                    x_dtype == "bfloat16",
                )  # fmt: skip
                if wants:
                    T.simd.mem_bar("VST_VLD")
                    for i in T.serial(count):
                        factor = T.simd.vld(inverse[0, i], dist="BRC_B32")
                        scale_row(tile, factor, codes, i, cols, fmt)
            if wants:
                T.copy(codes, out[row0, 0])
            T.copy(scales[0, 0:rows], sf[row0 : row0 + rows])


@asc_kernel()
def row_scaled(
    x, sf, out, tasks: T.int32,
    x_dtype: str = "", sf_dtype: str = "", out_dtype: str = "", fmt: str = "", rows: int = 1,
    width: int = 0, stages: int = 1, cores: int = 1,
):  # fmt: skip
    """Writes numbers or codes times their row's scale; or with a `fmt` the codes of number / scale.

    Codes of x are bytes: e4m3 as uint8, two e2m1 as int8.
    """
    M, XW, XS, SS, W = T.dynamic("M, XW, XS, SS, W")
    x: T.StridedTensor((M, XW), (XS, 1), x_dtype)
    sf: T.StridedTensor((M, 1), (SS, 1), sf_dtype)
    out: T.Tensor((M, W), out_dtype)
    x_per_item, out_per_item = PER_ITEM.get(x_dtype, 1), PER_ITEM.get(out_dtype, 1)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width // x_per_item), x_dtype)
        scales = T.alloc_shared((rows, 16), sf_dtype)
        results = T.alloc_shared((rows, width // out_per_item), out_dtype)
        T.annotate_buffer_versions({tile: stages, scales: 2, results: stages})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, scales, results)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            T.copy(sf[row0 : row0 + rows, 0:1], scales[0:rows, 0:1])
            with T.SimdVF():
                all32 = T.simd.pset(32)
                hidden = XW * x_per_item
                count = T.min(M - row0, rows)
                cols = T.truncdiv(hidden + PAIR - 1, PAIR) * PAIR
                clear_behind(tile, count, hidden, PAIR)
                T.simd.mem_bar("VST_VLD")
                for i in T.serial(count):
                    if fmt != "":
                        factor = inverse_at(scales, i, all32)
                        scale_row(tile, factor, results, i, cols, fmt, is_given=True)
                    else:
                        factor = scale_at(scales, i, all32)
                        scale_row(tile, factor, results, i, cols, "")
            T.copy(results, out[row0, 0])
