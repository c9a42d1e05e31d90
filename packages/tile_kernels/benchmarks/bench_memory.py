"""Memory-bound operators on the shape of a large model: modelled time and share of the HBM limit.

Bytes are those of all inputs and outputs, each once. What the caches of the device keep at the end
of a kernel is not charged, so a share can pass 100 %. Nothing here was measured on a device.

Run: python benchmarks/bench_memory.py [--csv results/memory.csv] [--only cast]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import torch
from bench_io import MODELLED, Row, count_bytes, modelled_row, report, timed

from tile_kernels import moe, quant, transpose
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

SWIGLU = (
    "swiglu_forward_and_per_token_cast",
    "swiglu_forward_and_per_channel_cast_and_transpose",
    "swiglu_forward_and_per_token_cast weights",
    "swiglu_forward_and_per_token_cast packed",
    "swiglu_backward",
    "swiglu_backward weights",
    "swiglu_backward_and_per_token_cast",
    "swiglu_backward_and_per_token_cast e4m3",
)


def measure(tokens: int, hidden: int, k: int, only: str) -> Iterator[Row]:
    """All operators whose name holds `only`."""
    x = torch.randn(tokens, hidden).bfloat16()
    wide = torch.randn(tokens, 2 * hidden).bfloat16() if only in " ".join(SWIGLU) else x[:1]
    weights = torch.rand(tokens)
    shape = f"{tokens}x{hidden}"
    weight = torch.ones(hidden).bfloat16()
    packed: dict[str, Any] = {
        "use_tma_aligned_col_major_sf": True,
        "round_sf": True,
        "use_packed_ue8m0": True,
    }
    words = x.float() if only in "transpose words" or only == "cast" else x[:1].float()
    coded = quant.per_token_cast(x, "e4m3", 128)
    coded_wide = quant.per_token_cast(wide, "e4m3", 128)
    rows_coded = quant.per_token_cast(x if only in "cast_back e5m6" else x[:1], "e5m6", hidden)
    order = torch.randperm(tokens, dtype=torch.int32)
    nibbles = quant.per_token_cast(
        x if only in "per_block_cast_lossless 128" else x[:1], "e2m1", 32, round_sf=True
    )
    nibbles[1].fill_(1.0)  # equal scales, which the exact cast allows
    cases: dict[tuple[str, str], tuple[Any, Callable[[], Any]]] = {
        ("per_token_cast", f"{shape} bf16 -> e4m3, 128, fp32 scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 128),
        ),
        ("per_token_cast packed", f"{shape} bf16 -> e4m3, 128, packed column-major scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 128, **packed),
        ),
        ("per_token_cast 32", f"{shape} bf16 -> e4m3, 32, fp32 scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 32),
        ),
        ("per_token_cast 32 packed", f"{shape} bf16 -> e4m3, 32, packed column-major scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 32, **packed),
        ),
        ("per_token_cast e2m1", f"{shape} bf16 -> e2m1, 32, fp32 scales"): (
            x, lambda: quant.per_token_cast(x, "e2m1", 32),
        ),
        ("per_token_cast e2m1 packed", f"{shape} bf16 -> e2m1, 32, packed column-major scales"): (
            x, lambda: quant.per_token_cast(x, "e2m1", 32, **packed),
        ),
        ("per_block_cast", f"{shape} bf16 -> e4m3, 128x128"): (
            x, lambda: quant.per_block_cast(x, "e4m3", (128, 128)),
        ),
        ("per_channel_cast", f"{shape} bf16 -> e4m3, 128 tokens"): (
            x, lambda: quant.per_channel_cast(x, "e4m3", 128),
        ),
        ("per_block_cast packed", f"{shape} bf16 -> e4m3, 32x32, packed column-major scales"): (
            x, lambda: quant.per_block_cast(x, "e4m3", (32, 32), **packed),
        ),
        ("per_block_cast e2m1", f"{shape} bf16 -> e2m1, 32x32"): (
            x, lambda: quant.per_block_cast(x, "e2m1", (32, 32)),
        ),
        ("per_channel_cast_fused", f"{shape} bf16 rows in any order -> e4m3, 128 tokens"): (
            (x, order),
            lambda: quant.per_channel_cast_fused(x, "e4m3", 128, pos_to_token=order),
        ),
        ("per_channel_cast_and_transpose", f"{shape} bf16 -> e4m3, 128 tokens"): (
            x, lambda: quant.per_channel_cast_and_transpose(x, "e4m3", 128),
        ),
        ("swiglu_forward_and_per_channel_cast_and_transpose",
         f"{tokens}x{2 * hidden} bf16 -> e4m3, 128 tokens"): (
            wide,
            lambda: quant.swiglu_forward_and_per_channel_cast_and_transpose(wide, "e4m3", 128),
        ),
        ("per_block_cast_lossless", f"{shape} e2m1 -> e4m3, 1x32 -> 32x32"): (
            nibbles, lambda: quant.per_block_cast_lossless(nibbles, "e4m3", (1, 32), (32, 32)),
        ),
        ("per_block_cast_lossless 128", f"{shape} e2m1 -> e4m3, 1x32 -> 128x128"): (
            nibbles, lambda: quant.per_block_cast_lossless(nibbles, "e4m3", (1, 32), (128, 128)),
        ),
        ("per_token_cast e5m6", f"{shape} bf16 -> e5m6, a scale a row"): (
            x, lambda: quant.per_token_cast(x, "e5m6", hidden),
        ),
        ("cast", f"{shape} fp32 -> bf16"): (
            words, lambda: quant.cast(words, torch.bfloat16),
        ),
        ("cast to e4m3", f"{shape} bf16 -> e4m3"): (
            x, lambda: quant.cast(x, torch.float8_e4m3fn),
        ),
        ("cast_back", f"{shape} e4m3 -> bf16, 128"): (
            coded, lambda: quant.cast_back(coded, "bf16", (1, 128)),
        ),
        ("cast_back e5m6", f"{shape} e5m6 -> bf16, a scale a row"): (
            rows_coded, lambda: quant.cast_back(rows_coded, "bf16", (1, hidden), "e5m6"),
        ),
        ("swiglu_forward", f"{tokens}x{2 * hidden} bf16 -> bf16"): (
            wide, lambda: quant.swiglu_forward(wide, "bf16"),
        ),
        ("swiglu_forward_and_per_token_cast", f"{tokens}x{2 * hidden} bf16 -> e4m3, 128"): (
            wide, lambda: quant.swiglu_forward_and_per_token_cast(wide, "e4m3", 128),
        ),
        ("swiglu_forward_and_per_token_cast weights",
         f"{tokens}x{2 * hidden} bf16 -> e4m3, 128, weights and a limit of 10"): (
            (wide, weights),
            lambda: quant.swiglu_forward_and_per_token_cast(
                wide, "e4m3", 128, topk_weights=weights, clamp_value=10.0
            ),
        ),
        ("swiglu_forward_and_per_token_cast packed",
         f"{tokens}x{2 * hidden} bf16 -> e4m3, 32, packed column-major scales"): (
            wide, lambda: quant.swiglu_forward_and_per_token_cast(wide, "e4m3", 32, **packed),
        ),
        ("swiglu_backward", f"{tokens}x{2 * hidden} bf16"): (
            (wide, x), lambda: quant.swiglu_backward(wide, x, "bf16"),
        ),
        ("swiglu_backward weights",
         f"{tokens}x{2 * hidden} bf16, weights, a limit of 10, and the result once more"): (
            (wide, x, weights),
            lambda: quant.swiglu_backward(
                wide, x, "bf16", None, weights, None, 10.0, do_recompute=True
            ),
        ),
        ("swiglu_backward_and_per_token_cast",
         f"{tokens}x{2 * hidden} bf16 -> bf16 and e4m3, 128"): (
            (wide, x), lambda: quant.swiglu_backward_and_per_token_cast(wide, x, "e4m3", 128),
        ),
        ("swiglu_backward_and_per_token_cast e4m3",
         f"{tokens}x{2 * hidden} e4m3 -> bf16 and e4m3, 128"): (
            (coded_wide, x),
            lambda: quant.swiglu_backward_and_per_token_cast(coded_wide, x, "e4m3", 128),
        ),
        ("norm_forward", f"{shape} bf16"): (
            x, lambda: quant.norm_forward(x, weight, 1e-6)[:2],
        ),
        ("transpose bytes", f"{shape} e4m3"): (
            coded[0], lambda: transpose.transpose(coded[0]),
        ),
        ("transpose", f"{shape} bf16"): (x, lambda: transpose.transpose(x)),
        ("transpose words", f"{shape} fp32"): (words, lambda: transpose.transpose(words)),
    }  # fmt: skip
    for (name, case), (inputs, call) in cases.items():
        if only in name:
            result, profiles = timed(call)
            yield modelled_row(name, case, profiles, count_bytes(inputs), count_bytes(result))
    if any(only in name for name in ("expand_to_fused", "reduce_fused")):
        yield from _rows(x, k, shape)


def _rows(x: torch.Tensor, k: int, shape: str) -> Iterator[Row]:
    tokens, hidden = x.shape
    idx = generate_topk_idx(MoeParams(tokens, 256, k, empty=0.0))
    mapping = moe.get_fused_mapping(idx, 256, 0, 128)
    pos_to_expert, to_pos, weights = mapping[0], mapping[3], torch.rand(tokens, k)
    rows, profiles = timed(lambda: moe.expand_to_fused(x, to_pos, pos_to_expert))
    case = f"{shape} bf16, k={k}"
    yield modelled_row("expand_to_fused", case, profiles, count_bytes(x), count_bytes(rows))
    out, profiles = timed(lambda: moe.reduce_fused(rows, weights, to_pos))
    used = int((to_pos >= 0).sum()) * hidden * x.element_size()
    yield modelled_row("reduce_fused", case, profiles, used, count_bytes(out))


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--tokens", default=8192, show_default=True)
@click.option("--hidden", default=7168, show_default=True)
@click.option("--topk", default=4, show_default=True)
@click.option("--only", default="", help="Operators whose name holds this text.")
@click.option("--smoke", is_flag=True, help="Tiny sizes, to try the program itself.")
def main(path: Path | None, tokens: int, hidden: int, topk: int, only: str, smoke: bool) -> None:
    """Model, print a table, and write CSV rows."""
    if smoke:
        tokens, hidden, topk = 16, 256, 2
    report("modelled device time", MODELLED, measure(tokens, hidden, topk, only), path)


if __name__ == "__main__":
    main()
