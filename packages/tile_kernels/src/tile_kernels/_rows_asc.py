"""Kernels that move whole rows by DMA, as bytes: scatter by a mapping, and zero rows."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel

CHUNK = 16384  # bytes of a row that are in flight at once
STAGES = 4


@T.macro
def fill_with_zeros(row):
    """Writes zeros to a row of CHUNK bytes."""
    all8 = T.simd.pset(8)
    for i in T.serial(CHUNK // 256):
        T.simd.vsts(row[0, i * 256], T.simd.vdup(T.int8(0), "int8", all8), all8, dist="NORM_B8")


@asc_kernel()
def scatter_rows(x, token_topk_to_pos, pos_to_expert, out, cores: int):
    """out[pos] = x[token] for every position of a token that is not negative; rows are bytes.

    Rows of `out` whose expert is negative become zero.
    """
    tokens, k, positions, size = T.dynamic("tokens, k, positions, size")
    x: T.Tensor((tokens, size), T.int8)
    token_topk_to_pos: T.Tensor((tokens, k), T.int32)
    pos_to_expert: T.Tensor((positions,), T.int32)
    out: T.Tensor((positions, size), T.int8)
    with T.Kernel(cores) as core:
        row = T.alloc_shared((1, CHUNK), T.int8)
        zeros = T.alloc_shared((1, CHUNK), T.int8)
        T.annotate_buffer_versions({row: STAGES, zeros: 1})
        with T.SimdVF():
            fill_with_zeros(zeros)
        T.assume_no_conflict(out)  # a position belongs to one slot, or to none
        parts = pieces(size, CHUNK)
        for turn in T.serial(pieces(positions, cores)):
            # NOTE: empty rows end each expert's; without the turn they would meet the same cores.
            position = turn * cores + (core + turn) % cores
            if position < positions:
                if pos_to_expert[position] < 0:
                    for part in T.serial(parts):
                        T.copy(zeros, out[position, part * CHUNK])
        for turn in T.Pipelined(pieces(tokens * parts - core, cores), num_stages=STAGES):
            reused(row)
            item = turn * cores + core
            # NOTE: variables keep these terms out of every index, lowering is quicker then.
            token, column = T.alloc_var(T.int32), T.alloc_var(T.int32)
            token = T.truncdiv(item, parts)
            column = T.truncmod(item, parts) * CHUNK
            T.copy(x[token, column], row)
            for slot in T.serial(k):
                position = token_topk_to_pos[token, slot]
                if position >= 0:
                    T.copy(row, out[position, column])


@asc_kernel()
def zero_rows(pos_to_expert, out, cores: int):
    """Writes zeros to the rows of `out` (bytes) whose expert is negative."""
    positions, size = T.dynamic("positions, size")
    pos_to_expert: T.Tensor((positions,), T.int32)
    out: T.Tensor((positions, size), T.int8)
    with T.Kernel(cores) as core:
        row = T.alloc_shared((1, CHUNK), T.int8)
        with T.SimdVF():
            fill_with_zeros(row)
        for turn in T.serial(pieces(positions - core, cores)):
            position = turn * cores + core
            if pos_to_expert[position] < 0:
                for part in T.serial(pieces(size, CHUNK)):
                    T.copy(row, out[position, part * CHUNK])
