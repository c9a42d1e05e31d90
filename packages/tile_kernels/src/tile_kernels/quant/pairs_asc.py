"""Rows of bf16 or fp32 on pairs of vector registers, 128 numbers at a time as float32.

A pair holds even and odd columns of bf16, or 64 columns of fp32 and the 64 after them.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import pieces
from tile_kernels.quant.registers_asc import LANES

__all__ = ["STEP", "clear_tail", "pair_at", "pair_of", "rounded", "store_pair"]

STEP = 2 * LANES  # numbers of a pair of registers
UNIT = 32  # row lengths are a multiple of it


def pair_of(value: Any, all16: Any) -> tuple[Any, Any]:
    """The float32 of a register of bf16: even columns, odd columns."""
    return tuple(T.simd.vcvt(value, "float32", all16, part=part) for part in range(2))


def pair_at(tile: Any, i: Any, j: Any, all16: Any) -> tuple[Any, Any]:
    """128 numbers of a row as a pair of float32 registers."""
    if tile.dtype == "float32":
        return T.simd.vld(tile[i, j]), T.simd.vld(tile[i, j + LANES])
    return pair_of(T.simd.vld(tile[i, j]), all16)


def rounded(even: Any, odd: Any, all16: Any) -> Any:
    """A pair of float32 registers as one register of bf16."""
    low = T.simd.vcvt(even, "bfloat16", all16, sat=False, part=0)
    high = T.simd.vcvt(odd, "bfloat16", all16, sat=False, part=1)
    both = T.simd.vor(T.reinterpret(low, "int16x128"), T.reinterpret(high, "int16x128"), all16)
    return T.reinterpret(both, "bfloat16x128")


@T.macro
def store_pair(first, second, tile, i, j, all16, all32):
    """Writes a pair to 128 numbers of a row."""
    if tile.dtype == "float32":
        T.simd.vsts(tile[i, j], first, all32)
        T.simd.vsts(tile[i, j + LANES], second, all32)
    else:
        T.simd.vsts(tile[i, j], rounded(first, second, all16), all16, dist="NORM_B16")


@T.macro
def clear_tail(tile, rows, length, step):
    """Writes zeros behind the rows, to the next multiple of a step."""
    width = 32 if tile.dtype == "float32" else 16
    every, some = T.simd.pset(width), T.simd.pset(width, f"PAT_VL{UNIT}")
    zero = T.simd.vdup(T.cast(0, tile.dtype), tile.dtype, every)
    for i in T.serial(rows):
        for c in T.serial(T.truncdiv(pieces(length, step) * step - length, UNIT)):
            T.simd.vsts(tile[i, length + c * UNIT], zero, some, dist=f"NORM_B{width}")
