"""Kernel of `expand_to_fused_with_sf` for the scales: one thread a scale word."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces
from tile_kernels._bridge import asc_kernel


@asc_kernel()
def scatter_scales(sf, token_topk_to_pos, pos_to_expert, out, dtype: str, cores: int):
    """out[pos, w] = sf[token, w] for the positions of a token; 0 where the expert is negative."""
    tokens, k, positions, words = T.dynamic("tokens, k, positions, words")
    sf_row, sf_column, out_row, out_column = T.dynamic("sf_row, sf_column, out_row, out_column")
    sf: T.StridedTensor((tokens, words), (sf_row, sf_column), dtype)
    token_topk_to_pos: T.Tensor((tokens, k), T.int32)
    pos_to_expert: T.Tensor((positions,), T.int32)
    out: T.StridedTensor((positions, words), (out_row, out_column), dtype)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            for step in T.serial(pieces(tokens * words, cores * THREADS)):
                item = (step * cores + core) * THREADS + thread
                if item < tokens * words:
                    for slot in T.serial(k):
                        position = token_topk_to_pos[item // words, slot]
                        if position >= 0:
                            out[position, item % words] = sf[item // words, item % words]
            for step in T.serial(pieces(positions * words, cores * THREADS)):
                item = (step * cores + core) * THREADS + thread
                if item < positions * words:
                    if pos_to_expert[item // words] < 0:
                        out[item // words, item % words] = T.cast(0, dtype)
