"""The kernel of the exact change from e2m1 to e4m3 (tile_kernels.md section 4.7).

A warp takes an output block at a time: the largest exponent of its input scales sets the new scale,
and each code moves by the difference of the exponents, which the range of e4m3 can hold.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import require, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num
from tile_kernels.quant.block_cast_asc import read_value

__all__ = ["lossless_cast"]

HEADROOM = 6  # exponents above the new scale: 6 * 2 ** 6 is below 448
FOOTROOM = 5  # exponents below it: 0.5 * 2 ** -5 is normal in e4m3
SMALLEST = 0x00400000  # float32 bits of 2 ** -127, exponent byte 0


def exponent_of(scales: Any, i: Any, j: Any, dtype: str) -> Any:
    """The exponent byte (int32) of a power of two."""
    if dtype == "uint8":
        return T.cast(scales[i, j], "int32")
    return num.bits_of(scales[i, j]) >> 23


def power_bits(exponent: Any) -> Any:
    """The float32 bits of 2 ** (exponent - 127), exact for exponent 0 too."""
    return T.if_then_else(exponent == 0, SMALLEST, exponent << 23)


@asc_kernel()
def lossless_cast(x, sf_in, out, sf, tiles: T.int32, tiles_across: T.int32, plan: Any = None):
    """Writes e4m3 codes and scales that stand for the same numbers; `plan` is a `CastPlan`."""
    M, XW, XS, HW = T.dynamic("M, XW, XS, HW")
    I0, I1, IS, S0, S1, SS = T.dynamic("I0, I1, IS, S0, S1, SS")
    x: T.StridedTensor((M, XW), (XS, 1), "int8")
    sf_in: T.StridedTensor((I0, I1), (IS, 1), plan.sf_in.dtype)
    out: T.Tensor((M, HW), "float8_e4m3fn")
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C, L = plan.rows, plan.cols, plan.lanes
    BM, BK = plan.sf.block
    IM, IK = plan.sf_in.block
    whole = C * plan.subs
    parts_across = BK // IK
    parts = BM // IM * parts_across
    across = C // BK
    s0, s1 = plan.sf.tile(R, whole)
    t0, t1 = plan.sf_in.tile(R, C)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C // 2), "int8")
        codes = T.alloc_shared((R, C), "float8_e4m3fn")
        scales = T.alloc_shared((s0, plan.sf.pitch(R, whole)), plan.sf.dtype)
        scales_in = T.alloc_shared((t0, plan.sf_in.pitch(R, C)), plan.sf_in.dtype)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        # NOTE: tasks in a given order, and variables that keep their terms out of every index:
        # without them a search for the best schedule takes many seconds of lowering.
        down, side = T.alloc_var(T.int32), T.alloc_var(T.int32)
        for turn in T.serial(T.truncdiv(tiles - core + plan.cores - 1, plan.cores)):
            with T.Stage(0), T.Task(latency=1, ii=1):
                down = T.truncdiv(turn * plan.cores + core, tiles_across)
                side = T.truncmod(turn * plan.cores + core, tiles_across)
            for sub in T.serial(plan.subs):
                reused(tile, codes, scales, scales_in)
                with T.Stage(0), T.Task(latency=1, ii=1):
                    row0 = down * R
                    col0 = side * whole + sub * C
                o0, o1 = plan.sf.layout.items(down * (R // BM), side * (whole // BK))
                i0, i1 = plan.sf_in.layout.items(
                    down * (R // IM), side * (whole // IK) + sub * (C // IK)
                )
                with T.Task(latency=1, ii=1):
                    T.copy(x[row0, col0 // 2], tile)
                    T.copy(sf_in[i0 : i0 + t0, i1 : i1 + t1], scales_in[0:t0, 0:t1])
                with T.Task(latency=1, ii=1), T.SimtVF(threads=plan.threads):
                    tx = T.get_thread_binding()
                    lane = tx % L
                    most = T.alloc_var(T.int32)
                    least = T.alloc_var(T.int32)
                    exponent = T.alloc_var(T.int32)
                    value = T.alloc_var(T.float32)
                    for step in T.serial(plan.steps):
                        block = step * plan.workers + tx // L
                        bi = block // across
                        bj = block % across
                        # Range of the input's exponents
                        most = 0
                        least = 255
                        for e in T.serial((parts + L - 1) // L):
                            part = e * L + lane
                            i = bi * BM + part // parts_across * IM
                            j = bj * BK + part % parts_across * IK
                            if part < parts and row0 + i < M and col0 + j < HW:
                                p0, p1 = plan.sf_in.layout.item(i // IM, j // IK)
                                if plan.sf_in.dtype == "float32":
                                    bits = num.bits_of(scales_in[p0, p1])
                                    is_power = (bits & T.int32(-0x7F800001)) == 0
                                    require(is_power or bits == SMALLEST)
                                exponent = exponent_of(scales_in, p0, p1, plan.sf_in.dtype)
                                most = T.max(most, exponent)
                                least = T.min(least, exponent)
                        if L > 1:
                            most = T.warp_reduce_max(most)
                            least = T.warp_reduce_min(least)
                        most = T.max(most, HEADROOM) - HEADROOM
                        require(least + FOOTROOM >= most)
                        # New scale
                        if lane == 0:
                            q0, q1 = plan.sf.layout.item(bi, sub * across + bj)
                            if plan.sf.dtype == "uint8":
                                exponent = 0
                                if row0 + bi * BM < M and col0 + bj * BK < HW:
                                    exponent = most
                                scales[q0, q1] = T.cast(exponent, "uint8")
                            else:
                                scales[q0, q1] = num.float_of(power_bits(most))
                        # Codes
                        for e in T.serial((BM * BK + L - 1) // L):
                            index = e * L + lane
                            i = bi * BM + index // BK
                            j = bj * BK + index % BK
                            if index < BM * BK and row0 + i < M and col0 + j < HW:
                                p0, p1 = plan.sf_in.layout.item(i // IM, j // IK)
                                exponent = exponent_of(scales_in, p0, p1, plan.sf_in.dtype)
                                value = read_value(tile, i, j, "int8")
                                value = value * num.exponent_scale(exponent - most + 127)
                                codes[i, j] = T.cast(value, "float8_e4m3fn")
                with T.Task(latency=1, ii=1):
                    T.copy(codes, out[row0, col0])
                    if plan.subs == 1 or sub == plan.subs - 1:
                        T.copy(scales[0:s0, 0:s1], sf[o0 : o0 + s0, o1 : o1 + s1])
