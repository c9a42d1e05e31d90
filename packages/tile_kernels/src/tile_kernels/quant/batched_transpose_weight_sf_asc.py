"""The kernel of `batched_transpose_weight_sf` (tile_kernels.md section 4.10).

A task is a square of scale blocks. Each thread writes one row's words in both directions; what lies
beyond the last block becomes zero bytes.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import require
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num

__all__ = ["SPAN", "transpose_weight_sf"]

SPAN = 1024  # rows or columns of the weight in a task, and its threads


@asc_kernel()
def transpose_weight_sf(
    sf, first, second, tasks: T.int32, down: T.int32, across: T.int32,
    block: int = 32, pack: int = 2, word: str = "", cores: int = 1,
):  # fmt: skip
    """Writes the words of both directions.

    Args:
        sf: powers of two [weights, n / block, k / block].
        first: [weights, words of k / block bytes, n], second: [weights, words of n / block, k].
    """
    G, NB, KB, W0, N, W1, K = T.dynamic("G, NB, KB, W0, N, W1, K")
    sf: T.Tensor((G, NB, KB), T.float32)
    first: T.Tensor((G, W0, N), word)
    second: T.Tensor((G, W1, K), word)

    side = SPAN // block
    words = side // pack
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((1, side, side), T.float32)
        rows = T.alloc_shared((1, words, SPAN), word)
        columns = T.alloc_shared((1, words, SPAN), word)
        weight = T.alloc_var(T.int32)
        n0 = T.alloc_var(T.int32)
        k0 = T.alloc_var(T.int32)
        # NOTE: tasks in a given order, and variables that keep their terms out of every index:
        # without them a search for the best schedule takes many seconds of lowering.
        for turn in T.serial(T.truncdiv(tasks - core + cores - 1, cores)):
            with T.Stage(0), T.Task(latency=1, ii=1):
                weight = T.truncdiv(turn * cores + core, down * across)
                n0 = T.truncmod(T.truncdiv(turn * cores + core, across), down) * side
                k0 = T.truncmod(turn * cores + core, across) * side
            T.copy(sf[weight, n0, k0], tile)
            with T.Task(latency=1, ii=1), T.SimtVF(threads=SPAN):
                thread = T.get_thread_binding()
                own = T.alloc_var(T.int32)
                along_k = T.alloc_var(T.int32)
                along_n = T.alloc_var(T.int32)
                own = thread // block
                if thread < side * side:
                    if n0 + thread // side < NB and k0 + thread % side < KB:
                        bits = num.bits_of(tile[0, thread // side, thread % side])
                        require((bits & T.int32(-0x7F800001)) == 0)
                for w in T.serial(words):
                    along_k = 0
                    along_n = 0
                    for byte in T.unroll(pack):
                        other = w * pack + byte
                        if n0 + own < NB and k0 + other < KB:
                            along_k = along_k | (
                                num.bits_of(tile[0, own, other]) >> 23 << (8 * byte)
                            )
                        if n0 + other < NB and k0 + own < KB:
                            along_n = along_n | (
                                num.bits_of(tile[0, other, own]) >> 23 << (8 * byte)
                            )
                    rows[0, w, thread] = T.cast(along_k, word)
                    columns[0, w, thread] = T.cast(along_n, word)
            T.copy(rows, first[weight, k0 // pack, n0 * block])
            T.copy(columns, second[weight, n0 // pack, k0 * block])
