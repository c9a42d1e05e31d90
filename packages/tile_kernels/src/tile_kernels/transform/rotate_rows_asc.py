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

from tile_kernels._asc import pieces, require, reused
from tile_kernels._bridge import asc_kernel

__all__ = ["rotate_rows"]

LANES = 64  # fp32 lanes of a register
FIRST = "PAT_VL32"  # the first half of them
TOGETHER = 4  # registers on which a step works before the next one: none waits for its operands


def lanes_of(count: int, width: int) -> Any:
    """A mask of the first `count` lanes of `width` bits; all of them if there are fewer."""
    return T.simd.update_mask(min(count, 8 * 256 // width), width)


def raw_at(tile: Any, i: Any, j: Any) -> Any:
    """64 numbers of row i from j on, one in each lane of 32 bits."""
    return T.simd.vld(tile[i, j], dist="NORM" if tile.dtype == "float32" else "UNPK_B16")


def widened(raw: Any, dtype: str, some16: Any) -> Any:
    """What `raw_at` loaded, as float32."""
    return raw if dtype == "float32" else T.simd.vcvt(raw, "float32", some16, part=0)


def narrowed(value: Any, dtype: str, some: Any) -> Any:
    """64 float32 rounded to nearest, each in the lane where it was."""
    return value if dtype == "float32" else T.simd.vcvt(value, dtype, some, sat=False, part=0)


@T.macro
def store(value, tile, i, j, some):
    """Writes `narrowed` numbers side by side, those of some lanes."""
    T.simd.vsts(tile[i, j], value, some, dist="NORM_B32" if tile.dtype == "float32" else "PK_B32")


def rotated(a: Any, b: Any, cos: Any, sin: Any, some: Any) -> tuple[Any, Any]:
    """The rotated pairs: two products and their sum, each rounded."""
    first = T.simd.vsub(T.simd.vmul(a, cos, some), T.simd.vmul(b, sin, some), some)
    second = T.simd.vadd(T.simd.vmul(a, sin, some), T.simd.vmul(b, cos, some), some)
    return first, second


@T.macro
def rotate_halves(tile, result, i, j, half, cos, sin, some, some16):
    """Rotates up to 64 pairs of row i, those from j on; their numbers lie `half` apart."""
    a = widened(raw_at(tile, i, j), tile.dtype, some16)
    b = widened(raw_at(tile, i, half + j), tile.dtype, some16)
    first, second = rotated(a, b, cos, sin, some)
    store(narrowed(first, tile.dtype, some), result, i, j, some)
    store(narrowed(second, tile.dtype, some), result, i, half + j, some)


@T.macro
def rotate_halves_of_twos(tile, result, i, count, cos, sin, left, right, all32, all16):
    """Rotates 32 pairs of 2 * count rows from i on; the numbers of a pair lie 32 apart.

    Three registers, each 32 numbers behind the one before it, hold two rows: the middle one has
    the second half of the first row and the first half of the second row.
    """
    half = LANES // 2
    front, middle, back = (T.simd.alloc_local(count, tile.dtype) for _ in range(3))
    a, b, c, d = (T.simd.alloc_local(count, "float32") for _ in range(4))
    for n in T.unroll(count):
        front[n] = raw_at(tile, i + 2 * n, 0)
    for n in T.unroll(count):
        middle[n] = raw_at(tile, i + 2 * n, half)
    for n in T.unroll(count):
        back[n] = raw_at(tile, i + 2 * n, LANES)
    for n in T.unroll(count):
        a[n] = widened(T.simd.vsel(front[n], middle[n], left), tile.dtype, all16)
    for n in T.unroll(count):
        b[n] = widened(T.simd.vsel(middle[n], back[n], left), tile.dtype, all16)
    for n in T.unroll(count):
        c[n], d[n] = rotated(a[n], b[n], cos, sin, all32)
    for n in T.unroll(count):
        front[n] = narrowed(c[n], tile.dtype, all32)
    for n in T.unroll(count):
        back[n] = narrowed(d[n], tile.dtype, all32)
    for n in T.unroll(count):
        store(front[n], result, i + 2 * n, 0, left)
    for n in T.unroll(count):
        store(T.simd.vsel(back[n], front[n], left), result, i + 2 * n, half, all32)
    for n in T.unroll(count):
        store(back[n], result, i + 2 * n, LANES, right)


@T.macro
def rotate_neighbours(tile, result, i, j, pairs, cos, sin, some, some16):
    """Rotates up to 64 pairs, those from number j of row i on; the pairs are neighbours."""
    if tile.dtype == "float32":
        left = T.simd.vld(tile[i, j])
        right = T.simd.vld(tile[i, j + LANES]) if 2 * pairs > LANES else left
        a, b = T.simd.vdintlv(left, right)
        first, second = rotated(a, b, cos, sin, some)
        front, back = T.simd.vintlv(first, second)
        store(front, result, i, j, lanes_of(2 * pairs, 32))
        if 2 * pairs > LANES:
            store(back, result, i, j + LANES, lanes_of(2 * pairs - LANES, 32))
    else:
        # Even and odd lanes of 16 bits are the pairs
        both = T.simd.vld(tile[i, j])
        a = T.simd.vcvt(both, "float32", some16, part=0)
        b = T.simd.vcvt(both, "float32", some16, part=1)
        first, second = rotated(a, b, cos, sin, some)
        even = T.simd.vcvt(first, tile.dtype, some, sat=False, part=0)
        odd = T.simd.vcvt(second, tile.dtype, some, sat=False, part=1)
        bits = T.simd.vor(
            T.reinterpret(even, "uint16x128"), T.reinterpret(odd, "uint16x128"), some16
        )
        data = T.reinterpret(bits, f"{tile.dtype}x128")
        T.simd.vsts(result[i, j], data, some16, dist="NORM_B16")


@T.macro
def rotate_in_twos(tile, table, k, result, begin, rows, sign, plan):
    """Rotates so many rows of 32 pairs by row k of the table, two at once; an odd last one not."""
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    left = T.simd.pset(32, FIRST)
    right = T.simd.pnot(left, all32)
    # Cosines twice and sines twice
    half = LANES // 2
    both = T.simd.vld(table[k, 0])
    cos = T.simd.vsel(both, T.simd.vld(table[k - 1, half]), left)
    sin = T.simd.vmuls(T.simd.vsel(T.simd.vld(table[k, half]), both, left), sign, all32)
    if plan.interleaved:
        for n in T.serial(T.truncdiv(rows, 2)):
            i = begin + 2 * n
            rotate_neighbours(tile, result, i, 0, LANES, cos, sin, all32, all16)
    else:
        for n in T.serial(T.truncdiv(rows, 2 * TOGETHER)):
            i = begin + 2 * TOGETHER * n
            rotate_halves_of_twos(tile, result, i, TOGETHER, cos, sin, left, right, all32, all16)
        rest = T.truncmod(T.truncdiv(rows, 2), TOGETHER)
        for n in T.serial(rest):
            i = begin + 2 * (T.truncdiv(rows, 2) - rest + n)
            rotate_halves_of_twos(tile, result, i, 1, cos, sin, left, right, all32, all16)


@T.macro
def rotate_one_by_one(tile, table, k, result, begin, rows, sign, plan):
    """Rotates so many rows by row k of the table."""
    half = plan.dim // 2
    for j, pairs in plan.steps:
        some, some16 = lanes_of(pairs, 32), lanes_of(2 * pairs, 16)
        cos = T.simd.vld(table[k, j])
        sin = T.simd.vmuls(T.simd.vld(table[k, half + j]), sign, some)
        for n in T.serial(rows):
            if plan.interleaved:
                rotate_neighbours(tile, result, begin + n, 2 * j, pairs, cos, sin, some, some16)
            else:
                rotate_halves(tile, result, begin + n, j, half, cos, sin, some, some16)


@T.macro
def rotate_tile(tile, table, result, rows, tokens, heads, skipped, sign, plan):
    """Rotates the rows of a tile; row k + 1 of the table is that of its token k.

    The first token has `skipped` heads in front of the tile.
    """
    for k in T.serial(tokens):
        begin, end = T.alloc_var(T.int32), T.alloc_var(T.int32)
        begin = T.max(k * heads - skipped, 0)
        end = T.min((k + 1) * heads - skipped, rows)
        if plan.in_twos:
            rotate_in_twos(tile, table, k + 1, result, begin, end - begin, sign, plan)
            begin = end - T.truncmod(end - begin, 2)
        rotate_one_by_one(tile, table, k + 1, result, begin, end - begin, sign, plan)


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
        table = T.alloc_shared((1 + R + plan.spare, dim), T.float32)
        T.annotate_buffer_versions({tile: 2, result: 2, table: 2})
        for turn in T.Pipelined(pieces(tiles - core, plan.cores), num_stages=2):
            reused(tile, result, table)
            T.assume_no_conflict(x)  # tiles do not overlap
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
                    require(row >= 0)
                    require(row < length)
                    T.copy(cache[row : row + 1, 0:dim], table[k + 1 : k + 2, 0:dim])
            else:
                row = token0 + offset
                T.copy(cache[row : row + tokens, 0:dim], table[1 : tokens + 1, 0:dim])
            if plan.merged:
                T.copy(x[batch, row0 : row0 + count, 0, 0:dim], tile[0:count, 0:dim])
            else:
                for k in T.serial(tokens):
                    begin = T.max(k * heads - skipped, 0)
                    end = T.min((k + 1) * heads - skipped, count)
                    head = begin + skipped - k * heads
                    T.assume_no_conflict(tile, level=1)  # nor do tokens
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
                    T.assume_no_conflict(x, level=1)
                    T.copy(
                        result[begin:end, 0:dim],
                        x[batch, token0 + k, head : head + (end - begin), 0:dim],
                    )
