"""Kernel of `moe_topk_gate_forward` and `top2_sum_gate`: one warp a token.

Optional tensors are given with zero rows when they are absent. What few calls need (images, limits
by groups, random tokens, copies of experts) is left out of kernels for calls without it, and each
scoring function has its kernel: lowering the whole takes seconds.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces, require
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._scoring_asc import SOFTMAX, score_lane
from tile_kernels.moe._select_asc import (
    group_scores,
    next_best,
    next_best_lane,
    rows_of_tile,
    token_of_warp,
)
from tile_kernels.moe.mask_indices_by_tp_asc import local_index

MAX_SLOTS = 1024  # also the most groups
DUPLICATE_STEP = 23333  # spreads tokens over the copies of an expert


@T.macro
def random_bits(seed, token, entry, result):
    """result[0] = 24 random bits, a hash of its arguments."""
    result[0] = T.cast(seed, T.uint32) ^ (T.cast(token, T.uint32) * T.uint32(0x9E3779B9))
    for turn in T.unroll(2):
        if turn == 1:
            result[0] = result[0] ^ (T.cast(entry, T.uint32) * T.uint32(0x85EBCA6B))
        result[0] = result[0] ^ (result[0] >> T.uint32(16))
        result[0] = result[0] * T.uint32(0x7FEB352D)
        result[0] = result[0] ^ (result[0] >> T.uint32(15))
        result[0] = result[0] * T.uint32(0x846CA68B)
        result[0] = result[0] ^ (result[0] >> T.uint32(16))
    result[0] = result[0] >> T.uint32(8)


@T.macro
def copy_of_expert(expert, token, ep_rank, maps, to_physical_map, logical_count, result):
    """result[0] = the copy of an expert that serves a token; unchanged without a map."""
    if maps > 0:
        spread = ep_rank + T.cast(token, T.int64) * DUPLICATE_STEP
        copy = spread % T.cast(logical_count[expert], T.int64)
        result[0] = T.cast(to_physical_map[expert, copy], T.int64)


@asc_kernel()
def gate(
    logits,
    bias,
    image_bias,
    image_token_mask,
    mask,
    fix_routing_mask,
    force_random,
    to_physical_map,
    logical_count,
    unmapped,
    scores,
    topk_idx,
    topk_weights,
    factor: T.float32,
    num_physical: T.int32,
    num_groups: T.int32,
    num_topk_groups: T.int32,
    ep_rank: T.int64,
    per_gpu: T.int64,
    tp_rank: T.int64,
    num_tp_ranks: T.int64,
    seed: T.int64,
    scoring: int,
    with_images: bool,
    with_groups: bool,
    with_random: bool,
    with_places: bool,
    width: int,
    cores: int,
):
    """Scores, selects, normalises and maps to physical experts; see the wrappers."""
    tokens, experts, slots = T.dynamic("tokens, experts, slots")
    biased, image_biased, images, masked = T.dynamic("biased, image_biased, images, masked")
    fixed, forced, maps, copies, counted = T.dynamic("fixed, forced, maps, copies, counted")
    kept, k, scored = T.dynamic("kept, k, scored")
    logits: T.Tensor((tokens, experts), T.float32)
    bias: T.Tensor((biased,), T.float32)
    image_bias: T.Tensor((image_biased,), T.float32)
    image_token_mask: T.Tensor((images,), T.uint8)
    mask: T.Tensor((masked,), T.uint8)
    fix_routing_mask: T.Tensor((fixed,), T.uint8)
    force_random: T.Tensor((forced,), T.uint8)
    to_physical_map: T.Tensor((maps, copies), T.int32)
    logical_count: T.Tensor((counted,), T.int32)
    unmapped: T.Tensor((kept, k), T.int64)
    scores: T.Tensor((scored, experts), T.float32)
    topk_idx: T.Tensor((tokens, slots), T.int64)
    topk_weights: T.Tensor((tokens, slots), T.float32)
    rows = rows_of_tile(width)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, width), T.float32)
        sums = T.alloc_shared((rows, MAX_SLOTS), T.float32)
        for turn in T.serial(pieces(pieces(tokens, rows) - core, cores)):
            first = (turn * cores + core) * rows
            T.copy(logits[first, 0], tile)
            with T.SimtVF(threads=rows * LANES):
                active = T.alloc_local((1,), T.int32)
                row, lane, token, inside = token_of_warp(first, tokens, mask, masked, active)
                # NOTE: variables keep these terms out of expressions, lowering is quicker then.
                entries, groups = T.alloc_var(T.int32), T.alloc_var(T.int32)
                per_group, rounds = T.alloc_var(T.int32), T.alloc_var(T.int32)
                expert = T.alloc_var(T.int32)
                entries = T.max(num_physical, experts)
                rounds = pieces(entries, LANES)
                groups = T.max(num_groups, 1)
                per_group = T.truncdiv(experts, groups)
                # A lane keeps entries lane, lane + 32, ... of its row
                score = T.alloc_local((width // LANES,), T.float32)
                key = T.alloc_local((width // LANES,), T.float32)
                mine = T.alloc_local((MAX_SLOTS // LANES,), T.int32)
                share = T.alloc_local((MAX_SLOTS // LANES,), T.float32)
                random = T.alloc_local((1,), T.int32)
                fix = T.alloc_local((1,), T.int32)
                image = T.alloc_local((1,), T.int32)
                finite = T.alloc_local((1,), T.int32)
                value = T.alloc_local((1,), T.float32)
                index = T.alloc_local((1,), T.int32)
                picked = T.alloc_local((1,), T.int32)
                total = T.alloc_local((1,), T.float32)
                number = T.alloc_local((1,), T.float32)
                bits = T.alloc_local((1,), T.uint32)
                place = T.alloc_local((1,), T.int64)
                local = T.alloc_local((1,), T.int64)
                # What kind of token this is
                random[0] = 0
                fix[0] = 0
                image[0] = 0
                if with_random:
                    random[0] = T.cast(force_random[token], T.int32)
                if fixed > 0:
                    fix[0] = T.cast(fix_routing_mask[token], T.int32)
                if with_images:
                    image[0] = T.cast(image_token_mask[token], T.int32)
                # Logits; rows that do not need them become zero
                finite[0] = 1
                for step in T.serial(rounds):
                    number[0] = 0.0
                    if active[0] > random[0] and step * LANES + lane < experts:
                        number[0] = tile[row, step * LANES + lane]
                    size = T.abs(number[0])
                    finite[0] = T.if_then_else(size < T.infinity(T.float32), finite[0], 0)
                    score[step] = number[0]
                    key[step] = number[0]
                require(finite[0] == 1)
                score_lane(score, experts, lane, scoring)
                # Keys: biased scores, or random numbers
                for step in T.serial(rounds):
                    expert = step * LANES + lane
                    number[0] = key[step]
                    if scoring != SOFTMAX:
                        number[0] = score[step]
                    if expert >= experts:
                        number[0] = -T.infinity(T.float32)
                    elif image[0] == 1:
                        if with_images:
                            number[0] = number[0] + image_bias[expert]
                    elif biased > 0:
                        number[0] = number[0] + bias[expert]
                    if with_random:
                        if random[0] == 1:
                            random_bits(seed, token, expert, bits)
                            number[0] = T.cast(bits[0], T.float32)
                    key[step] = number[0]
                    if scored > 0 and expert < experts and inside == 1:
                        scores[token, expert] = T.if_then_else(
                            active[0] > random[0], score[step], 0.0
                        )
                # Groups that lose are taken out
                if with_groups:
                    T.sync_threads()
                    for step in T.serial(pieces(experts, LANES)):
                        if step * LANES + lane < experts:
                            tile[row, step * LANES + lane] = key[step]
                    T.sync_threads()
                    group_scores(tile, sums, row, groups, per_group, 2, lane)
                    T.sync_threads()
                    value[0] = T.infinity(T.float32)
                    index[0] = -1
                    for _ in T.serial(num_topk_groups):
                        next_best(sums, row, groups, lane, value, index)
                    for step in T.serial(pieces(experts, LANES)):
                        expert = step * LANES + lane
                        if expert < experts and random[0] == 0:
                            group = T.truncdiv(expert, per_group)
                            below = sums[row, group] < value[0]
                            behind = sums[row, group] == value[0] and group > index[0]
                            if below or behind:
                                key[step] = -T.infinity(T.float32)
                # Selection; lane s % 32 keeps slot s
                total[0] = 0.0
                value[0] = T.infinity(T.float32)
                index[0] = -1
                for slot in T.serial(slots):
                    next_best_lane(key, entries, lane, value, index)
                    picked[0] = index[0]
                    if fix[0] == 1 and slot < k and active[0] > random[0]:
                        picked[0] = T.cast(unmapped[token, slot], T.int32)
                        require(picked[0] >= 0 and picked[0] < experts)
                    number[0] = -T.infinity(T.float32)
                    if picked[0] % LANES == lane and picked[0] < entries:
                        number[0] = score[picked[0] // LANES]
                    number[0] = T.warp_reduce_max(number[0])
                    if slot % LANES == lane:
                        mine[slot // LANES] = picked[0]
                        share[slot // LANES] = number[0]
                    if slot < k:
                        total[0] = total[0] + number[0]
                # Results, a lane a slot
                for step in T.serial(pieces(slots, LANES)):
                    slot = step * LANES + lane
                    if slot < slots and inside == 1:
                        place[0] = T.int64(-1)
                        value[0] = 0.0
                        if active[0] > random[0]:
                            index[0] = experts + slot - k
                            value[0] = 1.0
                            if slot < k:
                                index[0] = mine[step]
                                value[0] = share[step] / (total[0] + 1e-20) * factor
                            place[0] = T.cast(index[0], T.int64)
                            if with_places:
                                copy_of_expert(
                                    index[0],
                                    token,
                                    ep_rank,
                                    maps,
                                    to_physical_map,
                                    logical_count,
                                    place,
                                )
                        if with_random:
                            if active[0] == 1 and random[0] == 1:
                                random_bits(seed, token, entries + slot, bits)
                                value[0] = T.cast(bits[0], T.float32) * (2.0**-24)
                                place[0] = T.cast(mine[step], T.int64)
                        if with_places:
                            if per_gpu > 0:
                                local_index(
                                    place[0],
                                    per_gpu,
                                    per_gpu * num_tp_ranks,
                                    tp_rank,
                                    num_tp_ranks,
                                    local,
                                )
                                place[0] = local[0]
                        topk_idx[token, slot] = place[0]
                        topk_weights[token, slot] = value[0]
                        if kept > 0 and slot < k:
                            if active[0] <= random[0]:
                                unmapped[token, slot] = T.int64(-1)
                            elif fix[0] == 0:
                                unmapped[token, slot] = T.cast(mine[step], T.int64)
