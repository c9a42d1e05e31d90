"""Kernel of `normalize_weight`: one thread a token, sums in the order of the slots."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces
from tile_kernels._bridge import asc_kernel

SMALLEST_SUM = 1e-20


@asc_kernel()
def normalize_weight(weights, denominator, normalized, cores: int):
    """Writes the sum of each row, begun at 1e-20, and the row divided by it."""
    tokens, k = T.dynamic("tokens, k")
    weights: T.Tensor((tokens, k), T.float32)
    denominator: T.Tensor((tokens,), T.float32)
    normalized: T.Tensor((tokens, k), T.float32)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            total = T.alloc_local((1,), T.float32)
            for step in T.serial(pieces(tokens, cores * THREADS)):
                token = (step * cores + core) * THREADS + thread
                if token < tokens:
                    total[0] = SMALLEST_SUM
                    for slot in T.serial(k):
                        total[0] = total[0] + weights[token, slot]
                    denominator[token] = total[0]
                    for slot in T.serial(k):
                        normalized[token, slot] = weights[token, slot] / total[0]
