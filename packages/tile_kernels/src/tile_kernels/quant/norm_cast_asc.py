"""The kernel of RMSNorm with a cast of its result, on vector registers (tile_kernels.md 4.9).

A tile is a few whole rows. The normalised rows, rounded, are then a tile of `token_cast_asc`. They
take the place of the input where nobody asks for them and there is no residual.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.cast_plan import BYTES, MIN_PITCH
from tile_kernels.quant.pairs_asc import clear_tail
from tile_kernels.quant.quads_asc import SLOT, UNIT
from tile_kernels.quant.registers_asc import LANES
from tile_kernels.quant.scales_asc import clear_magnitudes
from tile_kernels.quant.token_cast_asc import REGISTER, cast_rows, magnitude_dtype
from tile_kernels.quant.token_norm_asc import (
    PIECE,
    inverse_roots,
    load_factors,
    scale_rows,
    sums_of_squares,
)

__all__ = ["norm_cast"]


@asc_kernel()
def norm_cast(
    x, residual, weight, out, rstd, residual_out, codes_out, sf,
    eps: T.float32, out_scale: T.float32, floor_bits: T.int32, tasks: T.int32,
    plan: Any = None, round_sf: bool = False, has_residual: bool = False, has_weight: bool = False,
    has_out: bool = False,
):  # fmt: skip
    """What `token_norm` and `token_cast` write; `out` only with `has_out`.

    Rows are a multiple of 32 long, at most `plan.cols`; unused tensors have one element.
    """
    M, H, XS, RM, RH, RS, W, OM, OH = T.dynamic("M, H, XS, RM, RH, RS, W, OM, OH")
    OS, QM, QH, QS, S0, S1, SS = T.dynamic("OS, QM, QH, QS, S0, S1, SS")
    pack, is_turned = plan.sf.word, plan.sf.layout.is_column_major
    sf_dtype = f"int{8 * pack}" if is_turned and pack > 1 else plan.sf.dtype
    x: T.StridedTensor((M, H), (XS, 1), plan.x_dtype)
    residual: T.StridedTensor((RM, RH), (RS, 1), plan.x_dtype)
    weight: T.Tensor((W,), plan.x_dtype)
    out: T.StridedTensor((OM, OH), (OS, 1), plan.x_dtype)
    rstd: T.Tensor((M,), T.float32)
    residual_out: T.StridedTensor((QM, QH), (QS, 1), plan.x_dtype)
    codes_out: T.Tensor((M, H), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), sf_dtype)

    R, C = plan.rows, plan.cols
    width = plan.sf.block[1]
    G, ratio = C // width, width // SLOT
    # NOTE: 32 bytes behind each column, so that columns hit all banks
    wide, pitch = (G // pack, max(R, 16) + MIN_PITCH // BYTES[sf_dtype]) if is_turned else (1, 32)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        # The residual, then the normalised rows
        other = T.alloc_shared((R, C) if has_residual or has_out else (1, LANES), plan.x_dtype)
        result = other if has_residual or has_out else tile
        given = T.alloc_shared((1, PIECE), plan.x_dtype)
        weights = T.alloc_shared((1, C if has_weight else LANES), T.float32)
        sums = T.alloc_shared((LANES,), T.float32)
        inverse = T.alloc_shared((LANES,), T.float32)
        # The cast
        codes = T.alloc_shared((R, C), plan.out_dtype)
        slots = T.alloc_shared((R, C // SLOT), T.int32)
        factors = T.alloc_shared((R, C // SLOT), T.float32)
        groups = T.alloc_shared((R, G if ratio > 1 else LANES), magnitude_dtype(plan))
        inverses = T.alloc_shared((R, G) if ratio > 1 else (1, 2 * LANES), T.float32)
        scales = T.alloc_shared((max(R, REGISTER // G), G), plan.sf.dtype)
        turned = T.alloc_shared((wide, pitch), sf_dtype)
        in_flight = {tile: 2, inverse: 2, codes: 2, sums: 1}
        in_flight |= {slots: 1, factors: 1, groups: 1, inverses: 1}
        in_flight |= {scales: 1 if is_turned else 2, turned: 2 if is_turned else 1}
        if has_residual or has_out:
            in_flight[other] = 2
        T.annotate_buffer_versions(in_flight)
        if has_weight:
            load_factors(weight, given, weights, H, out_scale)
        with T.SimdVF():
            clear_magnitudes(slots, R * C // SLOT, C // SLOT)
            if ratio > 1:
                clear_magnitudes(groups, R * G, G)
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            reused(tile, sums, inverse, codes, slots, factors, groups, inverses, scales, turned)
            row0 = (turn * plan.cores + core) * R
            T.copy(x[row0, 0], tile)
            if has_residual or has_out:
                reused(other)
            if has_residual:
                T.copy(residual[row0, 0], other)
            with T.SimdVF():
                valid = T.min(M - row0, R)
                sums_of_squares(tile, other, sums, valid, H, has_residual)
                T.simd.mem_bar("VST_VLD")
                inverse_roots(sums, inverse, valid, H, eps)
                T.simd.mem_bar("VST_VLD")
                scale_rows(tile, inverse, weights, result, valid, H, out_scale, has_weight)
                T.simd.mem_bar("VST_VST")
                clear_tail(result, valid, H, UNIT)
                T.simd.mem_bar("VST_VLD")
                cast_rows(
                    result, codes, slots, factors, groups, inverses, scales, turned, valid, H,
                    pieces(H, UNIT), floor_bits, round_sf, plan, multiple=SLOT,
                )  # fmt: skip
            T.copy(inverse[0:R], rstd[row0 : row0 + R])
            if has_residual:
                T.copy(tile, residual_out[row0, 0])
            if has_out:
                T.copy(result, out[row0, 0])
            T.copy(codes, codes_out[row0, 0])
            if is_turned:
                T.copy(turned[0:wide, 0:R], sf[0:wide, row0 : row0 + R])
            else:
                T.copy(scales[0:R, 0:G], sf[row0 : row0 + R, 0:G])
