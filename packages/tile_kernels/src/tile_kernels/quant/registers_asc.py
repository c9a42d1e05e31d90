"""Numbers of bf16 or fp32 on vector registers, 64 at a time as float32: loads and stores.

Shared by all register kernels of this folder.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.numeric_asc import MAX_VALUE

__all__ = ["HALF", "LANES", "magnitude_bits", "saturate", "store_numbers", "values_at"]

LANES = 64  # fp32 lanes of a register
HALF = "PAT_VL32"  # the first half of them


def values_at(tile: Any, i: Any, j: Any, all16: Any) -> Any:
    """64 numbers of a row of bf16 or fp32, as float32."""
    if tile.dtype == "float32":
        return T.simd.vld(tile[i, j])
    return T.simd.vcvt(T.simd.vld(tile[i, j], dist="UNPK_B16"), "float32", all16, part=0)


@T.macro
def store_numbers(value, tile, i, j, all16, all32):
    """Writes 64 float32 to a row of bf16 or fp32, rounded to nearest."""
    if tile.dtype == "float32":
        T.simd.vsts(tile[i, j], value, all32)
    else:
        rounded = T.simd.vcvt(value, "bfloat16", all16, sat=False, part=0)
        T.simd.vsts(tile[i, j], rounded, all32, dist="PK_B32")


def magnitude_bits(value: Any, magnitude: Any, all32: Any) -> Any:
    """The bits of |value| as int32: they order as the values do, NaN above infinity."""
    return T.simd.vand(T.reinterpret(value, "int32x64"), magnitude, all32)


@T.macro
def saturate(v, count):
    """Limits registers to +-448; NaN stays, so a conversion that does not saturate keeps it."""
    all32 = T.simd.pset(32)
    largest = T.float32(MAX_VALUE["e4m3"])
    most = T.simd.vdup(largest, "float32", all32)
    least = T.simd.vdup(-largest, "float32", all32)
    for k in T.unroll(count):
        v[k] = T.simd.vsel(most, v[k], T.simd.vcmps(v[k], largest, all32, "gt"))
    for k in T.unroll(count):
        v[k] = T.simd.vsel(least, v[k], T.simd.vcmps(v[k], -largest, all32, "lt"))
