"""The fast kernel of the per-token cast of bf16 to e4m3 in groups of 128, on vector registers.

A group is one register of bf16: its largest magnitude comes from the bits in one instruction.
Scales of a tile are computed together, then the codes, 64 at a time. Tiles are a few rows wide
bursts; loads, arithmetic and stores of three tiles overlap. Other formats are in `block_cast_asc`,
with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import clear_magnitudes, scales_of_magnitudes
from tile_kernels.utils import align

__all__ = ["token_cast"]

GROUP = 128  # lanes of a register of bf16


@T.macro
def largest_magnitudes(tile, amax, rows, groups, layout):
    """Writes the bits of the largest |bf16| of each group to its place in `amax` (int16)."""
    all16 = T.simd.pset(16)
    magnitude = T.simd.vdup(T.int16(0x7FFF), "int16", all16)
    for i in T.serial(rows):
        for g in T.serial(groups):
            p0, p1 = layout.item(i, g)
            value = T.reinterpret(T.simd.vld(tile[i, g * GROUP]), "int16x128")
            bits = T.simd.vand(value, magnitude, all16)
            T.simd.vsts(amax[p0, p1], T.simd.vcmax(bits, all16), all16, dist="ONEPT_B16")


@T.macro
def codes_of_values(tile, inverse, codes, rows, groups, layout):
    """Writes the e4m3 numbers nearest to value * inverse; NaN stays NaN.

    Even and odd elements are converted apart, into the first and second byte of 32-bit lanes. No
    product is above 448 but NaN, so the conversion that does not saturate is right for all.
    """
    all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
    for i in T.serial(rows):
        for g in T.serial(groups):
            p0, p1 = layout.item(i, g)
            factor = T.simd.vld(inverse[p0, p1], dist="BRC_B32")
            value = T.simd.vld(tile[i, g * GROUP])
            even = T.simd.vmul(T.simd.vcvt(value, "float32", all16, part=0), factor, all32)
            odd = T.simd.vmul(T.simd.vcvt(value, "float32", all16, part=1), factor, all32)
            low = T.simd.vcvt(even, "float8_e4m3fn", all8, sat=False, part=0)
            high = T.simd.vcvt(odd, "float8_e4m3fn", all8, sat=False, part=1)
            pair = T.simd.vor(
                T.reinterpret(low, "int32x64"), T.reinterpret(high, "int32x64"), all32
            )
            T.simd.vsts(
                codes[i, g * GROUP], T.reinterpret(pair, "float8_e4m3fnx256"), all32, dist="PK_B32"
            )


@asc_kernel()
def token_cast(
    x, out, sf, floor_bits: T.int32, tasks: T.int32,
    plan: Any = None, round_sf: bool = False,
):  # fmt: skip
    """Casts [tokens, hidden] bf16, hidden a multiple of 128 and at most the columns of a tile."""
    M, H, XS = T.dynamic("M, H, XS")
    OS, S0, S1, SS = T.dynamic("OS, S0, S1, SS")
    x: T.StridedTensor((M, H), (XS, 1), T.bfloat16)
    out: T.StridedTensor((M, H), (OS, 1), T.float8_e4m3fn)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    s0, s1 = plan.sf.tile(R, C)
    pitch = plan.sf.pitch(R, C)
    places = align(s0, max(GROUP // pitch, 1))  # rows of scales that fill whole registers
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), T.bfloat16)
        codes = T.alloc_shared((R, C), T.float8_e4m3fn)
        amax = T.alloc_shared((places, pitch), T.int16)
        inverse = T.alloc_shared((places, pitch), T.float32)
        scales = T.alloc_shared((places, pitch), plan.sf.dtype)
        T.annotate_buffer_versions({tile: 2, codes: 2, scales: 2, amax: 1, inverse: 1})
        with T.SimdVF():
            clear_magnitudes(amax, places * pitch, pitch)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            row0 = (turn * plan.cores + core) * R
            o0, o1 = plan.sf.layout.items(row0, 0)
            T.copy(x[row0, 0], tile)
            with T.SimdVF():
                rows = T.min(M - row0, R)
                groups = T.truncdiv(H, GROUP)
                largest_magnitudes(tile, amax, rows, groups, plan.sf.layout)
                T.simd.mem_bar("VST_VLD")
                scales_of_magnitudes(
                    amax, inverse, scales, align(s0 * pitch, LANES), pitch, floor_bits, round_sf
                )
                T.simd.mem_bar("VST_VLD")
                codes_of_values(tile, inverse, codes, rows, groups, plan.sf.layout)
            T.copy(codes, out[row0, 0])
            T.copy(scales[0:s0, 0:s1], sf[o0 : o0 + s0, o1 : o1 + s1])
