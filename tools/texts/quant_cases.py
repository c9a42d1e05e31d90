"""Calls of quant whose lowered kernels ship with tile_kernels.

Compile-time options decide which call has a text of its own: numbers of tokens are run-time values,
and hidden sizes, too, where no row must lie in the unified buffer as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch

from tile_kernels import quant

__all__ = ["quant_cases"]

Calls = dict[str, Callable[[], Any]]
TOKENS, HIDDEN = 128, 7168
ROWS = (2048, 4096, 5120, 7168)  # rows that a kernel keeps as a whole
BF16, FP32, E4M3 = torch.bfloat16, torch.float32, torch.float8_e4m3fn

EXACT: dict[str, Any] = {}
ROUND: dict[str, Any] = {"round_sf": True}
COL: dict[str, Any] = {"use_tma_aligned_col_major_sf": True}
PACKED: dict[str, Any] = {"round_sf": True, "use_packed_ue8m0": True}
FORMS = {
    "row": EXACT, "row rounded": ROUND, "col": COL, "col rounded": COL | ROUND,
    "packed": COL | PACKED,
}  # fmt: skip


def quant_cases() -> Calls:
    """A call for each text, by a name that tells its options."""
    return _token_casts() | _block_casts() | _channel_casts() | _backs() | _swiglu() | _norms()


def _token_casts() -> Calls:
    calls: Calls = {}
    x, wide = torch.empty(TOKENS, HIDDEN, dtype=BF16), torch.empty(TOKENS, HIDDEN)
    for group, form in (*product((128,), FORMS), (32, "row"), (32, "row rounded"), (32, "packed")):
        calls[f"per_token_cast {group} {form}"] = _call(
            quant.per_token_cast, x, "e4m3", group, **FORMS[form]
        )
    for form in ("row", "row rounded", "packed"):
        calls[f"per_token_cast e2m1 {form}"] = _call(
            quant.per_token_cast, x, "e2m1", 32, **FORMS[form]
        )
    calls["per_token_cast fp32"] = _call(quant.per_token_cast, wide, "e4m3", 128)
    calls["per_token_cast fp32 packed"] = _call(
        quant.per_token_cast, wide, "e4m3", 128, **FORMS["packed"]
    )
    calls["scales"] = _call(quant.per_token_cast_with_sf_only, x, "e4m3", 128)
    for group in (32, 128):
        sf = torch.empty(TOKENS, HIDDEN // group)
        calls[f"given scales {group}"] = _call(
            quant.per_token_cast_with_precomputed_sf, x, "e4m3", group, sf
        )
        calls[f"round trip {group}"] = _call(quant.per_token_cast_and_cast_back, x, "e4m3", group)
    coded = (torch.empty(TOKENS, HIDDEN, dtype=E4M3), _scales(HIDDEN // 128))
    calls["per_token_cast of e4m3"] = _call(quant.per_token_cast, coded, "e4m3", 128, (1, 128))
    calls["per_token_cast e2m1 16"] = _call(quant.per_token_cast, x, "e2m1", 16, use_e4m3_sf=True)
    for hidden in (4096, 7168):
        row = torch.empty(TOKENS, hidden, dtype=BF16)
        calls[f"a scale a row {hidden}"] = _call(quant.per_token_cast, row, "e4m3", hidden)
        coded = (torch.empty(TOKENS, hidden, dtype=E4M3), torch.empty(TOKENS, 1))
        calls[f"cast_back a scale a row {hidden}"] = _call(
            quant.cast_back, coded, "bf16", (1, hidden)
        )
        calls[f"e5m6 {hidden}"] = _call(quant.per_token_cast, row, "e5m6", hidden)
        codes = torch.empty(TOKENS, hidden // 2 * 3, dtype=torch.uint8)
        calls[f"e5m6 back {hidden}"] = _call(
            quant.cast_back, (codes, torch.empty(TOKENS, 1)), "bf16", (1, hidden), "e5m6"
        )
    pairs = ((FP32, BF16), (BF16, FP32), (FP32, E4M3), (BF16, E4M3), (E4M3, BF16), (E4M3, FP32))
    for source, target in pairs:
        calls[f"cast {source} {target}"] = _call(
            quant.cast, torch.empty(HIDDEN, dtype=source), target
        )
    for values, target in ((wide, BF16), (wide, E4M3), (x, E4M3)):
        calls[f"cast at random {values.dtype} {target}"] = _call(quant.cast, values, target, True)
    for values in (x, wide):
        calls[f"per_token_cast at random {values.dtype}"] = _call(
            quant.per_token_cast, values, "e4m3", 128, stochastic_cast=True
        )
        calls[f"per_token_cast e4m3 scales {values.dtype}"] = _call(
            quant.per_token_cast, values, "e4m3", 32, use_e4m3_sf=True
        )
    return calls


def _block_casts() -> Calls:
    calls: Calls = {}
    x, wide = torch.empty(TOKENS, HIDDEN, dtype=BF16), torch.empty(TOKENS, HIDDEN)
    for form in ("row", "row rounded"):
        calls[f"per_block_cast {form}"] = _call(
            quant.per_block_cast, x, "e4m3", (128, 128), **FORMS[form]
        )
    calls["per_block_cast fp32"] = _call(quant.per_block_cast, wide, "e4m3", (128, 128))
    calls["per_block_cast given scales"] = _call(
        quant.per_block_cast_with_precomputed_sf, x, "e4m3", (128, 128), torch.empty(1, 56)
    )
    for fmt in ("e4m3", "e2m1"):
        calls[f"per_block_cast {fmt} 32 packed"] = _call(
            quant.per_block_cast, x, fmt, (32, 32), **FORMS["packed"]
        )
    coded = (torch.empty(TOKENS, HIDDEN // 2, dtype=torch.int8), _scales(HIDDEN // 32))
    nibbles, packed = coded[0], _scales(HIDDEN // 32, **FORMS["packed"])
    for block in ((1, 128), (32, 32), (128, 128)):
        for name, pair in (("", coded), (" packed", (nibbles, packed))):
            calls[f"per_block_cast_lossless {block}{name}"] = _call(
                quant.per_block_cast_lossless, pair, "e4m3", (1, 32), block
            )
    return calls


def _channel_casts() -> Calls:
    calls: Calls = {}
    x, wide = torch.empty(TOKENS, HIDDEN, dtype=BF16), torch.empty(TOKENS, 2 * HIDDEN, dtype=BF16)
    order = torch.zeros(TOKENS, dtype=torch.int32)
    swiglu = quant.swiglu_forward_and_per_channel_cast_and_transpose
    for rounded in (False, True):
        name = " rounded" if rounded else ""
        calls[f"per_channel_cast{name}"] = _call(quant.per_channel_cast, x, "e4m3", 128, rounded)
        calls[f"per_channel_cast_fused{name}"] = _call(
            quant.per_channel_cast_fused, x, "e4m3", 128, rounded, pos_to_token=order
        )
        calls[f"turned{name}"] = _call(
            quant.per_channel_cast_and_transpose, x, "e4m3", 128, rounded
        )
        calls[f"swiglu turned{name}"] = _call(swiglu, wide, "e4m3", 128, rounded)
    coded = (torch.empty(TOKENS, HIDDEN, dtype=E4M3), _scales(HIDDEN // 128))
    calls["recast"] = _call(quant.per_channel_cast, coded, "e4m3", 128, True, 128)
    calls["recast fused"] = _call(
        quant.per_channel_cast_fused, coded, "e4m3", 128, True, 128, order
    )
    return calls


def _backs() -> Calls:
    calls: Calls = {}
    codes = torch.empty(TOKENS, HIDDEN, dtype=E4M3)
    nibbles = torch.empty(TOKENS, HIDDEN // 2, dtype=torch.int8)
    for fmt, group in (("bf16", 32), ("bf16", 128), ("fp32", 128)):
        calls[f"cast_back {fmt} {group}"] = _call(
            quant.cast_back, (codes, _scales(HIDDEN // group)), fmt, (1, group)
        )
    calls["cast_back col"] = _call(
        quant.cast_back, (codes, _scales(HIDDEN // 128, **COL)), "bf16", (1, 128)
    )
    for name, data in (("e4m3", codes), ("e2m1", nibbles)):
        calls[f"cast_back {name} packed"] = _call(
            quant.cast_back, (data, _scales(HIDDEN // 32, **FORMS["packed"])), "bf16", (1, 32)
        )
    calls["cast_back e2m1"] = _call(
        quant.cast_back, (nibbles, _scales(HIDDEN // 32)), "bf16", (1, 32)
    )
    blocks = torch.empty(TOKENS // 128, HIDDEN // 128)
    calls["cast_back blocks"] = _call(quant.cast_back, (codes, blocks), "bf16", (128, 128))
    return calls


def _scales(columns: int, **options: bool) -> torch.Tensor:
    """Scales of a row's groups in some form."""
    if options.get("use_packed_ue8m0"):
        return torch.empty(columns // 2, TOKENS, dtype=torch.int16).T
    if options.get("use_tma_aligned_col_major_sf"):
        return torch.empty(columns, TOKENS).T
    return torch.empty(TOKENS, columns)


def _swiglu() -> Calls:
    calls: Calls = {}
    weights = torch.empty(TOKENS)
    psum = torch.zeros(8, dtype=torch.int32)
    kinds: dict[str, dict[str, Any]] = {
        "": {},
        " limit": {"topk_weights": weights, "clamp_value": 10.0},
    }
    cast = quant.swiglu_forward_and_per_token_cast
    for hidden in (1536, 2048):  # tiles of 1536 and of 1024 channels
        x = torch.empty(TOKENS, 2 * hidden, dtype=BF16)
        for group, form, kind in product((32, 128), FORMS, kinds):
            calls[f"swiglu cast {hidden} {group} {form}{kind}"] = _call(
                cast, x, "e4m3", group, **FORMS[form], **kinds[kind]
            )
    calls["swiglu cast experts"] = _call(cast, x, "e4m3", 128, psum, weights, **FORMS["packed"])
    x, grad = torch.empty(TOKENS, 4096, dtype=BF16), torch.empty(TOKENS, 2048, dtype=BF16)
    for kind, options in kinds.items():
        calls[f"swiglu{kind}"] = _call(quant.swiglu_forward, x, "bf16", **options)
        again = options | {"do_recompute": bool(options)}
        calls[f"swiglu backward{kind}"] = _call(quant.swiglu_backward, x, grad, "bf16", **again)
    back = quant.swiglu_backward_and_per_token_cast
    for group, form, kind in product((32, 128), FORMS, kinds):
        options = FORMS[form] | kinds[kind] | {"do_recompute": bool(kind)}
        name = f"{group} {form}{kind}"
        calls[f"swiglu backward cast {name}"] = _call(back, x, grad, "e4m3", group, **options)
        coded = (torch.empty(TOKENS, 4096, dtype=E4M3), _scales(4096 // group))
        calls[f"swiglu backward cast coded {name}"] = _call(
            back, coded, grad, "e4m3", group, **options
        )
    return calls


def _norms() -> Calls:
    calls: Calls = {}
    for hidden in ROWS:
        x, weight = torch.empty(TOKENS, hidden, dtype=BF16), torch.empty(hidden, dtype=BF16)
        rstd = torch.empty(TOKENS)
        calls[f"norm {hidden}"] = _call(quant.norm_forward, x, weight, 1e-6)
        calls[f"norm {hidden} residual"] = _call(quant.norm_forward, x, weight, 1e-6, x)
        calls[f"norm {hidden} backward"] = _call(quant.norm_backward, x, x, weight, rstd)
    calls["norm residual backward"] = _call(quant.norm_backward, x, x, weight, rstd, x)
    calls["norm cast"] = _call(quant.norm_forward_and_per_token_cast, x, weight, 1e-6, "e4m3", 128)
    mega = torch.empty(HIDDEN // 128, 128, dtype=torch.int32).T
    calls["norm cast mega"] = _call(
        quant.norm_forward_and_per_token_cast, x, weight, 1e-6, "e4m3", 32, **ROUND,
        mega_moe_sf=mega, mega_moe_block_m=128,
    )  # fmt: skip
    return calls


def _call(function: Callable[..., Any], *args: Any, **options: Any) -> Callable[[], Any]:
    return partial(function, *args, **options)
