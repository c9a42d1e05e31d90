"""A small call of every operator, of sizes as models have them, for `bench_first_call.py`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import torch

import tile_kernels
from tile_kernels import moe, quant, rand, transform, transpose

Calls = dict[str, Callable[[], Any]]


def import_kernels() -> None:
    """Imports TileLang and all kernels, which an operator does at its first call."""
    for module in pkgutil.walk_packages(tile_kernels.__path__, "tile_kernels."):
        if module.name.endswith("_asc"):
            importlib.import_module(module.name)


def cases() -> Calls:
    """A call for each operator; further ones where options choose other kernels."""
    torch.manual_seed(0)
    return _routing() | _rows() | _transforms() | _casts() | _token_casts() | _fused()


def _indices(tokens: int, experts: int, k: int) -> torch.Tensor:
    return torch.rand(tokens, experts).argsort(dim=1)[:, :k].contiguous()


def _routing() -> Calls:
    idx = _indices(9, 12, 3)
    logits, bias = torch.randn(9, 40), torch.zeros(40)
    wide, chosen, pairs = torch.randn(9, 256), _indices(9, 40, 3), torch.rand(9, 3)
    return {
        "topk_gate": lambda: moe.topk_gate(logits, 3),
        "moe_topk_gate": lambda: moe.moe_topk_gate(wide, 8, False, 0, 1.0, 0),
        "top2_sum_gate": lambda: moe.top2_sum_gate(
            logits, bias, 3, 2, 4, False, 0, 1.0, 0, 1, 0, 1, "sigmoid"
        ),
        "moe_topk_gate_backward": lambda: moe.moe_topk_gate_backward(
            logits.sigmoid(), chosen, pairs, pairs, 1.0
        ),
        "normalize_weight": lambda: moe.normalize_weight(pairs),
        "topk_sum_and_topk_group_idx": lambda: moe.topk_sum_and_topk_group_idx(
            logits.view(9, 8, 5), 2, 3
        ),
        "aux_fi": lambda: moe.aux_fi(idx, 12, 3),
        "group_count": lambda: moe.group_count(idx, 12),
        "inplace_unique_group_indices": lambda: moe.inplace_unique_group_indices(idx, 12),
        "mask_indices_by_tp": lambda: moe.mask_indices_by_tp(idx, 12, 4, 1, 2),
        "get_fused_mapping": lambda: moe.get_fused_mapping(idx, 12, 0, 4),
    }


def _rows() -> Calls:
    to_pos = torch.arange(27, dtype=torch.int32).view(9, 3)
    pos_to_expert = torch.zeros(32, dtype=torch.int32)
    pos_to_expert[27:] = -1
    x, fused = torch.randn(9, 300), torch.randn(32, 300).bfloat16()
    weights = torch.rand(9, 3)
    coded = (x.to(torch.float8_e4m3fn), weights)
    return {
        "expand_to_fused": lambda: moe.expand_to_fused(x, to_pos, pos_to_expert),
        "expand_to_fused_with_sf": lambda: moe.expand_to_fused_with_sf(
            coded, 128, to_pos, pos_to_expert, True
        ),
        "reduce_fused": lambda: moe.reduce_fused(fused, weights, to_pos),
    }


def _transforms() -> Calls:
    x, heads, cache = torch.randn(130, 70), torch.randn(9, 3, 64), torch.randn(9, 64)
    return {
        "transpose": lambda: transpose.transpose(x.half()),
        "transpose bytes": lambda: transpose.transpose(x.to(torch.int8)),
        "transpose words": lambda: transpose.transpose(x),
        "apply_rotary": lambda: transform.apply_rotary(heads.bfloat16(), cache),
        "randn": lambda: rand.randn(5000, device="cpu"),
    }


def _casts() -> Calls:
    x, block = torch.randn(128, 256).bfloat16(), (128, 128)
    e4, sf = x.to(torch.float8_e4m3fn), torch.rand(128, 8)
    e2 = torch.randint(-128, 128, (128, 128)).to(torch.int8)
    powers, rows = torch.ones(128, 8), torch.ones(16, 2048).to(torch.float8_e4m3fn)
    sf_of_rows = torch.rand(16, 16)
    return {
        "cast": lambda: quant.cast(x.float(), "bf16"),
        "cast_back": lambda: quant.cast_back((rows, sf_of_rows), "bf16", (1, 128)),
        "cast_back 32": lambda: quant.cast_back((e4, sf), "bf16", (1, 32)),
        "per_block_cast": lambda: quant.per_block_cast(x, "e4m3", block),
        "per_block_cast_lossless": lambda: quant.per_block_cast_lossless(
            (e2, powers), "e4m3", (1, 32), (32, 32)
        ),
        "per_channel_cast": lambda: quant.per_channel_cast(x, "e4m3", 128),
        "per_channel_cast_fused": lambda: quant.per_channel_cast_fused(x, "e4m3", 128),
        "per_channel_cast_and_transpose": lambda: quant.per_channel_cast_and_transpose(
            x, "e4m3", 128
        ),
    }


def _token_casts() -> Calls:
    x, sf = torch.randn(128, 256).bfloat16(), torch.rand(128, 2)
    rows = torch.randn(8, 4096).bfloat16()
    return {
        "per_token_cast": lambda: quant.per_token_cast(x, "e4m3", 128),
        "per_token_cast 32": lambda: quant.per_token_cast(x, "e4m3", 32),
        "per_token_cast e2m1": lambda: quant.per_token_cast(x, "e2m1", 32),
        "per_token_cast e5m6": lambda: quant.per_token_cast(rows, "e5m6", 4096),
        "per_token_cast_with_sf_only": lambda: quant.per_token_cast_with_sf_only(x, "e4m3", 128),
        "per_token_cast_with_precomputed_sf": lambda: quant.per_token_cast_with_precomputed_sf(
            x, "e4m3", 128, sf
        ),
        "per_token_cast_and_cast_back": lambda: quant.per_token_cast_and_cast_back(x, "e4m3", 32),
    }


def _fused() -> Calls:
    x, wide = torch.randn(16, 2048).bfloat16(), torch.randn(16, 4096).bfloat16()
    weight, rstd = torch.ones(2048).bfloat16(), torch.rand(16)
    return {
        "swiglu_forward": lambda: quant.swiglu_forward(wide, "bf16"),
        "swiglu_forward_and_per_token_cast": lambda: quant.swiglu_forward_and_per_token_cast(
            wide, "e4m3", 128
        ),
        "swiglu_forward_and_per_channel_cast_and_transpose": lambda: (
            quant.swiglu_forward_and_per_channel_cast_and_transpose(wide, "e4m3", 128)
        ),
        "swiglu_backward": lambda: quant.swiglu_backward(wide, x, "bf16"),
        "swiglu_backward_and_per_token_cast": lambda: quant.swiglu_backward_and_per_token_cast(
            wide, x, "e4m3", 128
        ),
        "norm_forward": lambda: quant.norm_forward(x, weight, 1e-6),
        "norm_forward_and_per_token_cast": lambda: quant.norm_forward_and_per_token_cast(
            x, weight, 1e-6, "e4m3", 32
        ),
        "norm_backward": lambda: quant.norm_backward(x, x, weight, rstd),
    }
