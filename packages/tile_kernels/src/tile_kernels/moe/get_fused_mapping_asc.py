"""Kernels of `get_fused_mapping`: count, place the experts, hand out positions.

Each core owns one slice of the flat list of (token, slot), and in it one thread owns an expert: it
walks the slice and sees its own entries in order. So positions inside an expert follow the flat
order on any number of cores, without atomics. What threads walk over lies in the unified buffer:
a load from global memory takes a thread as long as a hundred from there.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, pieces, require
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._select_asc import LANES, fill_chunks

CHUNK = 4096  # indices of a slice in the unified buffer at once
CHUNKS = THREADS // LANES  # registers with an expert a lane


@asc_kernel()
def count_slices(topk_idx, counts, pos_to_expert, pos_to_token, pos_to_token_topk, cores: int):
    """Writes how often each expert occurs in each core's slice, and -1 to every position."""
    n, experts, positions = T.dynamic("n, experts, positions")
    topk_idx: T.Tensor((n,), T.int64)
    counts: T.Tensor((cores, experts), T.int32)
    pos_to_expert: T.Tensor((positions,), T.int32)
    pos_to_token: T.Tensor((positions,), T.int32)
    pos_to_token_topk: T.Tensor((positions,), T.int32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((CHUNK,), T.int64)
        # NOTE: variables keep these terms out of expressions, lowering is quicker then.
        share, end = T.alloc_var(T.int32), T.alloc_var(T.int32)
        share = pieces(n, cores)
        end = T.min(core * share + share, n)
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            for step in T.serial(pieces(experts, THREADS)):
                if step * THREADS + thread < experts:
                    counts[core, step * THREADS + thread] = 0
            for step in T.serial(pieces(positions, cores * THREADS)):
                position = (step * cores + core) * THREADS + thread
                if position < positions:
                    pos_to_expert[position] = -1
                    pos_to_token[position] = -1
                    pos_to_token_topk[position] = -1
        for part in T.serial(pieces(end - core * share, CHUNK)):
            first = core * share + part * CHUNK
            T.copy(topk_idx[first], tile)
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                found = T.alloc_local((1,), T.int32)
                here = T.alloc_var(T.int32)
                here = T.min(end - first, CHUNK)
                for step in T.serial(pieces(experts, THREADS)):
                    expert = step * THREADS + thread
                    if expert < experts:
                        found[0] = counts[core, expert]
                        for offset in T.serial(here):
                            if tile[offset] == expert:
                                found[0] = found[0] + 1
                        counts[core, expert] = found[0]
                for step in T.serial(pieces(here, THREADS)):
                    if step * THREADS + thread < here:
                        require(tile[step * THREADS + thread] < experts)


@T.macro
def add_slices(tile, totals, slices):
    """Turns counts of slices into those of all slices before, and writes the counts of all."""
    all32 = T.simd.pset(32)
    before, counted = (T.simd.alloc_local(CHUNKS, "int32") for _ in range(2))
    for c in T.unroll(CHUNKS):
        before[c] = T.simd.vdup(T.int32(0), "int32", all32)
    for part in T.serial(slices):
        for c in T.unroll(CHUNKS):
            counted[c] = T.simd.vld(tile[part, c * LANES])
        for c in T.unroll(CHUNKS):
            T.simd.vsts(tile[part, c * LANES], before[c], all32)
        for c in T.unroll(CHUNKS):
            before[c] = T.simd.vadd(before[c], counted[c], all32)
    for c in T.unroll(CHUNKS):
        T.simd.vsts(totals[0, c * LANES], before[c], all32)


@T.macro
def move_slices(tile, starts, slices):
    """Adds the first position of each expert to the counts of all slices."""
    all32 = T.simd.pset(32)
    start, counted = (T.simd.alloc_local(CHUNKS, "int32") for _ in range(2))
    for c in T.unroll(CHUNKS):
        start[c] = T.simd.vld(starts[0, c * LANES])
    for part in T.serial(slices):
        for c in T.unroll(CHUNKS):
            counted[c] = T.simd.vld(tile[part, c * LANES])
        for c in T.unroll(CHUNKS):
            counted[c] = T.simd.vadd(counted[c], start[c], all32)
        for c in T.unroll(CHUNKS):
            T.simd.vsts(tile[part, c * LANES], counted[c], all32)


@asc_kernel()
def place_experts(
    counts,
    expert_start,
    expert_end,
    aligned_counts,
    alignment: T.int32,
    positions: T.int32,
    most: int,
):
    """Turns the counts of slices, at most `most`, into first positions; writes experts' ranges."""
    slices, experts = T.dynamic("slices, experts")
    counts: T.Tensor((slices, experts), T.int32)
    expert_start: T.Tensor((experts,), T.int32)
    expert_end: T.Tensor((experts,), T.int32)
    aligned_counts: T.Tensor((experts,), T.int32)
    with T.Kernel(1):
        tile = T.alloc_shared((most, THREADS), T.int32)
        totals = T.alloc_shared((1, THREADS), T.int32)
        starts = T.alloc_shared((1, THREADS), T.int32)
        ends = T.alloc_shared((THREADS,), T.int32)  # of the aligned rows of each expert
        behind = T.alloc_shared((1,), T.int32)  # where the rows of the next expert start
        with T.SimdVF():
            fill_chunks(tile, most, T.truncdiv(T.min(experts, THREADS), LANES), CHUNKS, 0)
        for step in T.serial(pieces(experts, THREADS)):
            T.copy(counts[0, step * THREADS], tile)
            with T.SimdVF():
                add_slices(tile, totals, slices)
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                total = T.alloc_local((1,), T.int32)
                other = T.alloc_local((1,), T.int32)
                start = T.alloc_local((1,), T.int32)
                expert = T.alloc_var(T.int32)
                expert = step * THREADS + thread
                total[0] = 0
                if expert < experts:
                    total[0] = totals[0, thread]
                start[0] = 0
                if step > 0:
                    start[0] = behind[0]
                ends[thread] = pieces(total[0], alignment) * alignment
                # Sums of all threads up to each, in log2(THREADS) rounds
                for turn in T.serial(THREADS.bit_length() - 1):
                    T.sync_threads()
                    other[0] = 0
                    if thread >= (1 << turn):
                        other[0] = ends[thread - (1 << turn)]
                    T.sync_threads()
                    ends[thread] = ends[thread] + other[0]
                T.sync_threads()
                if thread == THREADS - 1:
                    behind[0] = start[0] + ends[thread]
                    require(behind[0] <= positions)
                if thread > 0:
                    start[0] = start[0] + ends[thread - 1]
                starts[0, thread] = start[0]
                if expert < experts:
                    expert_start[expert] = start[0]
                    expert_end[expert] = start[0] + total[0]
                    aligned_counts[expert] = pieces(total[0], alignment) * alignment
            with T.SimdVF():
                move_slices(tile, starts, slices)
            T.copy(tile, counts[0, step * THREADS])


@asc_kernel()
def hand_out_positions(
    topk_idx,
    counts,
    pos_to_expert,
    pos_to_token,
    pos_to_token_topk,
    token_topk_to_pos,
    k: T.int32,
    cores: int,
):
    """Writes both directions of the mapping; `counts` holds the first position of each slice."""
    n, experts, positions = T.dynamic("n, experts, positions")
    topk_idx: T.Tensor((n,), T.int64)
    counts: T.Tensor((cores, experts), T.int32)
    pos_to_expert: T.Tensor((positions,), T.int32)
    pos_to_token: T.Tensor((positions,), T.int32)
    pos_to_token_topk: T.Tensor((positions,), T.int32)
    token_topk_to_pos: T.Tensor((n,), T.int32)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((CHUNK,), T.int64)
        # NOTE: variables keep these terms out of expressions, lowering is quicker then.
        share, end = T.alloc_var(T.int32), T.alloc_var(T.int32)
        share = pieces(n, cores)
        end = T.min(core * share + share, n)
        for part in T.serial(pieces(end - core * share, CHUNK)):
            first = core * share + part * CHUNK
            T.copy(topk_idx[first], tile)
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                position = T.alloc_local((1,), T.int32)
                here = T.alloc_var(T.int32)
                here = T.min(end - first, CHUNK)
                for step in T.serial(pieces(experts, THREADS)):
                    expert = step * THREADS + thread
                    if expert < experts:
                        position[0] = counts[core, expert]
                        for offset in T.serial(here):
                            if tile[offset] == expert:
                                pos_to_expert[position[0]] = expert
                                pos_to_token[position[0]] = T.truncdiv(first + offset, k)
                                pos_to_token_topk[position[0]] = first + offset
                                token_topk_to_pos[first + offset] = position[0]
                                position[0] = position[0] + 1
                        counts[core, expert] = position[0]
                for step in T.serial(pieces(here, THREADS)):
                    offset = step * THREADS + thread
                    if offset < here:
                        if tile[offset] < 0:
                            token_topk_to_pos[first + offset] = -1
