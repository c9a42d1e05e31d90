"""The fast kernel that multiplies e4m3 or e2m1 by scales of rows or of blocks, on vector registers.

A tile is a few rows; in a block of several rows all of them share the same scales. These become
factors of 32 channels each, whatever their layout, so one load brings those of 256 numbers.
Other blocks and scales are in `cast_back_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.quads_asc import PARTS, SLOT, UNIT, clear_behind, store_quads
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import factors_of_scales

__all__ = ["quads_back", "quads_of_codes"]


@T.macro
def quads_of_codes(v, tile, i, j, at=0):
    """Sets v[at : at + 4] to the 256 numbers of row i from column j on: e4m3 in bytes, or e2m1."""
    all8, all16 = T.simd.pset(8), T.simd.pset(16)
    if tile.dtype == "uint8":
        codes = T.reinterpret(T.simd.vld(tile[i, j]), "float8_e4m3fnx256")
        v[at] = T.simd.vcvt(codes, "float32", all8, part=0)
        v[at + 1] = T.simd.vcvt(codes, "float32", all8, part=1)
        v[at + 2] = T.simd.vcvt(codes, "float32", all8, part=2)
        v[at + 3] = T.simd.vcvt(codes, "float32", all8, part=3)
    else:
        left = _halves_of_codes(tile, i, T.truncdiv(j, 2), all8)
        right = _halves_of_codes(tile, i, T.truncdiv(j, 2) + UNIT // 4, all8)
        even, odd = T.simd.vdintlv(left, right)
        v[at] = T.simd.vcvt(even, "float32", all16, part=0)
        v[at + 1] = T.simd.vcvt(odd, "float32", all16, part=0)
        v[at + 2] = T.simd.vcvt(even, "float32", all16, part=1)
        v[at + 3] = T.simd.vcvt(odd, "float32", all16, part=1)


def _halves_of_codes(tile: Any, i: Any, j: Any, all8: Any) -> Any:
    """128 numbers of 64 bytes as bf16."""
    codes = T.reinterpret(T.simd.vld(tile[i, j], dist="UNPK4_B8"), "float4_e2m1fnx512")
    return T.simd.vcvt(codes, "bfloat16", all8, part=0)


@T.macro
def products_of_rows(tile, factors, values, rows, units, is_shared):
    """Writes code * factor, two units at a time; with `is_shared` all rows have the same ones."""
    all32 = T.simd.pset(32)
    v = T.simd.alloc_local(2 * PARTS, "float32")
    for i in T.serial(rows):
        for pair in T.serial(T.truncdiv(units + 1, 2)):
            a = 2 * pair
            b = T.min(a + 1, units - 1)  # without a second unit, the first one once more
            row = 0 if is_shared else i
            factor_a = T.simd.vld(factors[row, a * (UNIT // SLOT)], dist="E2B_B32")
            factor_b = T.simd.vld(factors[row, b * (UNIT // SLOT)], dist="E2B_B32")
            quads_of_codes(v, tile, i, a * UNIT)
            quads_of_codes(v, tile, i, b * UNIT, PARTS)
            for k in T.unroll(PARTS):
                v[k] = T.simd.vmul(v[k], factor_a, all32)
            for k in T.unroll(PARTS):
                v[PARTS + k] = T.simd.vmul(v[PARTS + k], factor_b, all32)
            store_quads(v, 0, values, i, a * UNIT)
            store_quads(v, PARTS, values, i, b * UNIT)


@asc_kernel()
def quads_back(
    x, sf, out, tasks: T.int32, across: T.int32,
    band: Any = None, x_dtype: str = "", out_dtype: str = "", rows: int = 0, cols: int = 0,
    cores: int = 0,
):  # fmt: skip
    """Writes bf16 or fp32 [tokens, hidden]; `across` tiles of rows x cols lie in a row.

    `x` are bytes: e4m3 as uint8, two e2m1 as int8. `sf` are the items of the scales in `band`.
    """
    M, XW, XS = T.dynamic("M, XW, XS")
    S0, S1, SS, OW = T.dynamic("S0, S1, SS, OW")
    x: T.StridedTensor((M, XW), (XS, 1), x_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), band.dtype)
    out: T.Tensor((M, OW), out_dtype)

    height, width = band.block
    per_item = 2 if x_dtype == "int8" else 1
    is_shared = height > 1
    s0, s1 = band.tile(rows, cols)
    pitch = band.pitch(rows, cols) if band.layout.is_column_major else LANES
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, cols // per_item), x_dtype)
        scales = T.alloc_shared((max(s0, LANES), pitch), band.dtype)
        factors = T.alloc_shared((1 if is_shared else rows, cols // SLOT), T.float32)
        values = T.alloc_shared((rows, cols), out_dtype)
        T.annotate_buffer_versions({tile: 2, scales: 2, values: 2, factors: 1})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, scales, values, factors)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * cores + core, across) * rows
                col0 = T.truncmod(turn * cores + core, across) * cols
            o0, o1 = band.layout.items(T.truncdiv(row0, height), T.truncdiv(col0, width))
            T.copy(x[row0, T.truncdiv(col0, per_item)], tile)
            T.copy(sf[o0 : o0 + s0, o1 : o1 + s1], scales[0:s0, 0:s1])
            with T.SimdVF():
                used, wide = T.min(M - row0, rows), T.min(OW - col0, cols)
                groups = T.truncdiv(wide + width - 1, width)
                clear_behind(tile, used, wide)
                factors_of_scales(
                    scales, factors, 1 if is_shared else used, groups, width // SLOT, pitch, band
                )
                T.simd.mem_bar("VST_VLD")
                units = T.truncdiv(wide + UNIT - 1, UNIT)
                products_of_rows(tile, factors, values, used, units, is_shared)
            T.copy(values, out[row0, col0])
