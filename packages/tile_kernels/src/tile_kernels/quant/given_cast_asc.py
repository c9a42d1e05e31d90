"""The kernel of casts with given scales of rows or of blocks, on vector registers.

A tile is a few rows; in a block of several rows all of them share the same scales. Inverses of
these become factors of 32 channels each, whatever their layout. Other blocks and scales are in
`block_cast_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.quads_asc import SLOT, UNIT, clear_behind
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import numbers_of_scales
from tile_kernels.quant.token_cast_asc import codes_of_units, spread_factors

__all__ = ["given_cast"]


@asc_kernel()
def given_cast(x, sf, out, tasks: T.int32, across: T.int32, plan: Any = None):  # fmt: skip
    """Casts [tokens, hidden] bf16 or fp32, hidden a multiple of 64; `across` tiles lie in a row.

    `sf` are the items of the scales. `plan` is by `plan_given_cast`.
    """
    M, H, XS = T.dynamic("M, H, XS")
    S0, S1, SS, OW = T.dynamic("S0, S1, SS, OW")
    x: T.StridedTensor((M, H), (XS, 1), plan.x_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)
    out: T.Tensor((M, OW), plan.out_dtype)

    R, C, band = plan.rows, plan.cols, plan.sf
    height, width = band.block
    is_shared = height > 1
    is_turned = band.layout.is_column_major
    G, ratio = C // width, width // SLOT
    s0, s1 = band.tile(R, C)
    pitch = band.pitch(R, C)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        scales = T.alloc_shared((s0 if is_turned else max(R, LANES // G), pitch), band.dtype)
        inverse = T.alloc_shared((max(R, LANES // G), G) if ratio > 1 else (1, LANES), T.float32)
        factors = T.alloc_shared((R, C // SLOT), T.float32)
        codes = T.alloc_shared((R, C // plan.out_per_item), plan.out_dtype)
        T.annotate_buffer_versions({tile: 2, scales: 2, codes: 2, factors: 1, inverse: 1})
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            reused(tile, scales, codes, factors, inverse)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            o0, o1 = band.layout.items(T.truncdiv(row0, height), T.truncdiv(col0, width))
            T.copy(x[row0, col0], tile)
            T.copy(sf[o0 : o0 + s0, o1 : o1 + s1], scales[0:s0, 0:s1])
            with T.SimdVF():
                rows, cols = T.min(M - row0, R), T.min(H - col0, C)
                clear_behind(tile, rows, cols)
                items = G if is_shared else rows * G
                numbers_of_scales(
                    scales, inverse if ratio > 1 else factors, items, G, pitch, band, True
                )
                T.simd.mem_bar("VST_VLD")
                if ratio > 1:
                    whole = T.truncdiv(items + LANES - 1, LANES) * LANES
                    spread_factors(inverse, factors, whole, ratio)
                    T.simd.mem_bar("VST_VLD")
                units = T.truncdiv(cols + UNIT - 1, UNIT)
                codes_of_units(
                    tile, factors, codes, rows, units, plan.fmt, is_given=True,
                    is_shared=is_shared,
                )  # fmt: skip
            T.copy(codes, out[row0, T.truncdiv(col0, plan.out_per_item)])
