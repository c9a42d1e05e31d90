"""The kernel of per-channel casts that transpose, with or without SwiGLU, on vector registers.

A tile is 128 tokens. With SwiGLU its activations are kept as float32, already rounded to the dtype
of x: bf16 numbers are the upper halves of such words. Then come the largest magnitudes of the
channels, their scales, and the codes: four rows of 64 channels make a register with a byte of each
row in a lane, eight such registers are interleaved three times, and strided stores put 32 tokens of
a channel side by side. Casts that keep the order are in `rows_cast_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES, magnitude_bits, store_numbers, values_at
from tile_kernels.quant.scales_asc import scales_of_magnitudes
from tile_kernels.quant.swiglu_asc import activate_tile, clear_behind, clear_rows
from tile_kernels.transpose.batched_transpose_asc import BLOCK, BLOCKS, interleaved

__all__ = ["turned_cast"]

LANE_BYTES = 4
ROWS = BLOCK // LANE_BYTES  # registers with 32 rows
MAXIMA = 8  # that do not wait for each other


@T.macro
def store_halves(value, values, i, j, all16, all32):
    """Writes 64 float32, rounded to bf16, to pairs of uint16: zeros and the bf16 numbers."""
    upper = T.simd.vcvt(value, "bfloat16", all16, sat=False, part=1)
    T.simd.vsts(values[i, 2 * j], T.reinterpret(upper, "uint16x128"), all16, dist="NORM_B16")


def numbers_at(tile: Any, i: Any, j: Any, all16: Any) -> Any:
    """64 numbers of a row as float32."""
    if tile.dtype == "uint16":
        return T.reinterpret(T.simd.vld(tile[i, 2 * j]), "float32x64")
    return values_at(tile, i, j, all16)


def bits_of_row(tile: Any, i: Any, j: Any, magnitude: Any, mask: Any) -> Any:
    """The bits of a register of magnitudes: 64 fp32 as int32, or 128 bf16 as int16."""
    if tile.dtype == "float32":
        return magnitude_bits(T.simd.vld(tile[i, j]), magnitude, mask)
    if tile.dtype == "uint16":
        value = T.simd.pair_get(T.simd.vld2(tile[i, 2 * j], dist="DINTLV_B16"), 1)
    else:
        value = T.simd.vld(tile[i, j])
    return T.simd.vand(T.reinterpret(value, "int16x128"), magnitude, mask)


@T.macro
def largest_of_channels(tile, amax, block, row0, height):
    """Writes the bits of the largest magnitude of each channel of `height` rows to `amax`."""
    bits = 32 if tile.dtype == "float32" else 16
    dtype = f"int{bits}"
    lanes = 2 * LANES if bits == 16 else LANES
    every, all32 = T.simd.pset(bits), T.simd.pset(32)
    magnitude = T.simd.vdup(T.cast(0x7FFF if bits == 16 else 0x7FFFFFFF, dtype), dtype, every)
    most = T.simd.alloc_local(MAXIMA, dtype)
    for c in T.serial(amax.shape[1] // lanes):
        for k in T.unroll(MAXIMA):
            most[k] = T.simd.vdup(T.cast(0, dtype), dtype, every)
        for step in T.serial(T.truncdiv(height, MAXIMA)):
            for k in T.unroll(MAXIMA):
                i = row0 + step * MAXIMA + k
                value = bits_of_row(tile, i, c * lanes, magnitude, every)
                most[k] = T.simd.vmax(most[k], value, every)
        for half in (4, 2, 1):
            for k in T.unroll(half):
                most[k] = T.simd.vmax(most[k], most[k + half], every)
        if bits == 32:
            T.simd.vsts(amax[block, c * lanes], most[0], all32)
        else:
            for part in (0, 1):
                wide = T.simd.vunpack(T.reinterpret(most[0], "uint16x128"), part)
                T.simd.vsts(
                    amax[block, c * lanes + part * LANES], T.reinterpret(wide, "int32x64"), all32
                )


def codes_of_rows(tile: Any, i: Any, j: Any, factor: Any, masks: tuple[Any, Any, Any]) -> Any:
    """A byte of each of four rows in each of 64 lanes, the first row in the lowest.

    No product is above 448 but NaN, so the conversion that does not saturate is right for all.
    """
    all8, all16, all32 = masks
    codes = None
    for part in range(LANE_BYTES):
        value = T.simd.vmul(numbers_at(tile, i + part, j, all16), factor, all32)
        code = T.simd.vcvt(value, "float8_e4m3fn", all8, sat=False, part=part)
        code = T.reinterpret(code, "int32x64")
        codes = code if codes is None else T.simd.vor(codes, code, all32)
    return codes


def turn_codes(registers, turned, row, c) -> None:
    """Writes the codes of 32 rows of 64 channels, the tokens of a channel side by side."""
    for _ in range(3):
        registers = interleaved(registers)
    stride = (turned.shape[1] // BLOCK) << 16
    for i, register in enumerate(registers):
        target = turned[c * LANES + i * BLOCKS, row]
        T.evaluate(T.simd.vsstb(T.reinterpret(register, "uint8x256"), target, stride))


@T.macro
def codes_of_tile(tile, inverse, turned, turns, chunks, height):
    """Writes all codes of a tile of `turns` times 32 rows.

    A block of 32 rows of 64 channels is turned behind the codes of the next one: so the
    conversions do not wait for the interleaving.
    """
    all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
    masks = (all8, all16, all32)
    codes, before = T.simd.alloc_local(ROWS, "int32"), T.simd.alloc_local(ROWS, "int32")
    for n in T.serial(turns * chunks + 1):
        if n < turns * chunks:
            b, c = T.truncmod(n, turns), T.truncdiv(n, turns)
            factor = T.alloc_var("float32x64")
            factor = T.simd.vld(inverse[T.truncdiv(b * BLOCK, height), c * LANES])
            for k in T.unroll(ROWS):
                i = b * BLOCK + k * LANE_BYTES
                codes[k] = codes_of_rows(tile, i, c * LANES, factor, masks)
        if n > 0:
            b, c = T.truncmod(n - 1, turns), T.truncdiv(n - 1, turns)
            turn_codes([before[k] for k in range(ROWS)], turned, b * BLOCK, c)
        for k in T.unroll(ROWS):
            before[k] = codes[k]


@asc_kernel()
def turned_cast(
    x, out, sf,
    floor_bits: T.int32, limit: T.float32, tokens: T.int32, tasks: T.int32, across: T.int32,
    plan: Any = None, round_sf: bool = False, swiglu: bool = False, has_limit: bool = False,
):  # fmt: skip
    """Casts `tokens` rows of bf16 or fp32 to bytes `out` [hidden, tokens], hidden a multiple of 64.

    `across` tiles lie in a row. With `swiglu` a row of x holds both halves, clamped with
    `has_limit`.
    """
    M, XW, XS = T.dynamic("M, XW, XS")
    OM, OW, OS, S0, S1, SS = T.dynamic("OM, OW, OS, S0, S1, SS")
    x: T.StridedTensor((M, XW), (XS, 1), plan.x_dtype)
    out: T.StridedTensor((OM, OW), (OS, 1), T.uint8)
    sf: T.StridedTensor((S0, S1), (SS, 1), T.float32)

    R, C = plan.rows, plan.cols
    height = plan.sf.block[0]
    blocks = R // height
    hidden = T.truncdiv(XW, 2) if swiglu else XW
    is_bf16 = plan.x_dtype == "bfloat16"
    pairs = swiglu and is_bf16  # of uint16 in place of float32
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R, C), plan.x_dtype)
        right = T.alloc_shared((R, C) if swiglu else (1, LANES), plan.x_dtype)
        values = T.alloc_shared(
            (R, C * (1 + pairs)) if swiglu else (1, LANES), T.uint16 if pairs else T.float32
        )
        amax = T.alloc_shared((blocks, C), T.int32)
        inverse = T.alloc_shared((blocks, C), T.float32)
        scales = T.alloc_shared((blocks, C), T.float32)
        # NOTE: 32 bytes behind each row, so strided stores hit all banks
        turned = T.alloc_shared((C, R + BLOCK), T.uint8)
        in_flight = {tile: plan.stages, turned: plan.stages, scales: 2}
        if swiglu:
            in_flight |= {right: plan.stages, values: 1}
        T.annotate_buffer_versions({**in_flight, amax: 1, inverse: 1})
        for turn in T.Pipelined(
            T.truncdiv(tasks - core + plan.cores - 1, plan.cores), num_stages=2
        ):
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            row0, col0 = T.alloc_var(T.int32), T.alloc_var(T.int32)
            reused(tile, turned, amax, inverse, scales)
            if swiglu:
                reused(right, values)
            with T.Stage(0), T.Task(latency=1, ii=1):
                row0 = T.truncdiv(turn * plan.cores + core, across) * R
                col0 = T.truncmod(turn * plan.cores + core, across) * C
            with T.Task(latency=1, ii=1):
                T.copy(x[row0, col0], tile)
                if swiglu:
                    T.copy(x[row0, hidden + col0], right)
            with T.Task(latency=1, ii=1), T.SimdVF():
                source = values if swiglu else tile
                chunks = T.truncdiv(T.min(hidden - col0, C), LANES)
                rows = T.min(tokens - row0, R)
                turns = T.truncdiv(rows + BLOCK - 1, BLOCK)
                # Zeros behind the last row and channel, up to whole blocks and registers
                clear_rows(tile, rows, turns * BLOCK, chunks)
                if swiglu:
                    clear_rows(right, rows, turns * BLOCK, chunks)
                    T.simd.mem_bar("VST_VLD")
                    activate_tile(
                        tile, right, values, turns * BLOCK, chunks, limit, has_limit,
                        store_halves if pairs else store_numbers,
                    )  # fmt: skip
                each = 1 + pairs  # items of 64 channels, over 64
                clear_behind(source, turns * BLOCK, chunks * each, C // LANES * each)
                T.simd.mem_bar("VST_VLD")
                # Largest magnitudes
                for b in T.serial(blocks):
                    left_rows = T.min(turns * BLOCK - b * height, height)
                    largest_of_channels(source, amax, b, b * height, left_rows)
                T.simd.mem_bar("VST_VLD")
                # Scales
                scales_of_magnitudes(
                    amax, inverse, scales, blocks * C, C, floor_bits, round_sf, is_bf16=is_bf16
                )
                T.simd.mem_bar("VST_VLD")
                # Codes
                codes_of_tile(source, inverse, turned, turns, chunks, height)
            with T.Task(latency=1, ii=1):
                T.copy(turned[0:C, 0:R], out[col0 : col0 + C, row0 : row0 + R])
                T.copy(scales, sf[T.truncdiv(row0, height), col0])
