"""Kernel of `apply_rotary`: one thread a pair of elements, in place."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces, require
from tile_kernels._bridge import asc_kernel


@asc_kernel()
def rotate(
    x,
    cache,
    positions,
    offset: T.int32,
    interleaved: T.int32,
    sign: T.float32,
    dtype: str,
    position_dtype: str,
    with_positions: bool,
    cores: int,
):
    """Rotates the first `dim` elements of each head of x [batch, tokens, heads, head_dim]."""
    batches, tokens, heads, head_dim = T.dynamic("batches, tokens, heads, head_dim")
    batch_stride, token_stride, head_stride = T.dynamic("batch_stride, token_stride, head_stride")
    length, dim, given = T.dynamic("length, dim, given")
    x: T.StridedTensor(
        (batches, tokens, heads, head_dim), (batch_stride, token_stride, head_stride, 1), dtype
    )
    cache: T.Tensor((length, dim), T.float32)
    positions: T.Tensor((given,), position_dtype)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            half = dim // 2
            pairs = batches * tokens * heads * half
            item, pair, head = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            flat, token, batch = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            for step in T.serial(pieces(pairs, cores * THREADS)):
                item = (step * cores + core) * THREADS + thread
                if item < pairs:
                    pair = T.truncmod(item, half)
                    flat = T.truncdiv(item, half)
                    head = T.truncmod(flat, heads)
                    flat = T.truncdiv(flat, heads)
                    token = T.truncmod(flat, tokens)
                    batch = T.truncdiv(flat, tokens)
                    row = T.alloc_local((1,), T.int32)
                    row[0] = token + offset
                    if with_positions:
                        row[0] = T.cast(positions[flat], T.int32) + offset
                        require(row[0] >= 0)
                        require(row[0] < length)
                    first = T.if_then_else(interleaved == 1, 2 * pair, pair)
                    second = T.if_then_else(interleaved == 1, 2 * pair + 1, pair + half)
                    cos = cache[row[0], pair]
                    sin = cache[row[0], pair + half] * sign
                    a = T.cast(x[batch, token, head, first], T.float32)
                    b = T.cast(x[batch, token, head, second], T.float32)
                    x[batch, token, head, first] = T.cast(a * cos - b * sin, dtype)
                    x[batch, token, head, second] = T.cast(a * sin + b * cos, dtype)
