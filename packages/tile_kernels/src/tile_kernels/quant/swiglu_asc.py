"""The formulas of SwiGLU on vector registers, 64 channels at a time.

Shared by the kernels of both directions (tile_kernels.md section 4.8). Exponential and division are
the hardware's own instructions, within 1 ulp each.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

__all__ = [
    "LANES", "count_clamped", "magnitude_bits", "rows_of_experts", "store_numbers", "values_at",
]  # fmt: skip

LANES = 64  # fp32 lanes of a register


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
def count_clamped(counts, k, condition, one, all32):
    """Adds `one` to the lanes of a counter where the condition holds."""
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    counts[k] = T.simd.vadd(counts[k], T.simd.vsel(one, zero, condition), all32)


@T.macro
def rows_of_experts(rows: T.Ref, psum, experts, row0, most, alignment):
    """Sets `rows` to how many of `most` rows from row0 on belong to an expert: the first ones."""
    first = T.alloc_var(T.int32)
    rows = 0
    first = 0
    for expert in T.serial(experts):
        if first <= row0:
            rows = T.max(rows, T.min(psum[expert] - row0, most))
        first = (psum[expert] + (alignment - 1)) // alignment * alignment
