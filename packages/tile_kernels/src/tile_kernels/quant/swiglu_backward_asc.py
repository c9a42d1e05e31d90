"""The kernel of SwiGLU backward (tile_kernels.md section 4.8).

A task is a few whole rows, a warp per row; it walks over the columns and keeps the row's sum for
the gradient of the weight. Rows outside the experts get zeros.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.swiglu_asc import rows_of_experts

__all__ = ["COLS", "swiglu_backward"]

COLS = 512
WARP = 32


@asc_kernel()
def swiglu_backward(
    x, grad, psum, weights, x_grad, weight_grad, act_out,
    factor: T.float32, limit: T.float32, tasks: T.int32, steps: T.int32,
    x_dtype: str = "", grad_dtype: str = "", out_dtype: str = "", rows: int = 1, cores: int = 1,
    has_psum: bool = False, has_weights: bool = False, has_limit: bool = False,
    has_act: bool = False, alignment: int = 1,
):  # fmt: skip
    """Gradients of silu(left) * right * weight; unused tensors have one element."""
    N, XW, H, NP, NW, A0, A1 = T.dynamic("N, XW, H, NP, NW, A0, A1")
    x: T.Tensor((N, XW), x_dtype)
    grad: T.Tensor((N, H), grad_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    x_grad: T.Tensor((N, XW), out_dtype)
    weight_grad: T.Tensor((NW,), T.float32)
    act_out: T.Tensor((A0, A1), out_dtype)
    with T.Kernel(cores) as core:
        left = T.alloc_shared((rows, COLS), x_dtype)
        right = T.alloc_shared((rows, COLS), x_dtype)
        upper = T.alloc_shared((rows, COLS), grad_dtype)
        d_left = T.alloc_shared((rows, COLS), out_dtype)
        d_right = T.alloc_shared((rows, COLS), out_dtype)
        act = T.alloc_shared((rows, COLS), out_dtype)
        weight = T.alloc_shared((32,), T.float32)
        total = T.alloc_shared((32,), T.float32)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        valid = T.alloc_var(T.int32)
        # NOTE: tasks in a given order: without it a search for the best schedule takes seconds.
        for turn in T.serial(T.truncdiv(tasks - core + cores - 1, cores)):
            # Valid rows of the task: its first ones, because `rows` divides the alignment
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (turn * cores + core) * rows
                valid = T.min(N - row0, rows)
                if has_psum:
                    rows_of_experts(valid, psum, NP, row0, rows, alignment)
            if has_weights:
                T.copy(weights[row0 : row0 + rows], weight[0:rows])
            for step in T.serial(steps):
                with T.Stage(0), T.Task(latency=1, ii=1):
                    col0 = step * COLS
                with T.Task(latency=1, ii=1):
                    T.copy(x[row0, col0], left)
                    T.copy(x[row0, H + col0], right)
                    T.copy(grad[row0, col0], upper)
                with T.Task(latency=1, ii=1), T.SimtVF(threads=WARP * rows):
                    tx = T.get_thread_binding()
                    i = tx // WARP
                    l = T.alloc_var(T.float32)
                    r = T.alloc_var(T.float32)
                    g = T.alloc_var(T.float32)
                    w = T.alloc_var(T.float32)
                    part = T.alloc_var(T.float32)
                    part = 0.0
                    for e in T.serial(COLS // WARP):
                        j = e * WARP + tx % WARP
                        if i < valid and col0 + j < H:
                            l = T.cast(left[i, j], "float32")
                            r = T.cast(right[i, j], "float32")
                            g = T.cast(upper[i, j], "float32")
                            w = 1.0
                            if has_weights:
                                w = weight[i] * factor
                            keep_left = T.alloc_var(T.float32)
                            keep_right = T.alloc_var(T.float32)
                            keep_left = 1.0
                            keep_right = 1.0
                            if has_limit:
                                keep_left = T.if_then_else(l > limit, 0.0, 1.0)
                                keep_right = T.if_then_else(T.abs(r) > limit, 0.0, 1.0)
                                l = T.min(l, limit)
                                r = T.max(T.min(r, limit), -limit)
                            s = 1.0 / (1.0 + T.exp(-l))
                            gws = g * w * s
                            y = l / (1.0 + T.exp(-l)) * r
                            part = part + g * y
                            d_left[i, j] = T.cast(
                                T.if_then_else(
                                    keep_left > 0.0, gws * r * (l * (1.0 - s) + 1.0), 0.0
                                ),
                                out_dtype,
                            )
                            d_right[i, j] = T.cast(
                                T.if_then_else(keep_right > 0.0, gws * l, 0.0), out_dtype
                            )
                            if has_act:
                                act[i, j] = T.cast(y * w, out_dtype)
                        else:
                            d_left[i, j] = T.cast(T.float32(0.0), out_dtype)
                            d_right[i, j] = T.cast(T.float32(0.0), out_dtype)
                            if has_act:
                                act[i, j] = T.cast(T.float32(0.0), out_dtype)
                    if has_weights:
                        part = T.warp_reduce_sum(part)
                        if tx % WARP == 0:
                            if step == 0:
                                total[i] = part * factor
                            else:
                                total[i] = total[i] + part * factor
                with T.Task(latency=1, ii=1):
                    T.copy(
                        d_left[0:rows, 0 : T.min(COLS, H - col0)],
                        x_grad[row0 : row0 + rows, col0 : col0 + T.min(COLS, H - col0)],
                    )
                    T.copy(d_right, x_grad[row0, H + col0])
                    if has_act:
                        T.copy(act, act_out[row0, col0])
            if has_weights:
                T.copy(total[0:rows], weight_grad[row0 : row0 + rows])
