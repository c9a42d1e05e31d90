"""Kernel of `reduce_fused`: rows by DMA, multiply-add on vector registers in the slots' order."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel

CHUNK = 4096  # elements of a row that are in flight at once
LANES = 64  # fp32 lanes of a register
STAGES = 4  # chunks that are loaded ahead


@asc_kernel()
def reduce_rows(
    x,
    x_sf,
    weights,
    token_topk_to_pos,
    out,
    sf: T.float32,
    dtype: str,
    out_dtype: str,
    scaled: bool,
    cores: int,
):
    """out[t] = sum over slots of x[pos] * (w * x_sf[pos]), times `sf`, rounded to `out_dtype`."""
    tokens, k, positions, hidden = T.dynamic("tokens, k, positions, hidden")
    scales, per_row = T.dynamic("scales, per_row")
    x: T.Tensor((positions, hidden), dtype)
    x_sf: T.Tensor((scales, per_row), T.float32)
    weights: T.Tensor((tokens, k), T.float32)
    token_topk_to_pos: T.Tensor((tokens, k), T.int32)
    out: T.Tensor((tokens, hidden), out_dtype)
    with T.Kernel(cores) as core:
        row = T.alloc_shared((1, CHUNK), dtype)
        total = T.alloc_shared((CHUNK,), T.float32)
        rounded = T.alloc_shared((1, CHUNK), out_dtype)
        T.annotate_buffer_versions({row: STAGES, rounded: 2})
        parts = pieces(hidden, CHUNK)
        for turn in T.Pipelined(pieces(tokens * parts - core, cores), num_stages=2):
            reused(row, total, rounded)
            item = turn * cores + core
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            token, column = T.alloc_var(T.int32), T.alloc_var(T.int32)
            token = T.truncdiv(item, parts)
            column = T.truncmod(item, parts) * CHUNK
            with T.SimdVF():
                all32 = T.simd.pset(32)
                for i in range(CHUNK // LANES):
                    T.simd.vsts(total[i * LANES], T.simd.vdup(0.0, "float32", all32), all32)
            for slot in T.Pipelined(k, num_stages=STAGES):
                position = token_topk_to_pos[token, slot]
                if position >= 0:
                    T.copy(x[position, column], row)
                    factor = weights[token, slot]
                    if scaled:
                        factor = factor * x_sf[position, 0]
                    with T.SimdVF():
                        all32 = T.simd.pset(32)
                        for i in range(CHUNK // LANES):
                            sum_ = T.alloc_var("float32x64")
                            sum_ = T.simd.vld(total[i * LANES])
                            if dtype == "float32":
                                value = T.simd.vld(row[0, i * LANES])
                            else:
                                value = T.simd.vcvt(
                                    T.simd.vld(row[0, i * LANES], dist="UNPK_B16"),
                                    "float32",
                                    all32,
                                    part=0,
                                )
                            T.simd.vaxpy(sum_, value, factor, all32)
                            T.simd.vsts(total[i * LANES], sum_, all32)
            with T.SimdVF():
                all32 = T.simd.pset(32)
                for i in range(CHUNK // LANES):
                    value = T.simd.vmuls(T.simd.vld(total[i * LANES]), sf, all32)
                    if out_dtype == "float32":
                        T.simd.vsts(rounded[0, i * LANES], value, all32)
                    elif out_dtype == "float8_e4m3fn":
                        T.simd.vsts(
                            rounded[0, i * LANES],
                            T.simd.vcvt(value, "float8_e4m3fn", all32),
                            all32,
                            dist="PK4_B32",
                        )
                    else:
                        T.simd.vsts(
                            rounded[0, i * LANES],
                            T.simd.vcvt(value, out_dtype, all32),
                            all32,
                            dist="PK_B32",
                        )
            T.copy(rounded, out[token, column])
