"""Calls of tile_kernels' operators that bring every kernel of the package to run.

Small, with tails, and enough for each loop to turn on four cores. A new kernel needs an entry of
CASES that runs it: `mutate.py tile_kernels` names kernels that none of them runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tile_kernels import moe, quant, rand, transform, transpose
from tile_kernels.moe.autograd import expand_weights
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import e5m6, quant_cast

__all__ = ["CASES"]

_PACKED: dict[str, Any] = {"round_sf": True, "use_packed_ue8m0": True}
_PACKED_COL: dict[str, Any] = {**_PACKED, "use_tma_aligned_col_major_sf": True}


def _indices(tokens: int = 9, experts: int = 12, k: int = 3) -> torch.Tensor:
    idx = torch.rand(tokens, experts).argsort(dim=1)[:, :k].contiguous()
    idx[::3, 0] = -1
    return idx


def _positions() -> tuple[torch.Tensor, torch.Tensor]:
    mapping = moe.get_fused_mapping(_indices(), 12, 0, 4)
    return mapping[3], mapping[0]


def _expand() -> object:
    # Enough tokens for each core to use its buffers again
    mapping = moe.get_fused_mapping(_indices(70), 12, 0, 4)
    data = (torch.randn(70, 300).to(torch.float8_e4m3fn), torch.rand(70, 3))
    return moe.expand_to_fused_with_sf(data, 128, mapping[3], mapping[0], True)


def _reduce() -> object:
    to_pos, pos_to_expert = _positions()
    rows = torch.randn(pos_to_expert.numel(), 300).bfloat16()
    return moe.reduce_fused(rows, torch.rand(9, 3), to_pos)


def _gate_backward() -> object:
    idx, weights = _indices(9, 40, 3), torch.rand(9, 3)
    return moe.moe_topk_gate_backward(torch.rand(9, 40), idx, weights, torch.randn(9, 3), 1.0)


def _top2_sum_gate() -> object:
    logits, bias = torch.randn(150, 40), torch.zeros(40)
    return moe.top2_sum_gate(logits, bias, 3, 2, 4, False, 0, 1.0, 0, 1, 0, 1, "sigmoid")


def _unique() -> object:
    groups = _indices(70)
    moe.inplace_unique_group_indices(groups, 12)
    return groups


def _rotary(dim: int, dtype: torch.dtype, interleaved: bool = False) -> object:
    # Several tiles a core, which begin and end within a token; two rows in a register or one
    query = torch.randn(130, 6, dim).to(dtype)[:, :5]
    positions = torch.randint(0, 40, (130,))
    transform.apply_rotary(query, torch.randn(40, dim), None, positions, interleaved, True)
    return query


def _rotary_of_whole_tokens() -> object:
    query = torch.randn(2, 130, 5, 80)
    transform.apply_rotary(query, torch.randn(140, 64), seqlen_offset=7)
    return query


def _rotary_by_threads() -> object:
    query = torch.randn(19, 3, 64)
    transform.apply_rotary(query, torch.randn(19, 36))
    return query


def _cast_back(
    fmt: str, block: tuple[int, int], tokens: int = 70, hidden: int = 320, **options: Any
) -> object:
    quantised = quant_cast.cast(quant_inputs(tokens, hidden), fmt, block, **options)
    return quant.cast_back(quantised, "bf16", block)


def _round_trip() -> object:
    x = quant_inputs(400, 1152)
    quant.per_token_cast_and_cast_back(x, "e4m3", 128)
    return x


def _recast() -> object:
    data = quant_cast.cast(quant_inputs(150, 320), "e4m3", (1, 32))
    return quant.per_channel_cast(data, "e4m3", 128, num_per_channels=32)


def _gathered_channel_cast() -> object:
    data = quant_cast.cast(quant_inputs(50, 320), "e4m3", (1, 32))
    positions = torch.randint(-2, 50, (150,), dtype=torch.int32)
    return quant.per_channel_cast_fused(data, "e4m3", 128, True, 32, positions)


def _gathered_rows_cast() -> object:
    positions = torch.randint(-2, 50, (200,), dtype=torch.int32)
    return quant.per_channel_cast_fused(quant_inputs(50, 1152), "e4m3", 32, pos_to_token=positions)


def _e5m6_back() -> object:
    quantised = e5m6.cast_to_e5m6(quant_inputs(100, 704), 704)
    return quant.per_token_cast_back(quantised, "bf16", 704, "e5m6")


def _lossless(tokens: int, channels: int, **options: Any) -> object:
    """Input scales of so many channels."""
    exponent = torch.randint(100, 110, (tokens, 320 // channels), dtype=torch.int32)
    data = torch.randint(-128, 128, (tokens, 160), dtype=torch.int8)
    scales = (exponent << 23).view(torch.float32)
    if options:
        scales = quant_cast.pack_bytes(exponent.to(torch.uint8), (1, channels), 2)
    return quant.per_block_cast_lossless((data, scales), "e4m3", (1, channels), (32, 64), **options)


def _weight_sf() -> object:
    exponents = torch.randint(1, 255, (2, 36, 44), dtype=torch.int32)
    return quant.batched_transpose_weight_sf(
        [(exponents << 23).view(torch.float32)], 32, [False], [None]
    )


def _gathered_weights() -> object:
    idx = _indices(70)
    mapping = moe.get_fused_mapping(idx, 12, 0, 4)
    return expand_weights(torch.rand(70, 3), mapping[2], mapping[3])


def _swiglu_cast_options() -> object:
    x, weights = quant_inputs(70, 2 * 4672, spread=1.0), torch.rand(70)
    psum, count = torch.tensor([3, 37, 64], dtype=torch.int32), torch.zeros(4, dtype=torch.int64)
    result = quant.swiglu_forward_and_per_token_cast(
        x, "e4m3", 128, psum, weights, 2.5, clamp_value=1.5, clamped_count=count
    )
    return *result, count


def _swiglu_rows_of_experts() -> object:
    experts = torch.arange(150, dtype=torch.int32) % 4 - 1  # -1: no expert
    count = torch.zeros(3, dtype=torch.int64)
    # Names of the first generation
    options: dict[str, Any] = {
        "pos_to_expert": experts, "swiglu_clamp_value": 1.5, "clamped_count": count,
    }  # fmt: skip
    x = quant_inputs(150, 640, spread=1.0)
    return *quant.swiglu_forward_and_per_token_cast(x, "e4m3", 32, **options), count


def _swiglu_backward() -> object:
    x = quant_inputs(150, 1408, torch.float32, spread=1.0)
    grad = quant_inputs(150, 704, torch.float32, spread=1.0, seed=1)
    psum, weights = torch.tensor([10, 37, 64, 143], dtype=torch.int32), torch.rand(150)
    return quant.swiglu_backward(x, grad, "fp32", psum, weights, 2.5, 1.5, do_recompute=True)


def _swiglu_backward_cast() -> object:
    x = quant_cast.cast(quant_inputs(150, 1280, spread=1.0), "e4m3", (1, 32))
    grad = quant_inputs(150, 640, spread=1.0, seed=1)
    weights = torch.rand(150, generator=torch.Generator().manual_seed(2))
    return quant.swiglu_backward_and_per_token_cast(
        x, grad, "e4m3", 32, None, weights, do_recompute=True, **_PACKED_COL
    )


def _norm_backward() -> object:
    x, grad = quant_inputs(70, 1056), quant_inputs(70, 1056, seed=1)
    return quant.norm_backward(grad, x, quant_inputs(1, 1056, seed=2)[0], torch.rand(70) + 0.5)


def _norm_backward_residual() -> object:
    x, grad, residual_grad = (quant_inputs(70, 1056, seed=seed) for seed in range(3))
    return quant.norm_backward(grad, x, None, torch.rand(70) + 0.5, residual_grad)


def _quantised_rows() -> object:
    data = quant_cast.cast(quant_inputs(300, 1024), "e4m3", (1, 128))
    return quant.per_token_cast(data, "e4m3", 128, (1, 128))


def _quantised_blocks() -> object:
    data = quant_cast.cast(quant_inputs(300, 1024), "e2m1", (32, 32), **_PACKED_COL)
    return quant.per_token_cast(data, "e4m3", 32, (32, 32), **_PACKED_COL)


def _given_scales() -> object:
    x = quant_inputs(600, 320)
    scales = quant.per_token_cast_with_sf_only(x, "e4m3", 32)
    return quant.per_token_cast_with_precomputed_sf(x, "e4m3", 32, scales)


def _norm_residual() -> object:
    x, residual = quant_inputs(300, 1056), quant_inputs(300, 1056, seed=1)
    return quant.norm_forward(x, quant_inputs(1, 1056, seed=2)[0], 1e-6, residual)


def _norm_long() -> object:
    # Rows too long for the kernel on registers
    x, residual = quant_inputs(20, 8224), quant_inputs(20, 8224, seed=1)
    return quant.norm_forward(x, quant_inputs(1, 8224, seed=2)[0], 1e-6, residual)


def _with_nan(tokens: int, hidden: int) -> torch.Tensor:
    """Rows, one with a NaN: scaled, it is NaN behind its end too, where zeros must follow."""
    x = quant_inputs(tokens, hidden)
    x[3, 5] = torch.nan
    return x


def _norm_and_cast() -> object:
    x, residual = _with_nan(300, 608), quant_inputs(300, 608, seed=1)
    weight = quant_inputs(1, 608, seed=2, spread=0)[0]
    return quant.norm_forward_and_per_token_cast(
        x, weight, 1e-6, "e4m3", 32, residual, with_out_bf16=True
    )


def _norm_mega_moe() -> object:
    words = torch.zeros(3, 256, dtype=torch.int32)
    quant.norm_forward_and_per_token_cast(
        _with_nan(150, 384), None, 1e-6, "e4m3", 32, round_sf=True, mega_moe_sf=words.T,
        mega_moe_block_m=96,
    )  # fmt: skip
    return words


CASES: dict[str, Callable[[], object]] = {
    # Routing
    "topk_gate": lambda: moe.topk_gate(torch.randn(150, 40), 3),
    "normalize_weight": lambda: moe.normalize_weight(torch.rand(70, 5)),
    "aux_fi": lambda: moe.aux_fi(_indices(70), 12, 3),
    "mask_indices_by_tp": lambda: moe.mask_indices_by_tp(_indices(), 12, 4, 1, 2),
    "unique_group_indices": _unique,
    "topk_groups": lambda: moe.topk_sum_and_topk_group_idx(torch.randn(70, 8, 5), 2, 3),
    "mapping": lambda: moe.get_fused_mapping(_indices(300, 300, 8), 300, 0, 4),
    # NOTE: it chooses groups, which the other calls of the same kernel leave out
    "top2_sum_gate": _top2_sum_gate,
    "gate": lambda: moe.moe_topk_gate(torch.randn(150, 40), 3, True, 1, 1.0, 0),
    "gate_softmax": lambda: moe.moe_topk_gate(
        torch.randn(150, 300), 3, True, 1, 1.0, 0, scoring_func="softmax"
    ),
    "gate_backward": _gate_backward,
    # Rows
    "expand": _expand,
    "expand_weights": _gathered_weights,
    "reduce": _reduce,
    # Several tiles a core
    "transpose": lambda: transpose.transpose(torch.randn(300, 700)),
    "transpose_halves": lambda: transpose.transpose(torch.randn(700, 700).half()),
    "transpose_bytes": lambda: transpose.transpose(
        torch.randint(-128, 128, (900, 900), dtype=torch.int8)
    ),
    "rotary": _rotary_by_threads,
    "rotary_rows": _rotary_of_whole_tokens,
    "rotary_twos": lambda: _rotary(64, torch.bfloat16),
    "rotary_halves": lambda: _rotary(96, torch.bfloat16),
    "rotary_neighbours": lambda: _rotary(128, torch.float16, True),
    "rotary_neighbours_of_words": lambda: _rotary(128, torch.float32, True),
    "randn": lambda: rand.randn(5000, device="cpu"),
    # Casts
    "token_cast_16_packed": lambda: quant.per_token_cast(
        quant_inputs(211, 704, torch.float32), "e2m1", 16, **_PACKED_COL
    ),
    # Rows of NVFP4, also their scales column-major; odd rows, ends within a tile
    "token_cast_nvfp4": lambda: quant.per_token_cast(
        quant_inputs(331, 704), "e2m1", 16, use_e4m3_sf=True
    ),
    "token_cast_e4m3_scales": lambda: quant.per_token_cast(
        quant_inputs(331, 704), "e4m3", 32, None, True, use_e4m3_sf=True
    ),
    # Several tiles a core
    "token_cast": lambda: quant.per_token_cast(quant_inputs(400, 1152), "e4m3", 128),
    # A core has narrower tiles behind whole ones
    "token_cast_packed": lambda: quant.per_token_cast(
        quant_inputs(200, 2176), "e4m3", 128, **_PACKED_COL
    ),
    "token_cast_e2m1": lambda: quant.per_token_cast(
        quant_inputs(200, 1152, torch.float32), "e2m1", 32
    ),
    "token_cast_mx": lambda: quant.per_token_cast(quant_inputs(400, 576), "e2m1", 64, **_PACKED),
    "row_cast": lambda: quant.per_token_cast(quant_inputs(100, 576), "e4m3", 576),
    "row_cast_back": lambda: _cast_back("e2m1", (1, 576), 100, 576),
    "quads_back": lambda: _cast_back("e4m3", (1, 128), 400, 1024),
    "quads_back_packed": lambda: _cast_back("e2m1", (32, 32), 400, 1024, **_PACKED_COL),
    # Threads
    "block_cast": lambda: quant.per_token_cast(
        quant_inputs(37, 576), "e4m3", 16, stochastic_cast=True
    ),
    "block_cast_packed": lambda: quant.per_token_cast(
        quant_inputs(37, 576, torch.float32), "e2m1", 16, stochastic_cast=True, **_PACKED_COL
    ),
    "per_token_cast_stochastic": lambda: quant.per_token_cast(
        quant_inputs(400, 1152), "e4m3", 128, stochastic_cast=True
    ),
    "per_token_cast_stochastic_e2m1": lambda: quant.per_token_cast(
        quant_inputs(200, 1152, torch.float32), "e2m1", 32, stochastic_cast=True, **_PACKED_COL
    ),
    "per_block_cast": lambda: quant.per_block_cast(quant_inputs(200, 1152), "e4m3", (32, 32)),
    # A core's last tile is narrower than those before it: its last word is not full
    "per_block_cast_packed": lambda: quant.per_block_cast(
        quant_inputs(300, 576), "e4m3", (128, 128), **_PACKED_COL
    ),
    # Two tiles share a word; the last one of a row has none beside it
    "per_block_cast_parts": lambda: quant.per_block_cast(
        quant_inputs(300, 320, torch.float32), "e4m3", (128, 128), **_PACKED_COL
    ),
    "per_block_cast_e2m1": lambda: quant.per_block_cast(
        quant_inputs(200, 1152, torch.float32), "e2m1", (32, 32)
    ),
    "given_scales": _given_scales,
    "recast": _quantised_rows,
    "recast_packed": _quantised_blocks,
    "per_channel_cast": lambda: quant.per_channel_cast(quant_inputs(200, 1152), "e4m3", 32),
    "per_channel_cast_packed": lambda: quant.per_channel_cast(
        quant_inputs(330, 1152), "e4m3", 32, round_sf=True, use_packed_ue8m0=True
    ),
    "per_channel_recast": _recast,
    "cast_back": lambda: _cast_back("e4m3", (1, 16)),
    "cast_back_packed": lambda: _cast_back("e4m3", (32, 1), **_PACKED),
    "round_trip": _round_trip,
    "gathered_channel_cast": _gathered_channel_cast,
    "gathered_rows_cast": _gathered_rows_cast,
    "channel_cast_turned": lambda: quant.per_channel_cast_and_transpose(
        quant_inputs(300, 320), "e4m3", 32
    ),
    "e5m6": lambda: quant.per_token_cast(quant_inputs(100, 704), "e5m6", 704, **_PACKED_COL),
    "e5m6_back": _e5m6_back,
    "lossless": lambda: _lossless(70, 16),
    "lossless_table": lambda: _lossless(400, 32),
    "lossless_table_packed": lambda: _lossless(400, 32, **_PACKED_COL),
    "cast": lambda: quant.cast(torch.randn(16384 * 9 + 7), torch.float8_e4m3fn),
    # Several tasks a core; a group of four ends behind the last element
    "cast_stochastic": lambda: quant.cast(torch.randn(8192 * 130 + 131), torch.bfloat16, True),
    "cast_stochastic_e4m3": lambda: quant.cast(
        torch.randn(8192 * 130 + 131).bfloat16(), "e4m3", True
    ),
    "weight_sf": _weight_sf,
    # With arithmetic
    # Several tiles a core
    "swiglu_channel_cast": lambda: quant.swiglu_forward_and_per_channel_cast_and_transpose(
        quant_inputs(603, 640, spread=1.0), "e4m3", 32, True, False, 1.5
    ),
    "swiglu_channel_cast_kept": lambda: quant.swiglu_forward_and_per_channel_cast_and_transpose(
        quant_inputs(603, 640, spread=1.0), "e4m3", 32, True, True, 1.5
    ),
    "swiglu": lambda: quant.swiglu_forward(quant_inputs(200, 384, spread=1.0), "fp32"),
    "swiglu_cast": lambda: quant.swiglu_forward_and_per_token_cast(
        quant_inputs(150, 384, torch.float32, spread=1.0), "e4m3", 128, **_PACKED_COL
    ),
    # Several tiles a core, batches with a tail, all options
    "swiglu_cast_options": _swiglu_cast_options,
    "swiglu_bf16": lambda: quant.swiglu_forward(quant_inputs(70, 1408, spread=1.0), "bf16"),
    "swiglu_cast_32": lambda: quant.swiglu_forward_and_per_token_cast(
        quant_inputs(70, 1408, spread=1.0), "e4m3", 32
    ),
    # A limit in bf16, which is applied to 128 channels at once
    "swiglu_cast_narrow": lambda: quant.swiglu_forward_and_per_token_cast(
        quant_inputs(70, 1408, spread=1.0), "e4m3", 128, None, torch.rand(70), clamp_value=1.5
    ),
    "swiglu_rows_of_experts": _swiglu_rows_of_experts,
    "swiglu_backward": _swiglu_backward,
    "swiglu_backward_cast": _swiglu_backward_cast,
    # Several tiles a core
    "swiglu_backward_bf16": lambda: quant.swiglu_backward(
        quant_inputs(150, 1408, spread=1.0), quant_inputs(150, 704, spread=1.0, seed=1), "bf16"
    ),
    # Several tiles a core
    "norm": lambda: quant.norm_forward(quant_inputs(400, 1056), None, 1e-6),
    "norm_weight": lambda: quant.norm_forward(
        quant_inputs(400, 1056), quant_inputs(1, 1056, seed=1)[0], 1e-6
    ),
    "norm_residual": _norm_residual,
    "norm_long": _norm_long,
    "norm_cast": _norm_and_cast,
    # In place, several tiles a core
    "norm_cast_packed": lambda: quant.norm_forward_and_per_token_cast(
        _with_nan(300, 1120), None, 1e-6, "e4m3", 128, **_PACKED_COL
    ),
    "norm_mega_moe": _norm_mega_moe,
    "norm_backward": _norm_backward,
    "norm_backward_residual": _norm_backward_residual,
}
