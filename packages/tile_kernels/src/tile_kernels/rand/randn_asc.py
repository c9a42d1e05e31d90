"""Kernel of `randn`: Philox streams, one a thread, and Box-Muller."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces
from tile_kernels._bridge import asc_kernel

THREADS = 512
PER_THREAD = 8
BLOCK = THREADS * PER_THREAD  # numbers drawn from one seed


@asc_kernel()
def normal_numbers(out, seed: T.int64, dtype: str, cores: int):
    """Fills `out` with standard normal numbers; numbers of block b come from seed + b."""
    n = T.dynamic("n")
    out: T.Tensor((n,), dtype)
    with T.Kernel(cores) as core:
        for turn in T.serial(pieces(pieces(n, BLOCK) - core, cores)):
            block = turn * cores + core
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                T.rng_init(seed + block, seq=thread)
                for draw in T.serial(PER_THREAD):
                    value = T.rng_rand_float(dist="normal")
                    at = block * BLOCK + draw * THREADS + thread
                    if at < n:
                        out[at] = T.cast(value, dtype)
