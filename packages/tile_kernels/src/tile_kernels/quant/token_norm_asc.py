"""The fast kernel of RMSNorm forward: rows of bf16 on vector registers, without a residual.

Other rows are in `norm_forward_asc`; sums differ in their order only.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES

__all__ = ["token_norm"]

STEP = 128  # lanes of a register of bf16


@asc_kernel()
def token_norm(
    x, weight, out, rstd, eps: T.float32, out_scale: T.float32, tasks: T.int32,
    rows: int = 1, cols: int = 1024, cores: int = 1, has_weight: bool = False,
):  # fmt: skip
    """Writes rstd = 1 / sqrt(mean(x * x) + eps) and (x * rstd) * (weight * scale).

    Rows are a multiple of 256 long, at most `cols`.
    """
    M, H, XS, W, OS = T.dynamic("M, H, XS, W, OS")
    x: T.StridedTensor((M, H), (XS, 1), T.bfloat16)
    weight: T.Tensor((W,), T.bfloat16)
    out: T.StridedTensor((M, H), (OS, 1), T.bfloat16)
    rstd: T.Tensor((M,), T.float32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, cols), T.bfloat16)
        result = T.alloc_shared((rows, cols), T.bfloat16)
        given = T.alloc_shared((cols,), T.bfloat16)
        factors = T.alloc_shared((2, cols // 2), T.float32)  # of even and odd columns
        inverse = T.alloc_shared((LANES,), T.float32)
        T.annotate_buffer_versions({tile: 2, result: 2, inverse: 2})
        if has_weight:
            T.copy(weight[0:cols], given)
        with T.SimdVF():
            all16, all32 = T.simd.pset(16), T.simd.pset(32)
            for g in T.serial(T.truncdiv(H, STEP)):
                if has_weight:
                    value = T.simd.vld(given[g * STEP])
                    even = T.simd.vcvt(value, "float32", all16, part=0)
                    odd = T.simd.vcvt(value, "float32", all16, part=1)
                    T.simd.vsts(factors[0, g * LANES], T.simd.vmuls(even, out_scale, all32), all32)
                    T.simd.vsts(factors[1, g * LANES], T.simd.vmuls(odd, out_scale, all32), all32)
                else:
                    scale = T.simd.vdup(out_scale, "float32", all32)
                    T.simd.vsts(factors[0, g * LANES], scale, all32)
                    T.simd.vsts(factors[1, g * LANES], scale, all32)
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(tile, result, inverse)
            row0 = (turn * cores + core) * rows
            T.copy(x[row0, 0], tile)
            with T.SimdVF():
                all16, all32 = T.simd.pset(16), T.simd.pset(32)
                for i in T.serial(T.min(M - row0, rows)):
                    # Sum of squares, in four parts
                    s0 = T.alloc_var("float32x64")
                    s1 = T.alloc_var("float32x64")
                    s2 = T.alloc_var("float32x64")
                    s3 = T.alloc_var("float32x64")
                    s0 = T.simd.vdup(0.0, "float32", all32)
                    s1 = T.simd.vdup(0.0, "float32", all32)
                    s2 = T.simd.vdup(0.0, "float32", all32)
                    s3 = T.simd.vdup(0.0, "float32", all32)
                    for g in T.serial(T.truncdiv(H, 2 * STEP)):
                        first = T.simd.vld(tile[i, 2 * g * STEP])
                        second = T.simd.vld(tile[i, (2 * g + 1) * STEP])
                        a = T.simd.vcvt(first, "float32", all16, part=0)
                        b = T.simd.vcvt(first, "float32", all16, part=1)
                        c = T.simd.vcvt(second, "float32", all16, part=0)
                        d = T.simd.vcvt(second, "float32", all16, part=1)
                        T.simd.vmula(s0, a, a, all32)
                        T.simd.vmula(s1, b, b, all32)
                        T.simd.vmula(s2, c, c, all32)
                        T.simd.vmula(s3, d, d, all32)
                    halves = T.simd.vadd(
                        T.simd.vadd(s0, s1, all32), T.simd.vadd(s2, s3, all32), all32
                    )
                    total = T.simd.vcadd(halves, all32)
                    length = T.simd.vdup(T.cast(H, "float32"), "float32", all32)
                    mean = T.simd.vadds(T.simd.vdiv(total, length, all32), eps, all32)
                    root = T.simd.vsqrt(mean, all32, precision="ftz_false")
                    rest = T.simd.vdiv(T.simd.vdup(1.0, "float32", all32), root, all32)
                    T.simd.vsts(inverse[i], rest, all32, dist="ONEPT_B32")
                    # Result
                    times = T.simd.vdupv(rest, all32)
                    for g in T.serial(T.truncdiv(H, STEP)):
                        value = T.simd.vld(tile[i, g * STEP])
                        even = T.simd.vmul(
                            T.simd.vmul(T.simd.vcvt(value, "float32", all16, part=0), times, all32),
                            T.simd.vld(factors[0, g * LANES]), all32,
                        )  # fmt: skip
                        odd = T.simd.vmul(
                            T.simd.vmul(T.simd.vcvt(value, "float32", all16, part=1), times, all32),
                            T.simd.vld(factors[1, g * LANES]), all32,
                        )  # fmt: skip
                        low = T.simd.vcvt(even, "bfloat16", all16, sat=False, part=0)
                        high = T.simd.vcvt(odd, "bfloat16", all16, sat=False, part=1)
                        pair = T.simd.vor(
                            T.reinterpret(low, "int16x128"), T.reinterpret(high, "int16x128"), all16
                        )
                        T.simd.vsts(
                            result[i, g * STEP], T.reinterpret(pair, "bfloat16x128"), all16,
                            dist="NORM_B16",
                        )  # fmt: skip
            T.copy(result, out[row0, 0])
            T.copy(inverse[0:rows], rstd[row0 : row0 + rows])
