"""Kernels of `get_fused_mapping`: count, place the experts, hand out positions.

Each core owns one slice of the flat list of (token, slot), and in it one thread owns an expert: it
walks the slice and sees its own entries in order. So positions inside an expert follow the flat
order on any number of cores, without atomics.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import THREADS, require
from tile_kernels._bridge import asc_kernel


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
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            found = T.alloc_local((1,), T.int32)
            # NOTE: variables keep these terms out of expressions, lowering is quicker then.
            share, first, end = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            share = T.ceildiv(n, cores)
            first = core * share
            end = T.min(first + share, n)
            for step in T.serial(T.ceildiv(experts, THREADS)):
                expert = step * THREADS + thread
                if expert < experts:
                    found[0] = 0
                    for offset in T.serial(end - first):
                        if topk_idx[first + offset] == expert:
                            found[0] = found[0] + 1
                    counts[core, expert] = found[0]
            for step in T.serial(T.ceildiv(share, THREADS)):
                flat = first + step * THREADS + thread
                if flat < end:
                    require(topk_idx[flat] < experts)
            for step in T.serial(T.ceildiv(positions, cores * THREADS)):
                position = (step * cores + core) * THREADS + thread
                if position < positions:
                    pos_to_expert[position] = -1
                    pos_to_token[position] = -1
                    pos_to_token_topk[position] = -1


@asc_kernel()
def place_experts(
    counts, expert_start, expert_end, aligned_counts, alignment: T.int32, positions: T.int32
):
    """Turns the counts of slices into first positions, and writes each expert's range."""
    slices, experts = T.dynamic("slices, experts")
    counts: T.Tensor((slices, experts), T.int32)
    expert_start: T.Tensor((experts,), T.int32)
    expert_end: T.Tensor((experts,), T.int32)
    aligned_counts: T.Tensor((experts,), T.int32)
    with T.Kernel(1):
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            total = T.alloc_local((1,), T.int32)
            here = T.alloc_local((1,), T.int32)
            for step in T.serial(T.ceildiv(experts, THREADS)):
                expert = step * THREADS + thread
                if expert < experts:
                    total[0] = 0
                    for part in T.serial(slices):
                        here[0] = counts[part, expert]
                        counts[part, expert] = total[0]
                        total[0] = total[0] + here[0]
                    expert_end[expert] = total[0]
                    aligned_counts[expert] = T.ceildiv(total[0], alignment) * alignment
            T.sync_threads()
            if thread == 0:
                total[0] = 0
                for expert in T.serial(experts):
                    expert_start[expert] = total[0]
                    expert_end[expert] = expert_end[expert] + total[0]
                    total[0] = total[0] + aligned_counts[expert]
                require(total[0] <= positions)
            T.sync_threads()
            for step in T.serial(T.ceildiv(experts, THREADS)):
                expert = step * THREADS + thread
                if expert < experts:
                    for part in T.serial(slices):
                        counts[part, expert] = counts[part, expert] + expert_start[expert]


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
        with T.SimtVF(threads=THREADS):
            thread = T.get_thread_binding()
            position = T.alloc_local((1,), T.int32)
            # NOTE: variables keep these terms out of expressions, lowering is quicker then.
            share, first, end = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            share = T.ceildiv(n, cores)
            first = core * share
            end = T.min(first + share, n)
            for step in T.serial(T.ceildiv(experts, THREADS)):
                expert = step * THREADS + thread
                if expert < experts:
                    position[0] = counts[core, expert]
                    for offset in T.serial(end - first):
                        flat = first + offset
                        if topk_idx[flat] == expert:
                            pos_to_expert[position[0]] = expert
                            pos_to_token[position[0]] = T.truncdiv(flat, k)
                            pos_to_token_topk[position[0]] = flat
                            token_topk_to_pos[flat] = position[0]
                            position[0] = position[0] + 1
            for step in T.serial(T.ceildiv(share, THREADS)):
                flat = first + step * THREADS + thread
                if flat < end:
                    if topk_idx[flat] < 0:
                        token_topk_to_pos[flat] = -1
