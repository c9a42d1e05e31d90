"""Calls of moe, transpose, transform and rand whose lowered kernels ship with tile_kernels.

Compile-time options decide which call has a text of its own: numbers of tokens, experts up to the
next power of two (256 at least), hidden sizes, k and ranks are run-time values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from tile_kernels import moe, rand, transform, transpose
from tile_kernels.moe.autograd import expand_weights

__all__ = ["routing_cases"]

Calls = dict[str, Callable[[], Any]]
TOKENS, HIDDEN, K, ROWS = 8, 7168, 8, 128


def routing_cases() -> Calls:
    """A call for each text, by a name that tells its options."""
    return _gates() | _gradients() | _mappings() | _rows() | _transforms()


def _gates() -> Calls:
    calls: Calls = {
        "gate sqrtsoftplus no bias": _gate("sqrtsoftplus", 256, bias=False),
        "gate softmax no bias": _gate("softmax", 256, bias=False),
        "gate sigmoid groups": _gate_of_groups("sigmoid"),
        "gate sigmoid groups copies": _gate_of_groups("sigmoid", mask=True, copies=True),
    }
    for scoring in ("sqrtsoftplus", "sigmoid"):
        calls[f"gate {scoring} train"] = _gate(scoring, 256, train=True)
        for experts in (256, 512):
            calls[f"gate {scoring} {experts}"] = _gate(scoring, experts)
    for experts in (256, 512):
        scores = torch.empty(TOKENS, experts)
        calls[f"topk_gate {experts}"] = _call(moe.topk_gate, scores, K)
    grouped = torch.empty(TOKENS, 8, 32)
    calls["topk_sum_and_topk_group_idx"] = _call(moe.topk_sum_and_topk_group_idx, grouped, 2, 4)
    return calls


def _gate(scoring: str, experts: int, bias: bool = True, train: bool = False) -> Callable[[], Any]:
    options: dict[str, Any] = {"bias": torch.empty(experts) if bias else None}
    if train:
        options["scores"] = torch.empty(TOKENS, experts)
        options["unmapped_topk_idx"] = torch.empty(TOKENS, K, dtype=torch.int64)
    logits = torch.empty(TOKENS, experts)
    return _call(moe.moe_topk_gate_forward, logits, K, False, 0, 2.5, 0, scoring, **options)


def _gate_of_groups(scoring: str, mask: bool = False, copies: bool = False) -> Callable[[], Any]:
    """As DeepSeek-V3: 256 experts in 8 groups, of which 4 are kept."""
    options: dict[str, Any] = _copies(256) if copies else {}
    if mask:
        options["mask"] = torch.ones(TOKENS, dtype=torch.bool)
    logits, bias = torch.empty(TOKENS, 256), torch.empty(256)
    ranks = (0, 1, 0, 1)
    return _call(
        moe.top2_sum_gate, logits, bias, K, 4, 8, False, 0, 2.5, *ranks, scoring, **options
    )


def _copies(experts: int) -> dict[str, torch.Tensor]:
    """Two copies of each expert; with 256 rows the physical experts need the next width."""
    table = torch.empty(experts, 2, dtype=torch.int32)
    return {"to_physical_map": table, "logical_count": torch.empty(experts, dtype=torch.int32)}


def _gradients() -> Calls:
    calls: Calls = {}
    pairs = torch.empty(TOKENS, K)
    idx, mask = torch.empty(TOKENS, K, dtype=torch.int64), torch.ones(TOKENS, dtype=torch.bool)
    scores = torch.empty(TOKENS, 256)
    for scoring in ("sqrtsoftplus", "sigmoid", "softmax"):
        arguments = (scores, idx, pairs, pairs, 2.5, scoring)
        calls[f"gate backward {scoring}"] = _call(moe.moe_topk_gate_backward, *arguments)
        if scoring != "softmax":
            calls[f"gate backward {scoring} sums"] = _call(
                moe.moe_topk_gate_backward, *arguments, mask, torch.empty(2, 256)
            )
    return calls


def _mappings() -> Calls:
    idx, weights = torch.empty(TOKENS, K, dtype=torch.int64), torch.empty(TOKENS, K)
    to_pos = torch.empty(TOKENS, K, dtype=torch.int32)
    to_slot = torch.empty(ROWS, dtype=torch.int32)
    return {
        "normalize_weight": _call(moe.normalize_weight, weights),
        "aux_fi": _call(moe.aux_fi, idx, 256, K),
        "inplace_unique_group_indices": _call(moe.inplace_unique_group_indices, idx, 8),
        "mask_indices_by_tp": _call(moe.mask_indices_by_tp, idx, 256, 8, 1, 2),
        "mask_indices_by_tp int32": _call(moe.mask_indices_by_tp, to_pos, 256, 8, 1, 2),
        "get_fused_mapping": _call(moe.get_fused_mapping, idx, 256, 0, 128),
        "expand_weights": _call(expand_weights, weights, to_slot, to_pos),
    }


def _rows() -> Calls:
    to_pos = torch.empty(TOKENS, K, dtype=torch.int32)
    pos_to_expert = torch.empty(ROWS, dtype=torch.int32)
    weights, codes = torch.empty(TOKENS, K), torch.empty(TOKENS, HIDDEN, dtype=torch.float8_e4m3fn)
    calls: Calls = {}
    for dtype, words in ((torch.float32, 56), (torch.int16, 28)):
        rows = (codes, torch.empty(TOKENS, words, dtype=dtype))
        calls[f"expand_to_fused_with_sf {dtype}"] = _call(
            moe.expand_to_fused_with_sf, rows, 128, to_pos, pos_to_expert, True
        )
    for dtype in (torch.bfloat16, torch.float32):
        fused = torch.empty(ROWS, HIDDEN, dtype=dtype)
        for name, x in (("", fused), (" scaled", (fused, torch.empty(ROWS)))):
            calls[f"reduce_fused {dtype}{name}"] = _call(moe.reduce_fused, x, weights, to_pos)
    return calls


def _transforms() -> Calls:
    calls: Calls = {}
    for dtype in (torch.int8, torch.bfloat16, torch.float32):
        calls[f"transpose {dtype}"] = _call(
            transpose.transpose, torch.empty(ROWS, HIDDEN, dtype=dtype)
        )
    cache = torch.empty(4096, 64)
    for dtype in (torch.bfloat16, torch.float32):
        heads = torch.empty(TOKENS, 128, 192, dtype=dtype)
        for pairs in ("halves", "neighbours"):
            rotate = partial(transform.apply_rotary, interleaved=pairs == "neighbours")
            calls[f"apply_rotary {dtype} {pairs}"] = _call(rotate, heads, cache)
            for position in (torch.int32, torch.int64):
                places = torch.zeros(TOKENS, dtype=position)
                calls[f"apply_rotary {dtype} {pairs} {position}"] = _call(
                    rotate, heads, cache, positions=places
                )
    for dtype in (torch.float32, torch.bfloat16):
        calls[f"randn {dtype}"] = _call(rand.randn, ROWS, HIDDEN, dtype=dtype, device="cpu")
    return calls


def _call(function: Callable[..., Any], *args: Any, **options: Any) -> Callable[[], Any]:
    return partial(function, *args, **options)
