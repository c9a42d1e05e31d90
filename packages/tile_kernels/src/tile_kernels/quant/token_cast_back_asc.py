"""The fast kernel that multiplies e4m3 by scales of 128 channels of a token, on vector registers.

Other formats and blocks are in `cast_back_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES

__all__ = ["token_cast_back"]

GROUP = 128  # channels of a scale


@asc_kernel()
def token_cast_back(
    x, sf, out, tasks: T.int32, band: Any = None, rows: int = 0, cols: int = 0, cores: int = 0
):
    """Writes bf16 [tokens, hidden], hidden a multiple of 128 and at most `cols`; fp32 scales."""
    M, H, XS = T.dynamic("M, H, XS")
    S0, S1, SS = T.dynamic("S0, S1, SS")
    x: T.StridedTensor((M, H), (XS, 1), T.float8_e4m3fn)
    sf: T.StridedTensor((S0, S1), (SS, 1), T.float32)
    out: T.Tensor((M, H), T.bfloat16)

    s0, s1 = band.tile(rows, cols)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, cols), T.float8_e4m3fn)
        scales = T.alloc_shared((s0, band.pitch(rows, cols)), T.float32)
        values = T.alloc_shared((rows, cols), T.bfloat16)
        T.annotate_buffer_versions({tile: 2, scales: 2, values: 2})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, scales, values)
            row0 = (turn * cores + core) * rows
            o0, o1 = band.layout.items(row0, 0)
            T.copy(x[row0, 0], tile)
            T.copy(sf[o0 : o0 + s0, o1 : o1 + s1], scales[0:s0, 0:s1])
            with T.SimdVF():
                all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
                for i in T.serial(T.min(M - row0, rows)):
                    for g in T.serial(T.truncdiv(H, GROUP)):
                        p0, p1 = band.layout.item(i, g)
                        scale = T.simd.vld(scales[p0, p1], dist="BRC_B32")
                        for half in T.unroll(GROUP // LANES):
                            at = g * GROUP + half * LANES
                            code = T.simd.vld(tile[i, at], dist="UNPK4_B8")
                            number = T.simd.vcvt(code, "float32", all8, part=0)
                            value = T.simd.vmul(number, scale, all32)
                            result = T.simd.vcvt(value, "bfloat16", all16, sat=False, part=0)
                            T.simd.vsts(values[i, at], result, all32, dist="PK_B32")
            T.copy(values, out[row0, 0])
