"""The kernel of per-channel casts of gathered quantised rows (tile_kernels.md section 4.3).

A tile is one group of tokens by some channels. Its rows come from anywhere.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.block_cast_asc import cast_tile

__all__ = ["channel_recast"]

THREADS = 512


@asc_kernel()
def channel_recast(
    x, sf_in, pos_to_token, out, sf,
    floor_bits: T.int32, round_sf: T.int32, tokens: T.int32, tiles: T.int32, tiles_across: T.int32,
    plan: Any = None,
):  # fmt: skip
    """Casts the rows `pos_to_token` of x, zeros for negative ones; `plan` is a `CastPlan`.

    `sf_in` are row-major fp32 scales of `x`.
    """
    M, H, XS, I0, I1, IS = T.dynamic("M, H, XS, I0, I1, IS")
    P, O0, S0, S1 = T.dynamic("P, O0, S0, S1")
    x: T.StridedTensor((M, H), (XS, 1), plan.x_dtype)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), T.float32)
    pos_to_token: T.Tensor((P,), T.int32)
    out: T.Tensor((O0, H), plan.out_dtype)
    sf: T.Tensor((S0, S1), T.float32)

    R, C = plan.rows, plan.cols
    width = plan.sf_in.block[1]
    t0, t1 = plan.sf_in.tile(R, C)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        scales_in = T.alloc_shared((t0, plan.sf_in.pitch(R, C)), T.float32)
        codes = T.alloc_shared((R, C), plan.out_dtype)
        scales = T.alloc_shared((1, plan.sf.pitch(R, C)), T.float32)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        for turn in T.serial(T.truncdiv(tiles - core + plan.cores - 1, plan.cores)):
            reused(tile, codes, scales, scales_in)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, tiles_across) * R
                col0 = T.truncmod(turn * plan.cores + core, tiles_across) * C
            # Load the tile
            for i in T.serial(T.min(R, tokens - row0)):
                token = T.max(pos_to_token[row0 + i], 0)
                T.copy(x[token : token + 1, col0 : col0 + C], tile[i : i + 1, 0:C])
                T.copy(
                    sf_in[token : token + 1, col0 // width : col0 // width + t1],
                    scales_in[i : i + 1, 0:t1],
                )
            with T.Task(latency=1, ii=1), T.SimtVF(threads=THREADS):
                tx = T.get_thread_binding()
                for e in T.serial(R * C // THREADS):
                    i = (e * THREADS + tx) // C
                    j = (e * THREADS + tx) % C
                    if row0 + i < tokens:
                        if pos_to_token[row0 + i] < 0:
                            tile[i, j] = T.cast(T.float32(0.0), plan.x_dtype)
                            scales_in[i, j // width] = 1.0
            cast_tile(
                plan, tile, scales_in, scales, codes, row0, col0, 0, tokens, H, floor_bits, round_sf
            )
            with T.Task(latency=1, ii=1):
                T.copy(codes, out[row0, col0])
                T.copy(scales[0:1, 0:C], sf[row0 // R : row0 // R + 1, col0 : col0 + C])
