"""Kernel of `moe_topk_gate_forward` and `top2_sum_gate`.

Threads score, a warp a token; vector registers select (`_select_asc`); threads normalise and
map. Scores, keys and what is selected pass through the unified buffer.

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
from tile_kernels.moe._select_asc import LANES as ENTRIES
from tile_kernels.moe._select_asc import fill_rows, select_rows
from tile_kernels.moe._warps_asc import group_scores, token_of_warp
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
    share: T.int32,
    scoring: int,
    with_images: bool,
    with_groups: bool,
    with_random: bool,
    with_places: bool,
    width: int,
    rows: int,
    cores: int,
):
    """Scores, selects, normalises and maps to physical experts; see the wrappers.

    A core takes `share` tokens at once, at most `rows`.
    """
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
    with T.Kernel(cores) as core:
        keys = T.alloc_shared((rows, width), T.float32)  # logits, then what they are selected by
        score = T.alloc_shared((rows, width), T.float32)
        found = T.alloc_shared((rows, MAX_SLOTS), T.int32)
        entries = T.alloc_var(T.int32)
        entries = T.max(num_physical, experts)
        if with_groups:
            sums = T.alloc_shared((rows, MAX_SLOTS), T.float32)
            with T.SimdVF():
                fill_rows(sums, rows, MAX_SLOTS // ENTRIES, T.float32(0.0))
        with T.SimdVF():
            fill_rows(keys, rows, width // ENTRIES, T.float32(0.0))
        for turn in T.serial(pieces(pieces(tokens, share) - core, cores)):
            first = (turn * cores + core) * share
            here, end = T.alloc_var(T.int32), T.alloc_var(T.int32)
            here = T.min(share, tokens - first)
            end = first + here
            T.copy(logits[first : first + here, 0:experts], keys[0:here, 0:experts])
            with T.SimtVF(threads=rows * LANES):
                active = T.alloc_local((1,), T.int32)
                row, lane, token, inside = token_of_warp(first, end, mask, masked, active)
                # NOTE: variables keep these terms out of expressions, lowering is quicker then.
                rounds = T.alloc_var(T.int32)
                expert = T.alloc_var(T.int32)
                rounds = pieces(entries, LANES)
                # A lane keeps entries lane, lane + 32, ... of its row
                mine = T.alloc_local((width // LANES,), T.float32)
                random = T.alloc_local((1,), T.int32)
                image = T.alloc_local((1,), T.int32)
                finite = T.alloc_local((1,), T.int32)
                number = T.alloc_local((1,), T.float32)
                bits = T.alloc_local((1,), T.uint32)
                # What kind of token this is
                random[0] = 0
                image[0] = 0
                if with_random:
                    random[0] = T.cast(force_random[token], T.int32)
                if with_images:
                    image[0] = T.cast(image_token_mask[token], T.int32)
                # Logits; rows that do not need them become zero
                finite[0] = 1
                for step in T.serial(rounds):
                    number[0] = 0.0
                    if active[0] > random[0] and step * LANES + lane < experts:
                        number[0] = keys[row, step * LANES + lane]
                    size = T.abs(number[0])
                    finite[0] = T.if_then_else(size < T.infinity(T.float32), finite[0], 0)
                    mine[step] = number[0]
                require(finite[0] == 1)
                score_lane(mine, experts, lane, scoring)
                # Keys: biased scores, or random numbers
                for step in T.serial(rounds):
                    expert = step * LANES + lane
                    number[0] = mine[step]
                    if scoring == SOFTMAX:
                        number[0] = 0.0
                        if active[0] > random[0] and expert < experts:
                            number[0] = keys[row, expert]
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
                    keys[row, expert] = number[0]
                    score[row, expert] = mine[step]
                    if scored > 0 and expert < experts and inside == 1:
                        scores[token, expert] = T.if_then_else(
                            active[0] > random[0], mine[step], 0.0
                        )
                if with_groups:
                    T.sync_threads()
                    group_scores(
                        keys, sums, row, num_groups, T.truncdiv(experts, num_groups), 2, lane
                    )
            # Groups that lose are taken out
            if with_groups:
                with T.SimdVF():
                    for pair in T.serial(pieces(here, 2)):
                        select_rows(sums, found, 2 * pair, num_topk_groups, num_groups, 1)
                with T.SimtVF(threads=rows * LANES):
                    active = T.alloc_local((1,), T.int32)
                    row, lane, token, inside = token_of_warp(first, end, mask, masked, active)
                    random = T.alloc_local((1,), T.int32)
                    last, per_group = T.alloc_var(T.int32), T.alloc_var(T.int32)
                    expert = T.alloc_var(T.int32)
                    worst = T.alloc_var(T.float32)
                    random[0] = 0
                    if with_random:
                        random[0] = T.cast(force_random[token], T.int32)
                    per_group = T.truncdiv(experts, num_groups)
                    last = 0
                    if inside == 1:
                        last = found[row, num_topk_groups - 1]
                    worst = sums[row, last]
                    for step in T.serial(pieces(experts, LANES)):
                        expert = step * LANES + lane
                        group = T.min(T.truncdiv(expert, per_group), num_groups - 1)
                        below = sums[row, group] < worst
                        behind = sums[row, group] == worst and group > last
                        if random[0] == 0 and (below or behind):
                            keys[row, expert] = -T.infinity(T.float32)
            with T.SimdVF():
                for pair in T.serial(pieces(here, 2)):
                    select_rows(keys, found, 2 * pair, slots, entries, 1)
            # Results, a lane a slot
            with T.SimtVF(threads=rows * LANES):
                active = T.alloc_local((1,), T.int32)
                row, lane, token, inside = token_of_warp(first, end, mask, masked, active)
                random = T.alloc_local((1,), T.int32)
                fix = T.alloc_local((1,), T.int32)
                index = T.alloc_local((1,), T.int32)
                value = T.alloc_local((1,), T.float32)
                total = T.alloc_local((1,), T.float32)
                bits = T.alloc_local((1,), T.uint32)
                place = T.alloc_local((1,), T.int64)
                local = T.alloc_local((1,), T.int64)
                random[0] = 0
                fix[0] = 0
                if with_random:
                    random[0] = T.cast(force_random[token], T.int32)
                if fixed > 0:
                    fix[0] = T.cast(fix_routing_mask[token], T.int32)
                if fix[0] == 1 and active[0] > random[0]:
                    for step in T.serial(pieces(k, LANES)):
                        if step * LANES + lane < k:
                            index[0] = T.cast(unmapped[token, step * LANES + lane], T.int32)
                            require(index[0] >= 0 and index[0] < experts)
                            found[row, step * LANES + lane] = index[0]
                T.sync_threads()
                total[0] = 0.0
                if active[0] > random[0]:
                    for slot in T.serial(k):
                        total[0] = total[0] + score[row, found[row, slot]]
                for step in T.serial(pieces(slots, LANES)):
                    slot = step * LANES + lane
                    if slot < slots and inside == 1:
                        place[0] = T.int64(-1)
                        value[0] = 0.0
                        if active[0] > random[0]:
                            index[0] = experts + slot - k
                            value[0] = 1.0
                            if slot < k:
                                index[0] = found[row, slot]
                                value[0] = score[row, index[0]] / (total[0] + 1e-20) * factor
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
                                place[0] = T.cast(found[row, slot], T.int64)
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
                                unmapped[token, slot] = T.cast(found[row, slot], T.int64)
