"""The fast kernel of casts whose scales span rows: per block and per channel, on vector registers.

A tile is one row of blocks, or those of a word where packed words span rows. Largest magnitudes
are register maxima over rows, 64 channels at a time, so nothing is transposed. Then all scales of
the tile are computed together, then the codes. Loads, arithmetic and stores of three tiles
overlap. Other formats are in `block_cast_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import MIN_PITCH
from tile_kernels.quant.numeric_asc import MAX_VALUE
from tile_kernels.quant.registers_asc import HALF, LANES, values_at
from tile_kernels.quant.scales_asc import clear_magnitudes, scales_of_magnitudes
from tile_kernels.quant.swiglu_asc import TOGETHER, activate_tile, clear_rows
from tile_kernels.utils import align

__all__ = ["rows_cast"]

UNROLL = 4  # rows at a time, which do not wait for each other


def kept(bits: Any, keep: Any, i: Any, mask: Any) -> Any:
    """The int32 lanes of a row, zeros where the row stands for no token."""
    return T.simd.vand(bits, T.simd.vld(keep[i], dist="BRC_B32"), mask) if keep else bits


def scale_of_codes(given: Any, i: Any, c: Any, all32: Any) -> Any:
    """The scales of 64 e4m3 codes of row i, those of chunk c, as float32."""
    scales, band, first, _ = given
    width = band.block[1]
    scale = _scale_in_all_lanes(scales, band, i, c * LANES // width, all32)
    if width < LANES:
        other = _scale_in_all_lanes(scales, band, i, c * LANES // width + 1, all32)
        scale = T.simd.vsel(scale, other, first)
    return scale


def _scale_in_all_lanes(scales: Any, band: Any, i: Any, group: Any, all32: Any) -> Any:
    p0, p1 = band.layout.item(i, group)
    if band.dtype == "float32":
        return T.simd.vld(scales[p0, p1], dist="BRC_B32")
    word = T.reinterpret(T.simd.vld(scales[p0, p1], dist="BRC_B8"), "int32x64")
    exponent = T.simd.vand(word, T.simd.vdup(T.int32(255), "int32", all32), all32)
    return T.reinterpret(T.simd.vshls(exponent, 23, all32), "float32x64")


def row_values(
    tile: Any, keep: Any, i: Any, j: Any, all16: Any, all32: Any, given: Any = None
) -> Any:
    """64 numbers of a row as float32; those of codes with their scales."""
    if given:
        code = T.simd.vld(tile[i, j], dist="UNPK4_B8")
        value = T.simd.vcvt(code, "float32", given[3], part=0)
        value = T.simd.vmul(value, scale_of_codes(given, i, j // LANES, all32), all32)
    else:
        value = values_at(tile, i, j, all16)
    if not keep:
        return value
    return T.reinterpret(kept(T.reinterpret(value, "int32x64"), keep, i, all32), "float32x64")


def bits_at(
    tile: Any, keep: Any, i: Any, j: Any, magnitude: Any, mask: Any, given: Any = None
) -> Any:
    """The bits of 64 magnitudes, as int32."""
    if given:
        value = row_values(tile, keep, i, j, None, mask, given)
        return T.simd.vand(T.reinterpret(value, "int32x64"), magnitude, mask)
    value = T.simd.vld(tile[i, j], dist="NORM" if tile.dtype == "float32" else "UNPK_B16")
    bits = T.simd.vand(T.reinterpret(value, "int32x64"), magnitude, mask)
    return kept(bits, keep, i, mask)


@T.macro
def rows_kept(positions, keep, rows):
    """Writes a mask of all ones for each row with a position, 0 for negative ones."""
    all32 = T.simd.pset(32)
    for step in T.serial(rows // LANES):
        sign = T.simd.vshrs(T.simd.vld(positions[step * LANES]), 31, all32)
        T.simd.vsts(keep[step * LANES], T.simd.vnot(sign, all32), all32)


@T.macro
def column_magnitudes(tile, keep, largest, block, row0, rows, chunks, scales=None, band=None):
    """Writes the bits of the largest magnitude of each channel to `largest` (int32); 0 to the 64
    channels after the last one."""
    all32 = T.simd.pset(32)
    zero = T.simd.vdup(T.int32(0), "int32", all32)
    bits = T.int32(0x7FFF if tile.dtype == "bfloat16" else 0x7FFFFFFF)
    magnitude = T.simd.vdup(bits, "int32", all32)
    all8, first = T.simd.pset(8), T.simd.pset(32, HALF)
    given = (scales, band, first, all8) if band is not None else None
    for c in T.serial(chunks):
        m0 = T.alloc_var("int32x64")
        m1 = T.alloc_var("int32x64")
        m2 = T.alloc_var("int32x64")
        m3 = T.alloc_var("int32x64")
        m0 = zero
        m1 = zero
        m2 = zero
        m3 = zero
        j = c * LANES
        for step in T.serial(T.truncdiv(rows, UNROLL)):
            i = row0 + step * UNROLL
            m0 = T.simd.vmax(m0, bits_at(tile, keep, i, j, magnitude, all32, given), all32)
            m1 = T.simd.vmax(m1, bits_at(tile, keep, i + 1, j, magnitude, all32, given), all32)
            m2 = T.simd.vmax(m2, bits_at(tile, keep, i + 2, j, magnitude, all32, given), all32)
            m3 = T.simd.vmax(m3, bits_at(tile, keep, i + 3, j, magnitude, all32, given), all32)
        for rest in T.serial(T.truncmod(rows, UNROLL)):
            i = row0 + rows - 1 - rest
            m0 = T.simd.vmax(m0, bits_at(tile, keep, i, j, magnitude, all32, given), all32)
        pair0 = T.simd.vmax(m0, m1, all32)
        pair1 = T.simd.vmax(m2, m3, all32)
        T.simd.vsts(largest[block, c * LANES], T.simd.vmax(pair0, pair1, all32), all32)
    T.simd.vsts(largest[block, chunks * LANES], zero, all32)


@T.macro
def block_magnitudes(largest, amax, width, chunks, layout):
    """Writes the largest magnitude of each block of `width` channels to its place in `amax`."""
    all32 = T.simd.pset(32)
    if width == 2 * LANES:
        for g in T.serial(T.truncdiv(chunks + 1, 2)):
            p0, p1 = layout.item(0, g)
            left = T.simd.vld(largest[0, g * width])
            right = T.simd.vld(largest[0, g * width + LANES])
            most = T.simd.vcmax(T.simd.vmax(left, right, all32), all32)
            T.simd.vsts(amax[p0, p1], most, all32, dist="ONEPT_B32")
    else:
        first = T.simd.pset(32, HALF)
        second = T.simd.pnot(first, all32)
        for c in T.serial(chunks):
            most = T.simd.vld(largest[0, c * LANES])
            p0, p1 = layout.item(0, 2 * c)
            q0, q1 = layout.item(0, 2 * c + 1)
            T.simd.vsts(amax[p0, p1], T.simd.vcmax(most, first), all32, dist="ONEPT_B32")
            T.simd.vsts(amax[q0, q1], T.simd.vcmax(most, second), all32, dist="ONEPT_B32")


def factors_at(inverse: Any, block: Any, c: Any, band: Any, first: Any) -> Any:
    """The inverses of the scales of 64 channels."""
    width = band.block[1]
    if width == 1:
        return T.simd.vld(inverse[block, c * LANES])
    p0, p1 = band.layout.item(0, c * LANES // width)
    factor = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
    if width < LANES:
        p0, p1 = band.layout.item(0, c * LANES // width + 1)
        other = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
        factor = T.simd.vsel(factor, other, first)
    return factor


@T.macro
def e4m3_codes(
    tile, keep, inverse, codes, block, row0, rows, chunks, band, scales=None, band_in=None
):
    """Writes the e4m3 numbers nearest to value * inverse; NaN stays NaN.

    No product is above 448 but NaN, so the conversion that does not saturate is right for all.
    """
    all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
    first = T.simd.pset(32, HALF)
    given = (scales, band_in, first, all8) if band_in is not None else None
    for c in T.serial(chunks):
        factor = factors_at(inverse, block, c, band, first)
        for i in T.serial(rows):
            value = T.simd.vmul(
                row_values(tile, keep, row0 + i, c * LANES, all16, all32, given), factor, all32
            )
            code = T.simd.vcvt(value, "float8_e4m3fn", all8, sat=False, part=0)
            T.simd.vsts(codes[row0 + i, c * LANES], code, all32, dist="PK4_B32")


@T.macro
def e2m1_codes(tile, inverse, codes, rows, chunks, band):
    """Writes the e2m1 codes nearest to value * inverse, two a byte; NaN becomes 0.

    The hardware rounds bf16 to e2m1 only. A product is cut to bf16 with its last bit set where
    anything was lost, so that the second rounding finds ties where there are some. Each step is
    done for four rows, so that no instruction waits long for its operands.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    first = T.simd.pset(32, HALF)
    left, right = (T.simd.alloc_local(UNROLL, "float32") for _ in range(2))
    odd, lost = (T.simd.alloc_local(UNROLL, "uint16") for _ in range(2))
    for pair in T.serial(T.truncdiv(chunks + 1, 2)):
        a = 2 * pair
        b = T.min(a + 1, chunks - 1)  # without a second half, the first one once more
        factor_a = factors_at(inverse, 0, a, band, first)
        factor_b = factors_at(inverse, 0, b, band, first)
        for step in T.serial(T.truncdiv(rows + UNROLL - 1, UNROLL)):
            for k in T.unroll(UNROLL):
                i = T.min(step * UNROLL + k, rows - 1)  # behind the last row, that one once more
                left[k] = row_values(tile, None, i, a * LANES, all16, all32)
                right[k] = row_values(tile, None, i, b * LANES, all16, all32)
            for k in T.unroll(UNROLL):
                left[k] = T.simd.vmul(left[k], factor_a, all32)
                right[k] = T.simd.vmul(right[k], factor_b, all32)
            for k in T.unroll(UNROLL):
                lost[k], odd[k] = T.simd.vdintlv(
                    T.reinterpret(left[k], "uint16x128"), T.reinterpret(right[k], "uint16x128")
                )
            for k in T.unroll(UNROLL):
                lost[k] = T.simd.vmins(lost[k], T.uint16(1), all16)
            for k in T.unroll(UNROLL):
                odd[k] = T.simd.vor(odd[k], lost[k], all16)
            for k in T.unroll(UNROLL):
                i = T.min(step * UNROLL + k, rows - 1)
                number = T.reinterpret(odd[k], "bfloat16x128")
                code = T.simd.vcvt(number, "float4_e2m1fn", all16, part=0)
                T.simd.vsts(
                    codes[i, a * LANES // 2], T.reinterpret(code, "int8x256"), all32,
                    dist="PK4_B32",
                )  # fmt: skip


@T.macro
def words_of_exponents(exponents, scales, blocks, chunks, pack):
    """Writes packed words of the exponents of `blocks` groups of rows, the first in the low byte;
    other bytes are 0."""
    all8, all32 = T.simd.pset(8), T.simd.pset(32)
    for c in T.serial(chunks):
        word = T.alloc_var("uint32x64")
        word = T.simd.vdup(T.uint32(0), "uint32", all32)
        for b in T.serial(blocks):
            exponent = T.reinterpret(T.simd.vld(exponents[b, c * LANES]), "uint32x64")
            word = T.simd.vor(word, T.simd.vshls(exponent, 8 * b, all32), all32)
        place = c * LANES * pack
        data = T.reinterpret(word, "uint8x256")
        if pack == 2:
            T.simd.vsts(scales[0, place], data, all32, dist="PK_B32")
        else:
            T.simd.vsts(scales[0, place], data, all8, dist="NORM_B8")


@T.macro
def clear_spare_bytes(scales, blocks, band):
    """Writes 0 to the bytes of the last packed word that stand for no block."""
    all8 = T.simd.pset(8)
    for g in T.serial(T.truncmod(-blocks + 4 * band.word, band.word)):
        p0, p1 = band.layout.item(0, blocks + g)
        T.simd.vsts(scales[p0, p1], T.simd.vdup(T.uint8(0), "uint8", all8), all8, dist="ONEPT_B8")


@T.macro
def clear_item(scales):
    """Writes zeros to a row of items of one byte."""
    first = T.simd.pset(8, f"PAT_VL{MIN_PITCH}")
    T.simd.vsts(scales[0, 0], T.simd.vdup(T.uint8(0), "uint8", first), first, dist="NORM_B8")


@asc_kernel()
def rows_cast(
    x, sf_in, pos_to_token, out, sf,
    floor_bits: T.int32, limit: T.float32, tokens: T.int32, tasks: T.int32, across: T.int32,
    plan: Any = None, round_sf: bool = False, gathers: bool = False, swiglu: bool = False,
    has_limit: bool = False,
):  # fmt: skip
    """Casts `tokens` rows of bf16 or fp32, hidden a multiple of 64; `across` tiles lie in a row.

    Per channel it casts also e4m3 with `sf_in`, the items of scales of rows; else that is unused.
    With `gathers` they are the rows `pos_to_token` of x, zeros for negative ones; else it is
    unused. With `swiglu` a row of x holds both halves, clamped with `has_limit`.
    """
    M, XW, XS, P, I0, I1, IS = T.dynamic("M, XW, XS, P, I0, I1, IS")
    OM, OW, OS, S0, S1, SS = T.dynamic("OM, OW, OS, S0, S1, SS")
    x: T.StridedTensor((M, XW), (XS, 1), plan.x_dtype)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), plan.sf_in.dtype)
    pos_to_token: T.Tensor((P,), T.int32)
    out: T.StridedTensor((OM, OW), (OS, 1), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    height, width = plan.sf.block
    hidden = T.truncdiv(XW, 2) if swiglu else XW
    blocks = R // height
    is_channel, is_bf16 = width == 1, plan.x_dtype == "bfloat16"
    is_packed = plan.sf.layout.kind == "packed_channel"
    # Tiles that share a word of packed scales
    parts = max(plan.sf.word // (C // width), 1)
    s0, s1 = (blocks, C // width) if parts > 1 else plan.sf.tile(R, C)
    t0, t1 = plan.sf_in.tile(R, C)
    band_in = plan.sf_in if plan.sf_in.exists else None
    # Places: one a channel and some room, or those of the items of a tile's scales
    pitch = C + LANES if is_channel else plan.sf.pitch(R, C)
    places = blocks if is_channel else align(s0, max(LANES // pitch, 1))
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C) if swiglu else (1, LANES), plan.x_dtype)
        codes = T.alloc_shared((R, C // plan.out_per_item), plan.out_dtype)
        largest = T.alloc_shared((1, LANES if is_channel else C + LANES), T.int32)
        amax = T.alloc_shared((places, pitch), T.int32)
        inverse = T.alloc_shared((places, pitch), T.float32)
        exponents = T.alloc_shared((places, pitch) if is_packed else (1, LANES), T.int32)
        scales = T.alloc_shared((1, s1) if is_packed else (places, pitch), plan.sf.dtype)
        positions = T.alloc_shared((align(R, LANES),), T.int32)
        keep = T.alloc_shared((align(R, LANES),), T.int32)
        scales_in = T.alloc_shared((t0, plan.sf_in.pitch(R, C)), plan.sf_in.dtype)
        in_flight = {tile: plan.stages, codes: plan.stages, scales: 2}
        if band_in is not None:
            in_flight[scales_in] = 2
        if gathers:
            in_flight[positions] = 2
        if swiglu:
            in_flight[right] = plan.stages
        T.annotate_buffer_versions({**in_flight, largest: 1, amax: 1, inverse: 1, exponents: 1})
        no_scales = T.alloc_shared((1, MIN_PITCH), plan.sf.dtype)
        with T.SimdVF():
            clear_magnitudes(amax, places * pitch, pitch)
            if parts > 1:
                clear_item(no_scales)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            reused(tile, codes, largest, amax, inverse, scales)
            if band_in is not None:
                reused(scales_in)
            if swiglu:
                reused(right)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            place = plan.sf.layout.item if parts > 1 else plan.sf.layout.items
            o0, o1 = place(row0 // height, col0 // width)
            if gathers:
                T.copy(pos_to_token[row0 : row0 + R], positions[0:R])
                for i in T.serial(T.min(R, tokens - row0)):
                    token = T.max(pos_to_token[row0 + i], 0)
                    T.copy(x[token : token + 1, col0 : col0 + C], tile[i : i + 1, 0:C])
                    if band_in is not None:
                        group = T.truncdiv(col0, band_in.block[1])
                        T.copy(
                            sf_in[token : token + 1, group : group + t1],
                            scales_in[i : i + 1, 0:t1],
                        )
            else:
                T.copy(x[row0, col0], tile)
                if band_in is not None:
                    i0, i1 = band_in.layout.items(row0, T.truncdiv(col0, band_in.block[1]))
                    T.copy(sf_in[i0 : i0 + t0, i1 : i1 + t1], scales_in[0:t0, 0:t1])
            if swiglu:
                T.copy(x[row0, hidden + col0], right)
            with T.SimdVF():
                if gathers:
                    rows_kept(positions, keep, align(R, LANES))
                    T.simd.mem_bar("VST_VLD")
                chunks = T.truncdiv(T.min(hidden - col0, C), LANES)
                if swiglu:
                    rows = T.min(tokens - row0, R)
                    whole = T.truncdiv(rows + TOGETHER - 1, TOGETHER) * TOGETHER
                    clear_rows(tile, rows, whole, chunks)
                    clear_rows(right, rows, whole, chunks)
                    T.simd.mem_bar("VST_VLD")
                    activate_tile(tile, right, tile, whole, chunks, limit, has_limit)
                    T.simd.mem_bar("VST_VLD")
                # Largest magnitudes
                for b in T.serial(blocks):
                    rows = T.max(T.min(tokens - row0 - b * height, height), 0)
                    column_magnitudes(
                        tile,
                        keep if gathers else None,
                        amax if is_channel else largest,
                        b,
                        b * height,
                        rows,
                        chunks,
                        scales_in,
                        band_in,
                    )
                if not is_channel:
                    T.simd.mem_bar("VST_VLD")
                    block_magnitudes(largest, amax, width, chunks, plan.sf.layout)
                T.simd.mem_bar("VST_VLD")
                # Scales
                scales_of_magnitudes(
                    amax, inverse, exponents if is_packed else scales, places * pitch, pitch,
                    floor_bits, round_sf, MAX_VALUE[plan.fmt], is_bf16,
                )  # fmt: skip
                if is_packed:
                    T.simd.mem_bar("VST_VLD")
                    used = T.min(T.truncdiv(tokens - row0 + height - 1, height), blocks)
                    words_of_exponents(exponents, scales, used, chunks, plan.sf.layout.pack)
                elif plan.sf.word > 1:
                    T.simd.mem_bar("VST_VST")
                    clear_spare_bytes(
                        scales, T.truncdiv(chunks * LANES + width - 1, width), plan.sf
                    )
                # Codes
                if plan.mode == "cast":
                    if not is_packed:
                        T.simd.mem_bar("VST_VLD")
                    for b in T.serial(blocks):
                        rows = T.max(T.min(tokens - row0 - b * height, height), 0)
                        if plan.fmt == "e4m3":
                            e4m3_codes(
                                tile,
                                keep if gathers else None,
                                inverse,
                                codes,
                                b,
                                b * height,
                                rows,
                                chunks,
                                plan.sf,
                                scales_in,
                                band_in,
                            )
                        else:
                            e2m1_codes(tile, inverse, codes, rows, chunks, plan.sf)
            if plan.mode == "cast":
                T.copy(codes, out[row0, col0 // plan.out_per_item])
            T.copy(scales[0:s0, 0:s1], sf[o0 : o0 + s0, o1 : o1 + s1])
            if parts > 1:
                # Zeros for the parts of a row's last word that stand for no tile
                side = T.truncdiv(col0, C)
                for n in T.serial(
                    T.if_then_else(side == across - 1, parts - 1 - T.truncmod(side, parts), 0)
                ):
                    q0, q1 = place(row0 // height, col0 // width + (n + 1) * s1)
                    T.copy(no_scales[0:1, 0:s1], sf[q0 : q0 + 1, q1 : q1 + s1])
