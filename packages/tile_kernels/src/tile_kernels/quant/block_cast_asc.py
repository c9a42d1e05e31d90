"""The kernel of all block casts: per token, per block, per channel (tile_kernels.md section 4).

A tile is `rows` x `cols` elements of whole blocks. A warp takes a block at a time (a thread, where
a block is a column): largest magnitude, scale, then the codes. Codes and scales leave by DMA.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num
from tile_kernels.quant.cast_plan import Band, CastPlan

__all__ = ["block_cast", "cast_tile", "read_scale", "read_value", "scale_of_block"]


def read_value(tile: Any, i: Any, j: Any, dtype: str) -> Any:
    """The float32 of element (i, j) of a tile in the unified buffer."""
    if dtype == "int8":
        return num.decode_e2m1((T.cast(tile[i, j // 2], "int32") >> (j % 2 * 4)) & 15)
    return T.cast(tile[i, j], "float32")


def read_scale(scales: Any, i: Any, j: Any, band: Band) -> Any:
    """The float32 scale of element (i, j) of a tile."""
    p0, p1 = band.layout.item(i // band.block[0], j // band.block[1])
    if band.dtype == "uint8":
        return num.exponent_scale(T.cast(scales[p0, p1], "int32"))
    return T.cast(scales[p0, p1], "float32")


def _dequantised(tile: Any, scales: Any, i: Any, j: Any, plan: CastPlan) -> Any:
    value = read_value(tile, i, j, plan.x_dtype)
    return value * read_scale(scales, i, j, plan.sf_in) if plan.sf_in.exists else value


def _rounded(value: Any, index: Any, plan: CastPlan) -> Any:
    """The value clamped to the format, and already on its grid if rounding is stochastic."""
    value = num.saturated(value, num.MAX_VALUE[plan.fmt])
    if plan.stochastic:
        random = num.uniform(index, value)
        return T.if_then_else(num.is_nan(value), value, num.stochastic(value, random, plan.fmt))
    return value


def _back(value: Any, plan: CastPlan) -> Any:
    """The float32 of a value after a trip through the format."""
    if plan.fmt == "e2m1":
        return num.decode_e2m1(num.encode_e2m1(value))
    return T.cast(num.as_e4m3(value), "float32")


@T.macro
def scale_of_block(
    amax, floor_bits, largest_code, round_sf, scale: T.Ref, inverse: T.Ref, exponent: T.Ref
):
    """Sets scale, inverse and exponent byte of a block from the bits of its largest magnitude.

    The exponent is that of the power of two, which the scale is where `round_sf` is not 0.
    """
    scale = num.float_of(T.max(amax, floor_bits)) / largest_code
    inverse = largest_code / num.float_of(T.max(amax, floor_bits))
    exponent = num.rounded_up_exponent(scale)
    if round_sf != 0:
        scale = num.exponent_scale(exponent)
        inverse = num.inverse_of_exponent(exponent)  # noqa: F841 (the caller's variable)


@T.macro
def cast_tile(
    plan, tile, scales_in, scales, codes, row0, col0, sub, row_end, hidden, floor_bits, round_sf
):  # fmt: skip
    """Casts a tile in the unified buffer; (row0, col0) is its place in the matrix.

    Rows from `row_end` and columns from `hidden` on do not exist. Other kernels that end with a
    cast use it too.
    """
    C, L = plan.cols, plan.lanes
    BM, BK = plan.sf.block
    across = C // BK
    largest_code = num.MAX_VALUE[plan.fmt]
    per_step = L * plan.out_per_item
    with T.Task(latency=1, ii=1), T.SimtVF(threads=plan.threads):
        tx = T.get_thread_binding()
        lane = tx % L
        amax = T.alloc_var(T.int32)
        scale = T.alloc_var(T.float32)
        inverse = T.alloc_var(T.float32)
        exponent = T.alloc_var(T.int32)
        byte = T.alloc_var(T.int32)
        for step in T.serial(plan.steps):
            block = step * plan.workers + tx // L
            bi = block // across
            bj = block % across
            sf0, sf1 = plan.sf.layout.item(bi, sub * across + bj)
            if plan.mode == "data":
                inverse = 1.0
                if row0 + bi * BM < row_end and col0 + bj * BK < hidden:
                    inverse = 1.0 / read_scale(scales, bi * BM, bj * BK + sub * C, plan.sf)
            else:
                # Largest magnitude of the block
                amax = 0
                for e in T.serial((BM * BK + L - 1) // L):
                    index = e * L + lane
                    i = bi * BM + index // BK
                    j = bj * BK + index % BK
                    if index < BM * BK and row0 + i < row_end and col0 + j < hidden:
                        value = _dequantised(tile, scales_in, i, j, plan)
                        amax = T.max(amax, num.abs_bits(value))
                if L > 1:
                    amax = T.warp_reduce_max(amax)
                # Scale and its inverse
                scale_of_block(amax, floor_bits, largest_code, round_sf, scale, inverse, exponent)
                if plan.sf.dtype == "float8_e4m3fn":
                    scale = T.cast(num.as_e4m3(num.saturated(scale, 448.0)), "float32")
                    inverse = 1.0 / scale
                if plan.mode != "round_trip":
                    if lane == 0:
                        if plan.sf.dtype == "uint8":
                            byte = T.if_then_else(
                                row0 + bi * BM < row_end and col0 + bj * BK < hidden,
                                exponent,
                                0,
                            )
                            scales[sf0, sf1] = T.cast(byte, "uint8")
                        elif plan.sf.dtype == "float8_e4m3fn":
                            scales[sf0, sf1] = num.as_e4m3(scale)
                        else:
                            scales[sf0, sf1] = scale
            # Codes
            if plan.mode != "sf":
                for e in T.serial((BM * BK + per_step - 1) // per_step):
                    index = (e * L + lane) * plan.out_per_item
                    i = bi * BM + index // BK
                    j = bj * BK + index % BK
                    if index < BM * BK and row0 + i < row_end and col0 + j < hidden:
                        place = (row0 + i) * hidden + col0 + j
                        v = _dequantised(tile, scales_in, i, j, plan) * inverse
                        first = _rounded(v, place, plan)
                        if plan.mode == "round_trip":
                            codes[i, j] = T.cast(_back(first, plan) * scale, plan.out_dtype)
                        elif plan.fmt == "e4m3":
                            codes[i, j] = num.as_e4m3(first)
                        else:
                            w = _dequantised(tile, scales_in, i, j + 1, plan) * inverse
                            byte = num.encode_e2m1(first) | (
                                num.encode_e2m1(_rounded(w, place + 1, plan)) << 4
                            )
                            codes[i, j // 2] = T.cast(byte, "int8")


@asc_kernel()
def block_cast(
    x, sf_in, out, sf,
    floor_bits: T.int32, round_sf: T.int32, tiles: T.int32, tiles_across: T.int32,
    plan: Any = None,
):  # fmt: skip
    """Casts [tokens, hidden] elements; `plan` is a `CastPlan`, unused tensors are [1, 1].

    `sf_in` and `sf` are the items of the scales (`common.sf_items`), `floor_bits` the float32 bits
    of the lower bound of a block's largest magnitude.
    """
    M, XW, XS = T.dynamic("M, XW, XS")
    I0, I1, IS, OM, OW, OS, S0, S1, SS = T.dynamic("I0, I1, IS, OM, OW, OS, S0, S1, SS")
    x: T.StridedTensor((M, XW), (XS, 1), plan.x_dtype)
    sf_in: T.StridedTensor((I0, I1), (IS, 1), plan.sf_in.dtype)
    out: T.StridedTensor((OM, OW), (OS, 1), plan.out_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), plan.sf.dtype)

    R, C = plan.rows, plan.cols
    BM, BK = plan.sf.block
    whole = C * plan.subs
    s0, s1 = plan.sf.tile(R, whole)
    t0, t1 = plan.sf_in.tile(R, C)
    hidden = XW * plan.x_per_item
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C // plan.x_per_item), plan.x_dtype)
        codes = T.alloc_shared((R, C // plan.out_per_item), plan.out_dtype)
        scales = T.alloc_shared((s0, plan.sf.pitch(R, whole)), plan.sf.dtype)
        scales_in = T.alloc_shared((t0, plan.sf_in.pitch(R, C)), plan.sf_in.dtype)
        # NOTE: tasks in a given order, and variables that keep their terms out of every index:
        # without them a search for the best schedule takes many seconds of lowering.
        row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
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
                # Load the tile
                with T.Task(latency=1, ii=1):
                    T.copy(x[row0, col0 // plan.x_per_item], tile)
                    if plan.sf_in.exists:
                        i0, i1 = plan.sf_in.layout.items(
                            row0 // plan.sf_in.block[0], col0 // plan.sf_in.block[1]
                        )
                        T.copy(sf_in[i0 : i0 + t0, i1 : i1 + t1], scales_in[0:t0, 0:t1])
                    if plan.mode == "data":
                        T.copy(sf[o0 : o0 + s0, o1 : o1 + s1], scales[0:s0, 0:s1])
                cast_tile(
                    plan, tile, scales_in, scales, codes, row0, col0, sub, M, hidden, floor_bits,
                    round_sf,
                )  # fmt: skip
                # Store what the tile made
                with T.Task(latency=1, ii=1):
                    if plan.mode != "sf":
                        T.copy(codes, out[row0, col0 // plan.out_per_item])
                    if plan.mode == "cast" or plan.mode == "sf":
                        if plan.subs == 1 or sub == plan.subs - 1:
                            T.copy(scales[0:s0, 0:s1], sf[o0 : o0 + s0, o1 : o1 + s1])
