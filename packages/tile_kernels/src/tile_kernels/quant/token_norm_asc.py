"""The kernel of RMSNorm forward on vector registers (tile_kernels.md section 4.9).

A tile is a few whole rows. Longer rows are in `norm_forward_asc`; sums differ in their order only.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.pairs_asc import clear_tail
from tile_kernels.quant.registers_asc import LANES, store_numbers, values_at

__all__ = [
    "PIECE", "STEP", "inverse_roots", "load_factors", "scale_rows", "sums_of_squares", "token_norm",
]  # fmt: skip

TOGETHER = 8  # registers on which a step works before the next one: none waits for its operands
STEP = TOGETHER * LANES  # numbers they hold
PIECE = 1024  # weights loaded at a time


@T.macro
def load_factors(weight, given, factors, length, out_scale):
    """Writes the weights times the scale as fp32, and zeros behind them; `given` is a piece."""
    for p in T.serial(pieces(length, PIECE)):
        T.copy(weight[p * PIECE : p * PIECE + PIECE], given[0, 0:PIECE])
        with T.SimdVF():
            all16, all32 = T.simd.pset(16), T.simd.pset(32)
            clear_tail(given, 1, T.min(length - p * PIECE, PIECE), PIECE)
            T.simd.mem_bar("VST_VLD")
            for c in T.serial(PIECE // LANES):
                scaled = T.simd.vmuls(values_at(given, 0, c * LANES, all16), out_scale, all32)
                T.simd.vsts(factors[0, p * PIECE + c * LANES], scaled, all32)


@T.macro
def add_numbers(v, tile, other, i, j, all16, all32):
    """Sets some registers to tile + other, rounded as the tile is, and writes them to the tile."""
    w = T.simd.alloc_local(TOGETHER, "float32")
    for k in T.unroll(TOGETHER):
        w[k] = values_at(other, i, j + k * LANES, all16)
    for k in T.unroll(TOGETHER):
        v[k] = T.simd.vadd(v[k], w[k], all32)
    for k in T.unroll(TOGETHER):
        store_numbers(v[k], tile, i, j + k * LANES, all16, all32)
    if tile.dtype != "float32":
        # The upper half of a float32 is a bf16
        for k in T.unroll(TOGETHER):
            rounded = T.simd.vcvt(v[k], "bfloat16", all16, sat=False, part=1)
            v[k] = T.reinterpret(rounded, "float32x64")


@T.macro
def sums_of_squares(tile, other, sums, rows, length, has_residual):
    """Writes the sum of squares of each row, after adding the other rows to them."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    clear_tail(tile, rows, length, STEP)
    if has_residual:
        clear_tail(other, rows, length, STEP)
    T.simd.mem_bar("VST_VLD")
    parts, v = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(2))
    for i in T.serial(rows):
        for k in T.unroll(TOGETHER):
            parts[k] = T.simd.vdup(T.float32(0.0), "float32", all32)
        for g in T.serial(pieces(length, STEP)):
            for k in T.unroll(TOGETHER):
                v[k] = values_at(tile, i, g * STEP + k * LANES, all16)
            if has_residual:
                add_numbers(v, tile, other, i, g * STEP, all16, all32)
            for k in T.unroll(TOGETHER):
                T.simd.vmula(parts[k], v[k], v[k], all32)
        for n in (4, 2, 1):
            for k in T.unroll(n):
                parts[k] = T.simd.vadd(parts[k], parts[k + n], all32)
        T.simd.vsts(sums[i], T.simd.vcadd(parts[0], all32), all32, dist="ONEPT_B32")


@T.macro
def inverse_roots(sums, inverse, rows, length, eps):
    """Writes 1 / sqrt(sum / length + eps) of all rows, by the hardware's division and root."""
    every, some = T.simd.pset(32), T.simd.update_mask(rows, 32)
    divisor = T.simd.vdup(T.cast(length, "float32"), "float32", every)
    mean = T.simd.vdiv(T.simd.vld(sums[0]), divisor, some, precision="ftz_true")
    root = T.simd.vsqrt(T.simd.vadds(mean, eps, some), some)
    one = T.simd.vdup(T.float32(1.0), "float32", every)
    T.simd.vsts(inverse[0], T.simd.vdiv(one, root, some, precision="ftz_true"), some)


@T.macro
def scale_rows(tile, inverse, factors, result, rows, length, out_scale, has_weight):
    """Writes each row times its inverse root, times the weights and the scale.

    The numbers of a batch are loaded before the products of the batch before it are written.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    v, product = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(2))
    batches = pieces(length, STEP)
    for k in T.unroll(TOGETHER):
        v[k] = values_at(tile, 0, k * LANES, all16)
    for i in T.serial(rows):
        times = T.simd.vld(inverse[i], dist="BRC_B32")
        for g in T.serial(batches):
            # NOTE: behind the last batch comes that one once more, for nothing: others are written
            next_row, next_column = T.alloc_var(T.int32), T.alloc_var(T.int32)
            next_row = T.if_then_else(g + 1 < batches, i, T.min(i + 1, rows - 1))
            next_column = T.if_then_else(
                g + 1 < batches, (g + 1) * STEP, T.if_then_else(i + 1 < rows, 0, g * STEP)
            )
            for k in T.unroll(TOGETHER):
                product[k] = T.simd.vmul(v[k], times, all32)
            for k in T.unroll(TOGETHER):
                if has_weight:
                    weight = T.simd.vld(factors[0, g * STEP + k * LANES])
                    product[k] = T.simd.vmul(product[k], weight, all32)
                else:
                    product[k] = T.simd.vmuls(product[k], out_scale, all32)
            for k in T.unroll(TOGETHER):
                v[k] = values_at(tile, next_row, next_column + k * LANES, all16)
            for k in T.unroll(TOGETHER):
                store_numbers(product[k], result, i, g * STEP + k * LANES, all16, all32)


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
        given = T.alloc_shared((1, PIECE), dtype)
        factors = T.alloc_shared((1, cols), T.float32)
        sums = T.alloc_shared((LANES,), T.float32)
        inverse = T.alloc_shared((LANES,), T.float32)
        T.annotate_buffer_versions({tile: 2, result: 2, sums: 1, inverse: 2})
        if has_weight:
            load_factors(weight, given, factors, H, out_scale)
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
