"""The kernel that lays exponents out for the mega-MoE kernel, a SIMT thread a word (4.9)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num

__all__ = ["mega_moe_words"]

GROUPS = 4  # of 32 channels, in a word
PART = 128  # rows whose words are interleaved


@asc_kernel()
def mega_moe_words(
    sf, out, tokens: T.int32, block_m: T.int32, padded: T.int32,
    layout: Any = None, dtype: str = "", cores: int = 1,
):  # fmt: skip
    """out[c, row of token t] = exponents of groups 4 c to 4 c + 3 of t, the first lowest.

    `sf` are items of power-of-two scales in `layout`, `padded` is `block_m` rounded up to 128.
    """
    S0, S1, SS, C, R, CS = T.dynamic("S0, S1, SS, C, R, CS")
    sf: T.StridedTensor((S0, S1), (SS, 1), dtype)
    out: T.StridedTensor((C, R), (CS, 1), T.int32)
    with T.Kernel(cores) as core:
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            word = T.alloc_var(T.int32)
            row = T.alloc_var(T.int32)
            for step in T.serial(T.ceildiv(tokens * C, cores * THREADS)):
                item = (step * cores + core) * THREADS + thread
                if item < tokens * C:
                    token = item % tokens
                    column = item // tokens
                    inner = token % block_m
                    row = token // block_m * padded + inner // PART * PART
                    row = row + inner % 32 * 4 + inner % PART // 32
                    word = 0
                    for byte in T.serial(GROUPS):
                        p0, p1 = layout.item(token, column * GROUPS + byte)
                        if dtype == "uint8":
                            word = word | T.cast(sf[p0, p1], "int32") << (8 * byte)
                        else:
                            word = word | num.bits_of(sf[p0, p1]) >> 23 << (8 * byte)
                    out[column, row] = word
