"""The kernel of `apply_rotary` on vector registers, in place.

A tile is some heads, of one token or of several; only what is rotated moves. The cosines and sines
of a token are loaded once for all of its heads. Loads, arithmetic and stores of two tiles overlap.
Other sizes are in `apply_rotary_asc`, with the same results.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel

__all__ = ["rotate_rows"]

LANES = 64  # fp32 lanes of a register


def lanes_of(count: int, width: int) -> Any:
    """A mask of the first lanes of `width` bits: `count`, or all where there are fewer."""
    return T.simd.update_mask(min(count, 2048 // width), width)


def rotated(a: Any, b: Any, cos: Any, sin: Any, some: Any) -> tuple[Any, Any]:
    """The rotated pairs: two products and their sum, each rounded."""
    first = T.simd.vsub(T.simd.vmul(a, cos, some), T.simd.vmul(b, sin, some), some)
    second = T.simd.vadd(T.simd.vmul(a, sin, some), T.simd.vmul(b, cos, some), some)
    return first, second


@T.macro
def rotate_halves(tile, result, i, j, half, cos, sin, pairs):
    """Rotates up to 64 pairs of row i, those from j on; their numbers lie `half` apart."""
    some = lanes_of(pairs, 32)
    if tile.dtype == "float32":
        a, b = T.simd.vld(tile[i, j]), T.simd.vld(tile[i, half + j])
        first, second = rotated(a, b, cos, sin, some)
        T.simd.vsts(result[i, j], first, some)
        T.simd.vsts(result[i, half + j], second, some)
    else:
        a = T.simd.vcvt(T.simd.vld(tile[i, j], dist="UNPK_B16"), "float32", some, part=0)
        b = T.simd.vcvt(T.simd.vld(tile[i, half + j], dist="UNPK_B16"), "float32", some, part=0)
        first, second = rotated(a, b, cos, sin, some)
        low = T.simd.vcvt(first, tile.dtype, some, sat=False, part=0)
        high = T.simd.vcvt(second, tile.dtype, some, sat=False, part=0)
        T.simd.vsts(result[i, j], low, some, dist="PK_B32")
        T.simd.vsts(result[i, half + j], high, some, dist="PK_B32")


@T.macro
def rotate_neighbours(tile, result, i, j, cos, sin, pairs):
    """Rotates up to 64 pairs of row i, those from j on."""
    some = lanes_of(pairs, 32)
    if tile.dtype == "float32":
        left = T.simd.vld(tile[i, 2 * j])
        right = T.simd.vld(tile[i, 2 * j + LANES]) if 2 * pairs > LANES else left
        a, b = T.simd.vdintlv(left, right)
        first, second = rotated(a, b, cos, sin, some)
        left, right = T.simd.vintlv(first, second)
        T.simd.vsts(result[i, 2 * j], left, lanes_of(2 * pairs, 32))
        if 2 * pairs > LANES:
            T.simd.vsts(result[i, 2 * j + LANES], right, lanes_of(2 * pairs - LANES, 32))
    else:
        # Even and odd lanes of 16 bits are the pairs
        both = T.simd.vld(tile[i, 2 * j])
        a = T.simd.vcvt(both, "float32", some, part=0)
        b = T.simd.vcvt(both, "float32", some, part=1)
        first, second = rotated(a, b, cos, sin, some)
        even = T.simd.vcvt(first, tile.dtype, some, sat=False, part=0)
        odd = T.simd.vcvt(second, tile.dtype, some, sat=False, part=1)
        every = lanes_of(2 * pairs, 16)
        bits = T.simd.vor(
            T.reinterpret(even, "uint16x128"), T.reinterpret(odd, "uint16x128"), every
        )
        T.simd.vsts(
            result[i, 2 * j], T.reinterpret(bits, f"{tile.dtype}x128"), every, dist="NORM_B16"
        )


@T.macro
def rotate_tile(tile, table, result, rows, tokens, heads, skipped, sign, plan):
    """Rotates the rows of a tile; row k of the table is that of its token k.

    The first token has `skipped` heads in front of the tile.
    """
    half = plan.dim // 2
    for k in T.serial(tokens):
        begin, end = T.alloc_var(T.int32), T.alloc_var(T.int32)
        begin = T.max(k * heads - skipped, 0)
        end = T.min((k + 1) * heads - skipped, rows)
        for j, pairs in plan.steps:
            cos = T.simd.vld(table[k, j])
            sin = T.simd.vmuls(T.simd.vld(table[k, half + j]), sign, lanes_of(pairs, 32))
            for h in T.serial(end - begin):
                if plan.interleaved:
                    rotate_neighbours(tile, result, begin + h, j, cos, sin, pairs)
                else:
                    rotate_halves(tile, result, begin + h, j, half, cos, sin, pairs)


@asc_kernel()
def rotate_rows(
    x, cache, positions,
    offset: T.int32, sign: T.float32, heads: T.int32, rows: T.int32, tiles: T.int32,
    plan: Any = None,
):  # fmt: skip
    """Rotates the first `dim` elements of the rows x [batches, tokens, heads, dim].

    A tile is up to `rows` rows, `tiles` are those of all batches. With merged strides x is
    [batches, tokens * heads, 1, dim].
    """
    B, N, H, D, XB, XN, XH = T.dynamic("B, N, H, D, XB, XN, XH")
    length, given = T.dynamic("length, given")
    R, dim = plan.rows, plan.dim
    x: T.StridedTensor((B, N, H, D), (XB, XN, XH, 1), plan.dtype)
    cache: T.Tensor((length, dim), T.float32)
    positions: T.Tensor((given,), plan.position_dtype)
    with T.Kernel(plan.cores) as core:
        tile = T.alloc_shared((R + plan.spare, dim), plan.dtype)
        result = T.alloc_shared((R, dim), plan.dtype)
        table = T.alloc_shared((R + plan.spare, dim), T.float32)
        T.annotate_buffer_versions({tile: 2, result: 2, table: 2})
        T.assume_no_conflict(x)  # tiles do not overlap
        for turn in T.Pipelined(pieces(tiles - core, plan.cores), num_stages=2):
            reused(tile, result, table)
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            batch, row0, count = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            token0, skipped, tokens = (T.alloc_var(T.int32) for _ in range(3))
            with T.Stage(0), T.Task(latency=1, ii=1):
                batch = T.truncdiv(turn * plan.cores + core, T.truncdiv(tiles, B))
                row0 = T.truncmod(turn * plan.cores + core, T.truncdiv(tiles, B)) * rows
                count = T.min(rows, N * H - row0)
                token0 = T.truncdiv(row0, heads)
                skipped = T.truncmod(row0, heads)
                tokens = T.truncdiv(skipped + count + (heads - 1), heads)
            if plan.has_positions:
                for k in T.serial(tokens):
                    at = batch * T.truncdiv(N * H, heads) + token0 + k
                    row = T.cast(positions[at], T.int32) + offset
                    T.copy(cache[row : row + 1, 0:dim], table[k : k + 1, 0:dim])
            else:
                row = token0 + offset
                T.copy(cache[row : row + tokens, 0:dim], table[0:tokens, 0:dim])
            if plan.merged:
                T.copy(x[batch, row0 : row0 + count, 0, 0:dim], tile[0:count, 0:dim])
            else:
                for k in T.serial(tokens):
                    begin = T.max(k * heads - skipped, 0)
                    end = T.min((k + 1) * heads - skipped, count)
                    head = begin + skipped - k * heads
                    T.copy(
                        x[batch, token0 + k, head : head + (end - begin), 0:dim],
                        tile[begin:end, 0:dim],
                    )
            with T.SimdVF():
                rotate_tile(tile, table, result, count, tokens, heads, skipped, sign, plan)
            if plan.merged:
                T.copy(result[0:count, 0:dim], x[batch, row0 : row0 + count, 0, 0:dim])
            else:
                for k in T.serial(tokens):
                    begin = T.max(k * heads - skipped, 0)
                    end = T.min((k + 1) * heads - skipped, count)
                    head = begin + skipped - k * heads
                    T.copy(
                        result[begin:end, 0:dim],
                        x[batch, token0 + k, head : head + (end - begin), 0:dim],
                    )
