"""The kernel of RMSNorm forward by threads, for long rows (tile_kernels.md section 4.9).

A tile is a few whole rows, a warp per row. The sum of squares is taken of the rounded input, that
is what the backward pass will see.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel

__all__ = ["norm_forward"]

WARP = 32


@asc_kernel()
def norm_forward(
    x, residual, weight, out, rstd, residual_out,
    eps: T.float32, out_scale: T.float32, tasks: T.int32,
    dtype: str = "", rows: int = 1, width: int = 0, cores: int = 1,
    has_residual: bool = False, has_weight: bool = False,
):  # fmt: skip
    """Writes r = x + residual, rstd = 1 / sqrt(mean(r * r) + eps), (r * rstd) * (weight * scale).

    `width` is at least the row length, a multiple of 64; unused tensors have one element.
    """
    M, H, XS, RM, RH, RS, W, OS, QM, QH, QS = T.dynamic("M, H, XS, RM, RH, RS, W, OS, QM, QH, QS")
    x: T.StridedTensor((M, H), (XS, 1), dtype)
    residual: T.StridedTensor((RM, RH), (RS, 1), dtype)
    weight: T.Tensor((W,), dtype)
    out: T.StridedTensor((M, H), (OS, 1), dtype)
    rstd: T.Tensor((M,), T.float32)
    residual_out: T.StridedTensor((QM, QH), (QS, 1), dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), dtype)
        result = T.alloc_shared((rows, width), dtype)
        scale = T.alloc_shared((width,), dtype)
        inverse = T.alloc_shared((32,), T.float32)
        row0 = T.alloc_var(T.int32)
        if has_weight:
            T.copy(weight[0:width], scale)
        for turn in T.serial((tasks - core + cores - 1) // cores):
            reused(tile, result, inverse)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            if has_residual:
                T.copy(residual[row0, 0], result)
            with T.SimtVF(threads=WARP * rows):
                tx = T.get_thread_binding()
                i = tx // WARP
                total = T.alloc_var(T.float32)
                rest = T.alloc_var(T.float32)
                value = T.alloc_var(T.float32)
                total = 0.0
                for e in T.serial(width // WARP):
                    j = e * WARP + tx % WARP
                    if row0 + i < M and j < H:
                        value = T.cast(tile[i, j], "float32")
                        if has_residual:
                            value = value + T.cast(result[i, j], "float32")
                            tile[i, j] = T.cast(value, dtype)
                            value = T.cast(tile[i, j], "float32")
                        total = total + value * value
                total = T.warp_reduce_sum(total)
                rest = 1.0 / T.sqrt(total / T.cast(H, "float32") + eps)
                if tx % WARP == 0:
                    inverse[i] = rest
                for e in T.serial(width // WARP):
                    j = e * WARP + tx % WARP
                    if row0 + i < M and j < H:
                        value = T.cast(tile[i, j], "float32") * rest
                        if has_weight:
                            value = value * (T.cast(scale[j], "float32") * out_scale)
                        else:
                            value = value * out_scale
                        result[i, j] = T.cast(value, dtype)
            T.copy(result, out[row0, 0])
            T.copy(inverse[0:rows], rstd[row0 : row0 + rows])
            if has_residual:
                T.copy(tile, residual_out[row0, 0])
