"""The kernel of SwiGLU backward on vector registers (tile_kernels.md section 4.8).

A task is a few whole rows, cut into tiles of columns; a core keeps the lanes' sums of its rows for
the gradient of the weight from tile to tile. Rows outside the experts get zeros.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES, store_numbers, values_at
from tile_kernels.quant.swiglu_asc import clear_behind, clear_rows, rows_of_experts

__all__ = ["swiglu_backward"]

TOGETHER = 8  # registers on which a step works before the next one


@T.macro
def halves_at(left, right, i, j, l, r, limit, plan, all16, all32):
    """Sets l and r to some registers of both halves of row i, within the limits."""
    for k in T.unroll(TOGETHER):
        l[k] = values_at(left, i, j + k * LANES, all16)
    for k in T.unroll(TOGETHER):
        r[k] = values_at(right, i, j + k * LANES, all16)
    if plan.has_limit:
        for k in T.unroll(TOGETHER):
            l[k] = T.simd.vmins(l[k], limit, all32)
        for k in T.unroll(TOGETHER):
            r[k] = T.simd.vmaxs(T.simd.vmins(r[k], limit, all32), -limit, all32)


@T.macro
def drop_clamped(left, right, i, j, dl, dr, limit, all16, all32):
    """Replaces gradients by zeros where the halves were clamped."""
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    for k in T.unroll(TOGETHER):
        above = T.simd.vcmps(values_at(left, i, j + k * LANES, all16), limit, all32, "gt")
        dl[k] = T.simd.vsel(zero, dl[k], above)
    for k in T.unroll(TOGETHER):
        size = T.simd.vabs(values_at(right, i, j + k * LANES, all16), all32)
        dr[k] = T.simd.vsel(zero, dr[k], T.simd.vcmps(size, limit, all32, "gt"))


@T.macro
def gradients_of_tile(
    left, right, upper, d_left, d_right, act, sums, weight, first, rows, batches, limit, factor,
    plan,
):  # fmt: skip
    """Writes the gradients of both halves and the activations of the valid rows of a tile.

    `sums` are the lanes' sums of upper * activation of each row; `first` begins them anew.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    w, total = T.alloc_var("float32x64"), T.simd.alloc_local(1, "float32")
    l, r, g, s, y, t = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(6))
    for i in T.serial(rows):
        if plan.has_weights:
            w = T.simd.vmuls(T.simd.vld(weight[i], dist="BRC_B32"), factor, all32)
            total[0] = T.simd.vdup(T.float32(0.0), "float32", all32)
            if first == 0:
                total[0] = T.simd.vld(sums[i, 0])
        for b in T.serial(batches):
            j = b * (TOGETHER * LANES)
            halves_at(left, right, i, j, l, r, limit, plan, all16, all32)
            # The sigmoid of l
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vexpdif(zero, l[k], all32)
            for k in T.unroll(TOGETHER):
                g[k] = values_at(upper, i, j + k * LANES, all16)
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vadds(s[k], T.float32(1.0), all32)
            if plan.has_act or plan.has_weights:
                for k in T.unroll(TOGETHER):
                    y[k] = T.simd.vdiv(l[k], s[k], all32, precision="ftz_true")
            for k in T.unroll(TOGETHER):
                s[k] = T.simd.vdiv(one, s[k], all32, precision="ftz_true")
            # The activation, its product with the upper gradient, and the weighted one
            if plan.has_act or plan.has_weights:
                for k in T.unroll(TOGETHER):
                    y[k] = T.simd.vmul(y[k], r[k], all32)
            if plan.has_weights:
                for k in T.unroll(TOGETHER):
                    T.simd.vmula(total[0], g[k], y[k], all32)
                for k in T.unroll(TOGETHER):
                    g[k] = T.simd.vmul(g[k], w, all32)
            if plan.has_act:
                for k in T.unroll(TOGETHER):
                    if plan.has_weights:
                        y[k] = T.simd.vmul(y[k], w, all32)
                for k in T.unroll(TOGETHER):
                    store_numbers(y[k], act, i, j + k * LANES, all16, all32)
            # Both gradients
            for k in T.unroll(TOGETHER):
                g[k] = T.simd.vmul(g[k], s[k], all32)
            for k in T.unroll(TOGETHER):
                t[k] = T.simd.vsub(one, s[k], all32)
            for k in T.unroll(TOGETHER):
                T.simd.vmadd(t[k], l[k], one, all32)
            for k in T.unroll(TOGETHER):
                l[k] = T.simd.vmul(g[k], l[k], all32)
            for k in T.unroll(TOGETHER):
                g[k] = T.simd.vmul(g[k], r[k], all32)
            for k in T.unroll(TOGETHER):
                t[k] = T.simd.vmul(g[k], t[k], all32)
            if plan.has_limit:
                drop_clamped(left, right, i, j, t, l, limit, all16, all32)
            for k in T.unroll(TOGETHER):
                store_numbers(t[k], d_left, i, j + k * LANES, all16, all32)
            for k in T.unroll(TOGETHER):
                store_numbers(l[k], d_right, i, j + k * LANES, all16, all32)
        if plan.has_weights:
            T.simd.vsts(sums[i, 0], total[0], all32)


@T.macro
def sums_of_rows(sums, totals, rows, stored, factor):
    """Writes the sum of the lanes of each valid row, times the factor, and zeros for the others."""
    all32 = T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    for i in T.serial(rows):
        total = T.simd.vmuls(T.simd.vcadd(T.simd.vld(sums[i, 0]), all32), factor, all32)
        T.simd.vsts(totals[i], total, all32, dist="ONEPT_B32")
    for i in T.serial(stored - rows):
        T.simd.vsts(totals[rows + i], zero, all32, dist="ONEPT_B32")


@asc_kernel()
def swiglu_backward(
    x, grad, psum, weights, x_grad, weight_grad, act_out,
    factor: T.float32, limit: T.float32, turns: T.int32, steps: T.int32,
    plan: Any = None,
):  # fmt: skip
    """Gradients of silu(left) * right * weight; unused tensors have one element.

    There are `turns` tasks, of `steps` tiles each.
    """
    N, XW, H, NP, NW, A0, A1 = T.dynamic("N, XW, H, NP, NW, A0, A1")
    x: T.Tensor((N, XW), plan.x_dtype)
    grad: T.Tensor((N, H), plan.grad_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    x_grad: T.Tensor((N, XW), plan.out_dtype)
    weight_grad: T.Tensor((NW,), T.float32)
    act_out: T.Tensor((A0, A1), plan.out_dtype)
    R, C = plan.rows, plan.cols
    with T.Kernel(plan.cores) as core:
        left = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C), plan.x_dtype)
        upper = T.alloc_shared((R, C), plan.grad_dtype)
        d_left = T.alloc_shared((R, C), plan.out_dtype)
        d_right = T.alloc_shared((R, C), plan.out_dtype)
        act = T.alloc_shared((R, C) if plan.has_act else (1, LANES), plan.out_dtype)
        weight = T.alloc_shared((LANES,), T.float32)
        totals = T.alloc_shared((LANES,), T.float32)
        sums = T.alloc_shared((R, LANES), T.float32)
        in_flight = {left: 2, right: 2, upper: 2, d_left: 2, d_right: 2}
        if plan.has_act:
            in_flight[act] = 2
        if plan.has_weights:
            in_flight |= {weight: 2, totals: 2, sums: 1}
        T.annotate_buffer_versions(in_flight)
        for turn in T.Pipelined(
            T.truncdiv(turns - core + plan.cores - 1, plan.cores) * steps, num_stages=2
        ):
            row0, col0, valid = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = (T.truncdiv(turn, steps) * plan.cores + core) * R
                col0 = T.truncmod(turn, steps) * C
                valid = T.min(N - row0, R)
                if plan.alignment:
                    rows_of_experts(valid, psum, NP, row0, T.min(N - row0, R), plan.alignment)
            # NOTE: behind the left half lies the right one, which the last tile of a row may read
            T.copy(x[row0, col0], left)
            T.copy(x[row0, H + col0], right)
            T.copy(grad[row0, col0], upper)
            if plan.has_weights:
                T.copy(weights[row0 : row0 + R], weight[0:R])
            with T.SimdVF():
                chunks = T.truncdiv(T.min(H - col0, C), LANES)
                batches = T.truncdiv(chunks + TOGETHER - 1, TOGETHER)
                stored = T.min(N - row0, R)
                clear_behind(left, valid, chunks, batches * TOGETHER)
                clear_behind(right, valid, chunks, batches * TOGETHER)
                clear_behind(upper, valid, chunks, batches * TOGETHER)
                T.simd.mem_bar("VST_VLD")
                gradients_of_tile(
                    left, right, upper, d_left, d_right, act, sums, weight, col0 == 0, valid,
                    batches, limit, factor, plan,
                )  # fmt: skip
                clear_rows(d_left, valid, stored, chunks)
                clear_rows(d_right, valid, stored, chunks)
                if plan.has_act:
                    clear_rows(act, valid, stored, chunks)
                if plan.has_weights:
                    T.simd.mem_bar("VST_VLD")
                    sums_of_rows(sums, totals, valid, stored, factor)
            wide = T.min(C, H - col0)
            T.copy(d_left[0:R, 0:wide], x_grad[row0 : row0 + R, col0 : col0 + wide])
            T.copy(d_right, x_grad[row0, H + col0])
            if plan.has_act:
                T.copy(act, act_out[row0, col0])
            if plan.has_weights:
                T.copy(totals[0:R], weight_grad[row0 : row0 + R])
