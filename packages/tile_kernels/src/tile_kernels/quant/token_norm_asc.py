"""The kernel of RMSNorm forward on vector registers (tile_kernels.md section 4.9).

A tile is a few whole rows. Longer rows are in `norm_forward_asc`; sums differ in their order only.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.pairs_asc import STEP, clear_tail, pair_at, pair_of, rounded, store_pair
from tile_kernels.quant.registers_asc import LANES

__all__ = ["token_norm"]


@T.macro
def add_pair(pairs, k, tile, other, i, j, all16, all32):
    """Sets pair k to tile + other, rounded as the tile is, and writes it to the tile."""
    a, b = pair_at(tile, i, j, all16)
    c, d = pair_at(other, i, j, all16)
    if tile.dtype == "float32":
        pairs[2 * k] = T.simd.vadd(a, c, all32)
        pairs[2 * k + 1] = T.simd.vadd(b, d, all32)
        store_pair(pairs[2 * k], pairs[2 * k + 1], tile, i, j, all16, all32)
    else:
        total = rounded(T.simd.vadd(a, c, all32), T.simd.vadd(b, d, all32), all16)
        T.simd.vsts(tile[i, j], total, all16, dist="NORM_B16")
        pairs[2 * k] = pair_of(total, all16)[0]
        pairs[2 * k + 1] = pair_of(total, all16)[1]


@T.macro
def weight_factors(given, factors, length, out_scale):
    """Writes the weights times the scale, as pairs."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    clear_tail(given, 1, length, STEP)
    T.simd.mem_bar("VST_VLD")
    for g in T.serial(pieces(length, STEP)):
        first, second = pair_at(given, 0, g * STEP, all16)
        T.simd.vsts(factors[0, g * LANES], T.simd.vmuls(first, out_scale, all32), all32)
        T.simd.vsts(factors[1, g * LANES], T.simd.vmuls(second, out_scale, all32), all32)


@T.macro
def sums_of_squares(tile, other, sums, rows, length, has_residual):
    """Writes the sum of squares of each row, after adding the other rows to them."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    clear_tail(tile, rows, length, 2 * STEP)
    if has_residual:
        clear_tail(other, rows, length, 2 * STEP)
    T.simd.mem_bar("VST_VLD")
    parts, pairs = T.simd.alloc_local(4, "float32"), T.simd.alloc_local(4, "float32")
    for i in T.serial(rows):
        for k in T.unroll(4):
            parts[k] = T.simd.vdup(T.float32(0.0), "float32", all32)
        for g in T.serial(pieces(length, 2 * STEP)):
            for k in T.unroll(2):
                j = (2 * g + k) * STEP
                if has_residual:
                    add_pair(pairs, k, tile, other, i, j, all16, all32)
                else:
                    pairs[2 * k], pairs[2 * k + 1] = pair_at(tile, i, j, all16)
            for k in T.unroll(4):
                T.simd.vmula(parts[k], pairs[k], pairs[k], all32)
        halves = T.simd.vadd(
            T.simd.vadd(parts[0], parts[1], all32), T.simd.vadd(parts[2], parts[3], all32), all32
        )
        T.simd.vsts(sums[i], T.simd.vcadd(halves, all32), all32, dist="ONEPT_B32")


@T.macro
def inverse_roots(sums, inverse, rows, length, eps):
    """Writes 1 / sqrt(sum / length + eps) of all rows."""
    every, some = T.simd.pset(32), T.simd.update_mask(rows, 32)
    divisor = T.simd.vdup(T.cast(length, "float32"), "float32", every)
    mean = T.simd.vadds(T.simd.vdiv(T.simd.vld(sums[0]), divisor, some), eps, some)
    root = T.simd.vsqrt(mean, some, precision="ftz_false")
    one = T.simd.vdup(T.float32(1.0), "float32", every)
    T.simd.vsts(inverse[0], T.simd.vdiv(one, root, some), some)


@T.macro
def scale_rows(tile, inverse, factors, result, rows, length, out_scale, has_weight):
    """Writes each row times its inverse root, times the weights and the scale."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    for i in T.serial(rows):
        times = T.simd.vld(inverse[i], dist="BRC_B32")
        for g in T.serial(pieces(length, STEP)):
            a, b = pair_at(tile, i, g * STEP, all16)
            a, b = T.simd.vmul(a, times, all32), T.simd.vmul(b, times, all32)
            if has_weight:
                a = T.simd.vmul(a, T.simd.vld(factors[0, g * LANES]), all32)
                b = T.simd.vmul(b, T.simd.vld(factors[1, g * LANES]), all32)
            else:
                a, b = T.simd.vmuls(a, out_scale, all32), T.simd.vmuls(b, out_scale, all32)
            store_pair(a, b, result, i, g * STEP, all16, all32)


@asc_kernel()
def token_norm(
    x, residual, weight, out, rstd, residual_out,
    eps: T.float32, out_scale: T.float32, tasks: T.int32,
    dtype: str = "", rows: int = 1, cols: int = 1024, cores: int = 1,
    has_residual: bool = False, has_weight: bool = False,
):  # fmt: skip
    """Writes r = x + residual, rstd = 1 / sqrt(mean(r * r) + eps), (r * rstd) * (weight * scale).

    Rows are a multiple of 32 long, at most `cols`; unused tensors have one element.
    """
    M, H, XS, RM, RH, RS, W, OS, QM, QH, QS = T.dynamic("M, H, XS, RM, RH, RS, W, OS, QM, QH, QS")
    x: T.StridedTensor((M, H), (XS, 1), dtype)
    residual: T.StridedTensor((RM, RH), (RS, 1), dtype)
    weight: T.Tensor((W,), dtype)
    out: T.StridedTensor((M, H), (OS, 1), dtype)
    rstd: T.Tensor((M,), T.float32)
    residual_out: T.StridedTensor((QM, QH), (QS, 1), dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, cols), dtype)
        result = T.alloc_shared((rows, cols), dtype)
        given = T.alloc_shared((1, cols), dtype)
        factors = T.alloc_shared((2, cols // 2), T.float32)
        sums = T.alloc_shared((LANES,), T.float32)
        inverse = T.alloc_shared((LANES,), T.float32)
        T.annotate_buffer_versions({tile: 2, result: 2, sums: 1, inverse: 2})
        if has_weight:
            T.copy(weight[0:cols], given[0, 0:cols])
            with T.SimdVF():
                weight_factors(given, factors, H, out_scale)
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, result, sums, inverse)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            if has_residual:
                T.copy(residual[row0, 0], result)
            with T.SimdVF():
                valid = T.min(M - row0, rows)
                sums_of_squares(tile, result, sums, valid, H, has_residual)
                T.simd.mem_bar("VST_VLD")
                inverse_roots(sums, inverse, valid, H, eps)
                T.simd.mem_bar("VST_VLD")
                scale_rows(tile, inverse, factors, result, valid, H, out_scale, has_weight)
            T.copy(result, out[row0, 0])
            T.copy(inverse[0:rows], rstd[row0 : row0 + rows])
            if has_residual:
                T.copy(tile, residual_out[row0, 0])
