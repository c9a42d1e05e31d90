"""Kernel of `moe_topk_gate_backward`: one warp a token, each lane its own experts."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import LANES, pieces
from tile_kernels._bridge import asc_kernel
from tile_kernels.moe._scoring_asc import SOFTMAX, slope
from tile_kernels.moe._warps_asc import token_of_warp

ROWS = 4


@asc_kernel()
def gate_backward(
    scores,
    topk_idx,
    topk_weights,
    grad_weights,
    mask,
    grad_scores_sum,
    out,
    factor: T.float32,
    scoring: int,
    with_sums: bool,
    width: int,
    cores: int,
):
    """Writes the gradient of the logits; absent tensors have zero rows."""
    tokens, experts, k = T.dynamic("tokens, experts, k")
    masked, sequences = T.dynamic("masked, sequences")
    scores: T.Tensor((tokens, experts), T.float32)
    topk_idx: T.Tensor((tokens, k), T.int64)
    topk_weights: T.Tensor((tokens, k), T.float32)
    grad_weights: T.Tensor((tokens, k), T.float32)
    mask: T.Tensor((masked,), T.uint8)
    grad_scores_sum: T.Tensor((sequences, experts), T.float32)
    out: T.Tensor((tokens, experts), T.float32)
    with T.Kernel(cores) as core:
        score = T.alloc_shared((ROWS, width), T.float32)
        for turn in T.serial(pieces(pieces(tokens, ROWS) - core, cores)):
            first = (turn * cores + core) * ROWS
            T.copy(scores[first, 0], score)
            with T.SimtVF(threads=ROWS * LANES):
                active = T.alloc_local((1,), T.int32)
                row, lane, token, inside = token_of_warp(first, tokens, mask, masked, active)
                # A lane keeps entries lane, lane + 32, ... of its row
                grad = T.alloc_local((width // LANES,), T.float32)
                total = T.alloc_local((1,), T.float32)
                product = T.alloc_local((1,), T.float32)
                result = T.alloc_local((1,), T.float32)
                change = T.alloc_local((1,), T.float32)
                # Sum of the selected scores, and of gradient times weight
                total[0] = 1e-20
                product[0] = 0.0
                for slot in T.serial(k):
                    expert = T.cast(topk_idx[token, slot], T.int32)
                    if active[0] == 1 and expert >= 0 and expert < experts:
                        total[0] = total[0] + score[row, expert]
                        weighted = grad_weights[token, slot] * topk_weights[token, slot]
                        product[0] = product[0] + weighted
                # Gradient of the scores, each lane its own experts: repeated ones add up
                for step in T.serial(pieces(experts, LANES)):
                    expert = step * LANES + lane
                    if expert < experts:
                        change[0] = 0.0
                        for slot in T.serial(k):
                            if T.cast(topk_idx[token, slot], T.int32) == expert:
                                above = factor * grad_weights[token, slot] - product[0]
                                change[0] = change[0] + above / total[0]
                        grad[step] = change[0]
                # The balance loss sees scores divided by their sum
                if with_sums:
                    sequence = token // (tokens // sequences)
                    total[0] = 0.0
                    product[0] = 0.0
                    for step in T.serial(pieces(experts, LANES)):
                        expert = step * LANES + lane
                        if expert < experts and active[0] == 1:
                            total[0] = total[0] + score[row, expert]
                            part = grad_scores_sum[sequence, expert] * score[row, expert]
                            product[0] = product[0] + part
                    total[0] = T.warp_reduce_sum(total[0])
                    product[0] = T.warp_reduce_sum(product[0])
                    for step in T.serial(pieces(experts, LANES)):
                        expert = step * LANES + lane
                        if expert < experts:
                            above = grad_scores_sum[sequence, expert] - product[0] / total[0]
                            grad[step] = grad[step] + above / total[0]
                # Through the scoring function
                product[0] = 0.0
                if scoring == SOFTMAX:
                    for step in T.serial(pieces(experts, LANES)):
                        expert = step * LANES + lane
                        if expert < experts and active[0] == 1:
                            product[0] = product[0] + grad[step] * score[row, expert]
                    product[0] = T.warp_reduce_sum(product[0])
                for step in T.serial(pieces(experts, LANES)):
                    expert = step * LANES + lane
                    if expert < experts and inside == 1:
                        result[0] = 0.0
                        if active[0] == 1:
                            slope(score[row, expert], scoring, result)
                            if scoring == SOFTMAX:
                                result[0] = score[row, expert]
                            result[0] = (grad[step] - product[0]) * result[0]
                        out[token, expert] = result[0]
