"""The kernels of RMSNorm backward (tile_kernels.md section 4.9).

The first handles a few whole rows at a time, a warp per row, and adds up the weight's gradient of a
core's rows in the unified buffer; the second adds the sums of all cores, in order.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel

__all__ = ["COLS", "column_sum", "norm_backward"]

WARP = 32
COLS = 512


@asc_kernel()
def norm_backward(
    grad, x, weight, rstd, residual_grad, x_grad, partial,
    out_scale: T.float32, tasks: T.int32,
    dtype: str = "", rows: int = 1, width: int = 0, cores: int = 1,
    has_residual: bool = False, has_weight: bool = False,
):  # fmt: skip
    """Writes x_grad, and to `partial` [cores, hidden] each core's sum of x * rstd * grad.

    `width` is at least the row length, a multiple of 64; unused tensors have one element.
    """
    M, H, GS, XS, W, RM, RH, RS, P0, P1 = T.dynamic("M, H, GS, XS, W, RM, RH, RS, P0, P1")
    grad: T.StridedTensor((M, H), (GS, 1), dtype)
    x: T.StridedTensor((M, H), (XS, 1), dtype)
    weight: T.Tensor((W,), dtype)
    rstd: T.Tensor((M,), T.float32)
    residual_grad: T.StridedTensor((RM, RH), (RS, 1), dtype)
    x_grad: T.Tensor((M, H), dtype)
    partial: T.Tensor((P0, P1), T.float32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), dtype)
        upper = T.alloc_shared((rows, width), dtype)
        result = T.alloc_shared((rows, width), dtype)
        scale = T.alloc_shared((width,), dtype)
        inverse = T.alloc_shared((32,), T.float32)
        sums = T.alloc_shared((width,), T.float32)
        row0 = T.alloc_var(T.int32)
        if has_weight:
            T.copy(weight[0:width], scale)
            with T.SimtVF(threads=WARP * rows):
                for j in T.Parallel(width):
                    sums[j] = 0.0
        # NOTE: tasks in a given order: without it a search for the best schedule takes seconds.
        for turn in T.serial(T.truncdiv(tasks - core + cores - 1, cores)):
            reused(tile, upper, result, inverse)
            if has_weight:
                reused(sums)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (turn * cores + core) * rows
            with T.Task(latency=1, ii=1):
                T.copy(x[row0, 0], tile)
                T.copy(grad[row0, 0], upper)
                T.copy(rstd[row0 : row0 + rows], inverse[0:rows])
                if has_residual:
                    T.copy(residual_grad[row0, 0], result)
            with T.Task(latency=1, ii=1), T.SimtVF(threads=WARP * rows):
                tx = T.get_thread_binding()
                i = tx // WARP
                total = T.alloc_var(T.float32)
                hat = T.alloc_var(T.float32)
                value = T.alloc_var(T.float32)
                total = 0.0
                # Mean of x * rstd * weighted gradient
                for e in T.serial(width // WARP):
                    j = e * WARP + tx % WARP
                    if row0 + i < M and j < H:
                        value = T.cast(upper[i, j], "float32") * out_scale
                        if has_weight:
                            value = value * T.cast(scale[j], "float32")
                        total = total + T.cast(tile[i, j], "float32") * inverse[i] * value
                total = T.warp_reduce_sum(total) / T.cast(H, "float32")
                # Gradient of the input
                for e in T.serial(width // WARP):
                    j = e * WARP + tx % WARP
                    if row0 + i < M and j < H:
                        value = T.cast(upper[i, j], "float32") * out_scale
                        if has_weight:
                            value = value * T.cast(scale[j], "float32")
                        hat = T.cast(tile[i, j], "float32") * inverse[i]
                        value = (value - hat * total) * inverse[i]
                        if has_residual:
                            value = value + T.cast(result[i, j], "float32")
                        result[i, j] = T.cast(value, dtype)
            if has_weight:
                with T.Task(latency=1, ii=1), T.SimtVF(threads=WARP * rows):
                    tx = T.get_thread_binding()
                    total = T.alloc_var(T.float32)
                    for e in T.serial(width // (WARP * rows)):
                        j = e * WARP * rows + tx
                        if j < H:
                            total = sums[j]
                            for i in T.serial(rows):
                                if row0 + i < M:
                                    total = total + T.cast(tile[i, j], "float32") * inverse[i] * (
                                        T.cast(upper[i, j], "float32") * out_scale
                                    )
                            sums[j] = total
            T.copy(result, x_grad[row0, 0])
        if has_weight:
            T.copy(sums, partial[core, 0:width])


@asc_kernel()
def column_sum(
    partial, out, parts: T.int32, dtype: str = "", cores: int = 1
):  # fmt: skip
    """Adds the sums over the first dimension to `out`."""
    P, H = T.dynamic("P, H")
    partial: T.Tensor((P, H), T.float32)
    out: T.Tensor((H,), dtype)
    with T.Kernel(cores) as core:
        row = T.alloc_shared((COLS,), dtype)
        col0 = T.alloc_var(T.int32)
        for turn in T.serial((T.ceildiv(H, COLS) - core + cores - 1) // cores):
            col0 = (turn * cores + core) * COLS
            T.copy(out[col0 : col0 + COLS], row)
            with T.SimtVF(threads=COLS):
                tx = T.get_thread_binding()
                total = T.alloc_var(T.float32)
                if col0 + tx < H:
                    total = T.cast(row[tx], "float32")
                    for p in T.serial(parts):
                        total = total + partial[p, col0 + tx]
                    row[tx] = T.cast(total, dtype)
            T.copy(row, out[col0 : col0 + COLS])
