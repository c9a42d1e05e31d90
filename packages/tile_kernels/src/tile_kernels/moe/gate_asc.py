"""Kernel of `moe_topk_gate_forward` and `top2_sum_gate`, on vector registers.

A core takes some tokens at once: scores, keys and what is selected lie in the unified buffer
between the steps. Threads only look up where experts lie, where a call needs that.

Optional tensors are given with zero rows when they are absent. What few calls need (kinds of
tokens, images, limits by groups, random tokens, copies of experts) is left out of kernels for calls
without it, and each scoring function has its kernel: lowering the whole takes seconds.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, require, reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._gate_rows_asc import (
    FIX,
    FORCE,
    IMAGES,
    MASK,
    fill_flags,
    finish_rows,
    score_rows,
    sort_out_rows,
    take_fixed,
)
from tile_kernels.moe._groups_asc import drop_groups, sum_groups
from tile_kernels.moe._places_asc import place_experts
from tile_kernels.moe._select_asc import INFINITY_BITS, LANES, fill_chunks, select_rows


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
    seed: T.int32,
    share: T.int32,
    scoring: int,
    with_bias: bool,
    with_kinds: bool,
    with_fixed: bool,
    with_images: bool,
    with_groups: bool,
    with_random: bool,
    with_places: bool,
    with_unmapped: bool,
    with_scores: bool,
    width: int,
    room: int,
    rows: int,
    cores: int,
):
    """Scores, selects, normalises and maps to physical experts; see the wrappers.

    A core takes `share` tokens at once, at most `rows`. `width` is the room for the experts of a
    row in the unified buffer, `room` that for its slots and groups. Indices are pairs of words.
    """
    tokens, experts, words = T.dynamic("tokens, experts, words")
    biased, image_biased, images, masked = T.dynamic("biased, image_biased, images, masked")
    fixed, forced, maps, copies, counted = T.dynamic("fixed, forced, maps, copies, counted")
    kept, pairs, scored, slots = T.dynamic("kept, pairs, scored, slots")
    logits: T.Tensor((tokens, experts), T.float32)
    bias: T.Tensor((biased,), T.float32)
    image_bias: T.Tensor((image_biased,), T.float32)
    image_token_mask: T.Tensor((images,), T.uint8)
    mask: T.Tensor((masked,), T.uint8)
    fix_routing_mask: T.Tensor((fixed,), T.uint8)
    force_random: T.Tensor((forced,), T.uint8)
    to_physical_map: T.Tensor((maps, copies), T.int32)
    logical_count: T.Tensor((counted,), T.int32)
    unmapped: T.Tensor((kept, pairs), T.int32)
    scores: T.Tensor((scored, experts), T.float32)
    topk_idx: T.Tensor((tokens, words), T.int32)
    topk_weights: T.Tensor((tokens, slots), T.float32)
    with T.Kernel(cores) as core:
        keys = T.alloc_shared((rows, width), T.float32)  # logits, then what they are selected by
        score = T.alloc_shared((rows, width), T.float32)
        biases = T.alloc_shared((2, width), T.float32)  # of texts, of images
        found = T.alloc_shared((rows, room), T.int32)
        sums = T.alloc_shared((rows, room), T.float32)
        index = T.alloc_shared((rows, 2 * room), T.int32)
        chosen = T.alloc_shared((rows, 2 * room), T.int32)  # before mapping
        weights = T.alloc_shared((rows, room), T.float32)
        flags = T.alloc_shared((4, 4 * LANES), T.uint8)
        kinds = T.alloc_shared((4, LANES), T.int32)
        largest = T.alloc_shared((1, 2 * LANES), T.int32)
        k, entries, chosen_slots = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
        k = T.truncdiv(pairs, 2)
        entries = experts
        chosen_slots = k
        if with_random:
            entries = T.max(num_physical, experts)
            chosen_slots = slots
        # What copies leave out
        with T.SimdVF():
            fill_chunks(keys, rows, T.truncdiv(experts, LANES), pieces(entries, LANES), 0.0)
            fill_chunks(biases, 2, 0, width // LANES, 0.0)
            fill_chunks(found, rows, 0, room // LANES, 0)
            fill_chunks(largest, 1, 0, 2, 0)
            if with_kinds:
                fill_flags(flags)
        if with_bias:
            T.copy(bias[0:experts], biases[0, 0:experts])
        if with_images:
            T.copy(image_bias[0:experts], biases[1, 0:experts])
        for turn in T.serial(pieces(pieces(tokens, share) - core, cores)):
            first = (turn * cores + core) * share
            here = T.alloc_var(T.int32)
            reused(keys, score, found, sums, index, chosen, weights, flags, kinds, largest)
            # NOTE: tasks in the order of the source: lowering searches for a schedule otherwise.
            with T.Stage(0), T.Task(latency=1, ii=1):
                here = T.min(share, tokens - first)
                T.copy(logits[first : first + here, 0:experts], keys[0:here, 0:experts])
            if with_kinds:
                if masked > 0:
                    T.copy(mask[first : first + here], flags[MASK, 0:here])
                if with_fixed:
                    T.copy(fix_routing_mask[first : first + here], flags[FIX, 0:here])
                    T.copy(unmapped[first : first + here, 0:pairs], chosen[0:here, 0:pairs])
                if forced > 0:
                    T.copy(force_random[first : first + here], flags[FORCE, 0:here])
                if images > 0:
                    T.copy(image_token_mask[first : first + here], flags[IMAGES, 0:here])
                with T.SimdVF():
                    sort_out_rows(flags, kinds)
            with T.SimdVF():
                score_rows(
                    keys, score, biases, kinds, largest, here, experts, entries, first, seed,
                    scoring, with_kinds, with_images, with_random,
                )  # fmt: skip
                T.simd.mem_bar("VST_VLD")
                if with_groups:
                    sum_groups(keys, sums, here, num_groups, T.truncdiv(experts, num_groups), 2)
                    T.simd.mem_bar("VST_VLD")
                    for pair in T.serial(pieces(here, 2)):
                        other = T.min(2 * pair + 1, here - 1)
                        select_rows(sums, found, 2 * pair, other, num_topk_groups, num_groups, 1)
                    T.simd.mem_bar("VST_VLD")
                    drop_groups(
                        keys, sums, found, here, experts, T.truncdiv(experts, num_groups),
                        num_topk_groups,
                    )  # fmt: skip
                    T.simd.mem_bar("VST_VLD")
                for pair in T.serial(pieces(here, 2)):
                    other = T.min(2 * pair + 1, here - 1)
                    select_rows(keys, found, 2 * pair, other, chosen_slots, entries, 1)
                T.simd.mem_bar("VST_VLD")
                if with_fixed:
                    take_fixed(found, chosen, kinds, largest, here, k, experts)
                    T.simd.mem_bar("VST_VLD")
                finish_rows(
                    found, score, index, weights, chosen, kinds, here, k, slots, experts, entries,
                    factor, first, seed, with_kinds, with_random, with_unmapped,
                )  # fmt: skip
            if with_unmapped:
                T.copy(chosen[0:here, 0:pairs], unmapped[first : first + here, 0:pairs])
            if with_places:
                place_experts(
                    index, here, slots, first, maps, to_physical_map, logical_count, ep_rank,
                    per_gpu, tp_rank, num_tp_ranks,
                )  # fmt: skip
            if with_scores:
                T.copy(score[0:here, 0:experts], scores[first : first + here, 0:experts])
            # NOTE: one task of the scheduler: lowering is quicker then.
            with T.Task():
                T.copy(index[0:here, 0:words], topk_idx[first : first + here, 0:words])
                T.copy(weights[0:here, 0:slots], topk_weights[first : first + here, 0:slots])
        require(largest[0, 0] < INFINITY_BITS)
        if with_fixed:
            require(largest[0, LANES] < INFINITY_BITS)
