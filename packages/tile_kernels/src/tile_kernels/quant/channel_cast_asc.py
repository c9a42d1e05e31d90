"""The kernel of per-channel casts that gather, activate or transpose (tile_kernels.md 4.3, 4.8).

A tile is one group of tokens by some channels. Its rows come from anywhere (`gathers`), or are the
SwiGLU of two halves (`swiglu`); its codes leave as rows, or as columns (`turns`).
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.block_cast_asc import cast_tile

__all__ = ["channel_cast"]

THREADS = 512


@asc_kernel()
def channel_cast(
    x, sf_in, pos_to_token, out, sf,
    floor_bits: T.int32, round_sf: T.int32, limit: T.float32, tokens: T.int32, tiles: T.int32,
    tiles_across: T.int32,
    plan: Any = None, gathers: bool = False, swiglu: bool = False, has_limit: bool = False,
    turns: bool = False,
):  # fmt: skip
    """Casts `tokens` rows; `plan` is a `CastPlan`, unused tensors have one element.

    `sf_in` are row-major fp32 scales of `x`. With `swiglu` a row of `x` holds both halves. `out` is
    [hidden, tokens] with `turns`.
    """
    M, XW, XS, I0, I1, IS = T.dynamic("M, XW, XS, I0, I1, IS")
    P, O0, O1, S0, S1 = T.dynamic("P, O0, O1, S0, S1")
    x: T.StridedTensor((M, XW), (XS, 1), plan.x_dtype)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), T.float32)
    pos_to_token: T.Tensor((P,), T.int32)
    out: T.Tensor((O0, O1), plan.out_dtype)
    sf: T.Tensor((S0, S1), T.float32)

    R, C = plan.rows, plan.cols
    t0, t1 = plan.sf_in.tile(R, C)
    hidden = XW // 2 if swiglu else XW
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C) if swiglu else (1, 32), plan.x_dtype)
        scales_in = T.alloc_shared((t0, plan.sf_in.pitch(R, C)), T.float32)
        codes = T.alloc_shared((R, C), plan.out_dtype)
        turned = T.alloc_shared((C, R) if turns else (1, 32), plan.out_dtype)
        scales = T.alloc_shared((1, plan.sf.pitch(R, C)), T.float32)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        token = T.alloc_var(T.int32)
        for turn in T.serial((tiles - core + plan.cores - 1) // plan.cores):
            row0 = (turn * plan.cores + core) // tiles_across * R
            col0 = (turn * plan.cores + core) % tiles_across * C
            # Load the tile
            if gathers:
                for i in T.serial(T.min(R, tokens - row0)):
                    token = pos_to_token[row0 + i]
                    if token >= 0:
                        T.copy(x[token : token + 1, col0 : col0 + C], tile[i : i + 1, 0:C])
                        if plan.sf_in.exists:
                            group0 = col0 // plan.sf_in.block[1]
                            T.copy(
                                sf_in[token : token + 1, group0 : group0 + t1],
                                scales_in[i : i + 1, 0:t1],
                            )
                with T.SimtVF(threads=THREADS):
                    tx = T.get_thread_binding()
                    for e in T.serial(R * C // THREADS):
                        i = (e * THREADS + tx) // C
                        j = (e * THREADS + tx) % C
                        if row0 + i < tokens:
                            if pos_to_token[row0 + i] < 0:
                                tile[i, j] = T.cast(T.float32(0.0), plan.x_dtype)
                                if plan.sf_in.exists:
                                    scales_in[i, j // plan.sf_in.block[1]] = 1.0
            else:
                T.copy(x[row0, col0], tile)
            # Activation, rounded to the dtype of x
            if swiglu:
                T.copy(x[row0, hidden + col0], right)
                with T.SimtVF(threads=THREADS):
                    tx = T.get_thread_binding()
                    l = T.alloc_var(T.float32)
                    r = T.alloc_var(T.float32)
                    for e in T.serial(R * C // THREADS):
                        i = (e * THREADS + tx) // C
                        j = (e * THREADS + tx) % C
                        if row0 + i < tokens and col0 + j < hidden:
                            l = T.cast(tile[i, j], "float32")
                            r = T.cast(right[i, j], "float32")
                            if has_limit:
                                l = T.if_then_else(l > limit, limit, l)
                                r = T.if_then_else(r > limit, limit, r)
                                r = T.if_then_else(r < -limit, -limit, r)
                            tile[i, j] = T.cast(l / (1.0 + T.exp(-l)) * r, plan.x_dtype)
            cast_tile(
                plan, tile, scales_in, scales, codes, row0, col0, 0, tokens, hidden, floor_bits,
                round_sf,
            )  # fmt: skip
            # Store
            if turns:
                with T.SimtVF(threads=THREADS):
                    tx = T.get_thread_binding()
                    for e in T.serial(R * C // THREADS):
                        i = (e * THREADS + tx) % R
                        j = (e * THREADS + tx) // R
                        if row0 + i < tokens and col0 + j < hidden:
                            turned[j, i] = codes[i, j]
                T.copy(turned, out[col0, row0])
            else:
                T.copy(codes, out[row0, col0])
            T.copy(scales[0:1, 0:C], sf[row0 // R : row0 // R + 1, col0 : col0 + C])
