"""Scales of largest magnitudes on vector registers (tile_kernels.md section 3.2).

The kernels write the bits of each block's largest magnitude to its place; then all scales of a tile
are computed together. The rule is that of `scale_of_block` in `block_cast_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels.quant.registers_asc import LANES

__all__ = ["clear_magnitudes", "scales_of_magnitudes"]

REGISTER_BITS = 2048


@T.macro
def clear_magnitudes(amax, items, pitch):
    """Writes zeros to all places, also to those between the rows of a tile's scales."""
    bits = 16 if amax.dtype == "int16" else 32
    every = T.simd.pset(bits)
    for step in T.serial(items * bits // REGISTER_BITS):
        r, c = step * REGISTER_BITS // bits // pitch, step * REGISTER_BITS // bits % pitch
        zero = T.simd.vdup(T.cast(0, amax.dtype), amax.dtype, every)
        T.simd.vsts(amax[r, c], zero, every, dist=f"NORM_B{bits}")


@T.macro
def scales_of_magnitudes(
    amax, inverse, scales, items, pitch, floor_bits, round_sf, largest_code=448.0, is_bf16=True
):
    """Writes scale (or its exponent) and inverse of every place of a tile.

    `amax` holds the bits of bf16 numbers (int16 or int32) or of fp32 numbers (int32). `scales` are
    fp32; or exponents as uint8 or int32 with `round_sf`.
    """
    all32 = T.simd.pset(32)
    for step in T.serial(items // LANES):
        r, c = step * LANES // pitch, step * LANES % pitch
        bits = T.reinterpret(
            T.simd.vld(amax[r, c], dist="UNPK_B16" if amax.dtype == "int16" else "NORM"), "int32x64"
        )
        if is_bf16:
            bits = T.simd.vshls(bits, 16, all32)
        largest = T.reinterpret(T.simd.vmaxs(bits, floor_bits, all32), "float32x64")
        most = T.simd.vdup(T.float32(largest_code), "float32", all32)
        scale = T.simd.vdiv(largest, most, all32)
        if round_sf:
            below = T.simd.vadds(T.reinterpret(scale, "int32x64"), T.int32(-1), all32)
            above = T.simd.vadds(T.simd.vshrs(below, 23, all32), T.int32(1), all32)
            exponent = T.simd.vmins(above, T.int32(255), all32)
            mirrored = T.simd.vsub(T.simd.vdup(T.int32(254), "int32", all32), exponent, all32)
            rest = T.simd.vshls(T.simd.vmaxs(mirrored, T.int32(0), all32), 23, all32)
            T.simd.vsts(inverse[r, c], T.reinterpret(rest, "float32x64"), all32)
            if scales.dtype == "uint8":
                T.simd.vsts(
                    scales[r, c], T.reinterpret(exponent, "uint8x256"), all32, dist="PK4_B32"
                )
            elif scales.dtype == "int32":
                T.simd.vsts(scales[r, c], exponent, all32)
            else:
                power = T.reinterpret(T.simd.vshls(exponent, 23, all32), "float32x64")
                T.simd.vsts(scales[r, c], power, all32)
        else:
            T.simd.vsts(inverse[r, c], T.simd.vdiv(most, largest, all32), all32)
            T.simd.vsts(scales[r, c], scale, all32)
