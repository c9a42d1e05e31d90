"""The kernel of SwiGLU forward, with or without a cast (tile_kernels.md section 4.8).

A tile belongs to one expert at most: its rows divide the alignment of the experts' first rows. So
its valid rows are its first ones, and only those are stored.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.block_cast_asc import cast_tile

__all__ = ["swiglu_forward"]

THREADS = 512


@asc_kernel()
def swiglu_forward(
    x, psum, weights, count, out, sf,
    factor: T.float32, limit: T.float32, floor_bits: T.int32, round_sf: T.int32,
    tiles: T.int32, tiles_across: T.int32,
    plan: Any = None, x_dtype: str = "", has_psum: bool = False, has_weights: bool = False,
    has_limit: bool = False, has_count: bool = False, alignment: int = 1,
):  # fmt: skip
    """Writes silu(left) * right * weight of `x` [tokens, 2 hidden].

    `plan` describes tile, output and scales; unused tensors have one element. `count` is
    accumulated: left above the limit, right above, right below, valid elements.
    """
    N, XW, NP, NW, OM, OW, S0, S1, SS = T.dynamic("N, XW, NP, NW, OM, OW, S0, S1, SS")
    x: T.Tensor((N, XW), x_dtype)
    psum: T.Tensor((NP,), T.int32)
    weights: T.Tensor((NW,), T.float32)
    count: T.Tensor((4,), T.int64)
    out: T.Tensor((OM, OW), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    casts = plan.mode == "cast"
    s0, s1 = plan.sf.tile(R, C)
    hidden = XW // 2
    with T.Kernel(plan.cores) as core:
        left = T.alloc_shared((R, C), x_dtype)
        right = T.alloc_shared((R, C), x_dtype)
        weight = T.alloc_shared((32,), T.float32)
        values = T.alloc_shared((R, C), T.float32)
        codes = T.alloc_shared((R, C), plan.out_dtype)
        scales = T.alloc_shared((s0, plan.sf.pitch(R, C)), plan.sf.dtype)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        rows = T.alloc_var(T.int32)
        first = T.alloc_var(T.int32)
        for turn in T.serial((tiles - core + plan.cores - 1) // plan.cores):
            task = turn * plan.cores + core
            row0 = task // tiles_across * R
            col0 = task % tiles_across * C
            rows = T.min(N - row0, R)
            if has_psum:
                rows = 0
                first = 0
                for expert in T.serial(NP):
                    if first <= row0:
                        rows = T.max(rows, T.min(psum[expert] - row0, R))
                    first = (psum[expert] + (alignment - 1)) // alignment * alignment
            if rows > 0:
                T.copy(x[row0, col0], left)
                T.copy(x[row0, hidden + col0], right)
                if has_weights:
                    T.copy(weights[row0 : row0 + R], weight[0:R])
                # Activation
                with T.SimtVF(threads=THREADS):
                    tx = T.get_thread_binding()
                    above_left = T.alloc_var(T.int32)
                    above_right = T.alloc_var(T.int32)
                    below_right = T.alloc_var(T.int32)
                    valid = T.alloc_var(T.int32)
                    l = T.alloc_var(T.float32)
                    r = T.alloc_var(T.float32)
                    above_left = 0
                    above_right = 0
                    below_right = 0
                    valid = 0
                    for e in T.serial((R * C + THREADS - 1) // THREADS):
                        i = (e * THREADS + tx) // C
                        j = (e * THREADS + tx) % C
                        if i < rows and col0 + j < hidden:
                            l = T.cast(left[i, j], "float32")
                            r = T.cast(right[i, j], "float32")
                            if has_limit:
                                valid = valid + 1
                                above_left = above_left + T.cast(l > limit, "int32")
                                above_right = above_right + T.cast(r > limit, "int32")
                                below_right = below_right + T.cast(r < -limit, "int32")
                                l = T.if_then_else(l > limit, limit, l)
                                r = T.if_then_else(r > limit, limit, r)
                                r = T.if_then_else(r < -limit, -limit, r)
                            y = l / (1.0 + T.exp(-l)) * r
                            if has_weights:
                                y = y * (weight[i] * factor)
                            if casts:
                                values[i, j] = y
                            else:
                                codes[i, j] = T.cast(y, plan.out_dtype)
                    if has_count:
                        above_left = T.warp_reduce_sum(above_left)
                        above_right = T.warp_reduce_sum(above_right)
                        below_right = T.warp_reduce_sum(below_right)
                        valid = T.warp_reduce_sum(valid)
                        if tx % 32 == 0:
                            T.atomic_add(count[0], T.cast(above_left, "int64"))
                            T.atomic_add(count[1], T.cast(above_right, "int64"))
                            T.atomic_add(count[2], T.cast(below_right, "int64"))
                            T.atomic_add(count[3], T.cast(valid, "int64"))
                # Store
                if casts:
                    cast_tile(
                        plan, values, values, scales, codes, row0, col0, 0, row0 + rows, hidden,
                        floor_bits, round_sf,
                    )  # fmt: skip
                    o0, o1 = plan.sf.layout.items(row0, col0 // plan.sf.block[1])
                    if plan.sf.layout.kind == "row" or plan.sf.layout.kind == "packed_row":
                        T.copy(scales[0:rows, 0:s1], sf[o0 : o0 + rows, o1 : o1 + s1])
                    else:
                        wide = rows * plan.sf.layout.pack
                        T.copy(scales[0:s0, 0:wide], sf[o0 : o0 + s0, o1 : o1 + wide])
                T.copy(codes[0:rows, 0:C], out[row0 : row0 + rows, col0 : col0 + C])
