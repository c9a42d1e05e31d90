"""Memory-bound operators with the options that `bench_memory.py` leaves out, slowest first.

Modelled times and shares of the HBM limit as there. Kernels on vector registers run without data,
for time alone, but for exact casts, which refuse some data. Those by threads need data and run on
an eighth of the rows, as their case says.

Run: python benchmarks/bench_options.py [--csv results/options.csv] [--only cast]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import torch
from bench_io import MODELLED, Row, count_bytes, modelled_row, report, timed

from tile_kernels import moe, quant, transform, transpose
from tile_kernels.errors import LaunchError
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

Case = tuple[str, str, Any, Callable[[], Any]]  # operator, case, inputs, call

PACKED: dict[str, Any] = {"round_sf": True, "use_packed_ue8m0": True}
FORMS: dict[str, dict[str, Any]] = {
    "fp32 scales": {},
    "column-major": {"use_tma_aligned_col_major_sf": True},
    "packed": PACKED,
    "packed column-major": {**PACKED, "use_tma_aligned_col_major_sf": True},
}
FORMATS = ("e4m3", "e2m1")
FEWER = 8  # times fewer rows for kernels by threads
REFUSING = ("per_block_cast_lossless",)  # look at their data


def cases(tokens: int, hidden: int) -> Iterator[Case]:
    """All cases for one matrix in bf16 and in fp32."""
    x = torch.zeros(tokens, hidden, dtype=torch.bfloat16)
    yield from _moves(x)
    for name, data in (("bf16", x), ("fp32", x.float())):
        yield from _token_casts(name, data)
        yield from _span_casts(name, data)
        yield from _swiglu(name, data)
        yield from _rows(name, data)
    yield from _swiglu_backward_casts(x)
    yield from _backs(x)
    yield from _quantised(x)


def _token_casts(name: str, x: torch.Tensor) -> Iterator[Case]:
    call = partial(quant.per_token_cast, x)
    for fmt in FORMATS:
        for group in (32, 64, 128):
            for form, options in FORMS.items():
                case = f"{name} -> {fmt}, {group}, {form}"
                yield "per_token_cast", case, x, partial(call, fmt, group, **options)
    special: dict[str, tuple[int, dict[str, Any]]] = {
        "16": (16, {}),
        "a row": (x.shape[1], {}),
        "16, e4m3 scales": (16, {"use_e4m3_sf": True}),
        "32, e4m3 scales": (32, {"use_e4m3_sf": True}),
        "128, stochastic": (128, {"stochastic_cast": True}),
    }
    for text, (group, options) in special.items():
        yield (
            "per_token_cast",
            f"{name} -> e4m3, {text}",
            x,
            partial(call, "e4m3", group, **options),
        )
    nvfp4 = partial(call, "e2m1", 16, use_e4m3_sf=True)
    yield "per_token_cast", f"{name} -> e2m1, 16, e4m3 scales", x, nvfp4
    sf = torch.ones(len(x), x.shape[1] // 128)
    only = partial(quant.per_token_cast_with_sf_only, x, "e4m3", 128)
    yield "per_token_cast_with_sf_only", f"{name}, 128", x, only
    given = partial(quant.per_token_cast_with_precomputed_sf, x, "e4m3", 128, sf)
    yield "per_token_cast_with_precomputed_sf", f"{name} -> e4m3, 128", (x, sf), given
    for group in (32, 128):
        both = partial(_in_place, quant.per_token_cast_and_cast_back, x, "e4m3", group)
        yield "per_token_cast_and_cast_back", f"{name}, e4m3, {group}", x, both


def _in_place(call: Callable[..., None], x: torch.Tensor, *args: Any) -> torch.Tensor:
    call(x, *args)
    return x


def _rotate(
    heads: torch.Tensor, cache: torch.Tensor, interleaved: bool, moved: torch.Tensor
) -> torch.Tensor:
    transform.apply_rotary(heads, cache, interleaved=interleaved)
    return moved


def _span_casts(name: str, x: torch.Tensor) -> Iterator[Case]:
    for fmt in FORMATS:
        for size in (32, 128):
            for form, options in FORMS.items():
                case = f"{name} -> {fmt}, {size}x{size}, {form}"
                call = partial(quant.per_block_cast, x, fmt, (size, size), **options)
                yield "per_block_cast", case, x, call
    sf = torch.ones(-(-len(x) // 128), -(-x.shape[1] // 128))
    given = partial(quant.per_block_cast_with_precomputed_sf, x, "e4m3", (128, 128), sf)
    yield "per_block_cast_with_precomputed_sf", f"{name} -> e4m3, 128x128", (x, sf), given
    for n in (32, 128):
        case = f"{name} -> e4m3, {n} tokens"
        yield "per_channel_cast", case, x, partial(quant.per_channel_cast, x, "e4m3", n)
        packed = partial(quant.per_channel_cast, x, "e4m3", n, **PACKED)
        yield "per_channel_cast", f"{case}, packed", x, packed
        turned = partial(quant.per_channel_cast_and_transpose, x, "e4m3", n)
        yield "per_channel_cast_and_transpose", case, x, turned


def _swiglu(name: str, x: torch.Tensor) -> Iterator[Case]:
    wide = torch.cat((x, x), 1)
    cast = partial(quant.swiglu_forward_and_per_token_cast, wide, "e4m3")
    for group in (32, 128):
        for form, options in FORMS.items():
            case = f"{name} -> e4m3, {group}, {form}"
            yield "swiglu_forward_and_per_token_cast", case, wide, partial(cast, group, **options)
    for fmt in ("bf16", "fp32"):
        yield "swiglu_forward", f"{name} -> {fmt}", wide, partial(quant.swiglu_forward, wide, fmt)
    yield "swiglu_backward", name, (wide, x), partial(quant.swiglu_backward, wide, x, name)


def _swiglu_backward_casts(grad: torch.Tensor) -> Iterator[Case]:
    name = "swiglu_backward_and_per_token_cast"
    wide, weights = torch.cat((grad, grad), 1), torch.ones(len(grad))
    call = quant.swiglu_backward_and_per_token_cast
    for group in (32, 128):
        coded = _coded("e4m3", len(wide), wide.shape[1], (1, group), "fp32 scales")
        for form, options in FORMS.items():
            for kind, x in (("bf16", wide), ("e4m3", coded)):
                case = f"{kind} -> bf16 and e4m3, {group}, {form}"
                yield name, case, (x, grad), partial(call, x, grad, "e4m3", group, **options)
        everything = partial(
            call, coded, grad, "e4m3", group, None, weights, clamp_value=10.0, do_recompute=True
        )
        case = f"e4m3 -> bf16 and e4m3, {group}, weights, a limit, and the result once more"
        yield name, case, (coded, grad, weights), everything


def _rows(name: str, x: torch.Tensor) -> Iterator[Case]:
    weight, rstd = torch.ones(x.shape[1], dtype=x.dtype), torch.ones(len(x))
    norm, other = partial(quant.norm_forward, x, weight, 1e-6), torch.zeros_like(x)
    yield "norm_forward", f"{name}, with a residual", (x, other), partial(norm, other)
    yield "norm_forward", name, x, lambda: norm()[:2]
    cast = partial(quant.norm_forward_and_per_token_cast, x, weight, 1e-6, "e4m3", 128)
    yield "norm_forward_and_per_token_cast", f"{name} -> e4m3, 128", x, lambda: cast()[::2]
    back = partial(quant.norm_backward, other, x, weight, rstd)
    yield "norm_backward", name, (x, other), back
    heads = x.view(len(x), -1, 128)
    for dim, form in ((64, "halves"), (64, "neighbours"), (128, "halves"), (128, "neighbours")):
        moved, cache = heads[..., :dim], torch.ones(len(x), dim)  # the rest stays where it is
        rotate = partial(_rotate, heads, cache, form == "neighbours", moved)
        case = f"{name}, heads of 128, {dim} rotated, {form}"
        yield "apply_rotary", case, (moved, cache), rotate
    fmt = "bf16" if name == "fp32" else "fp32"
    yield "cast", f"{name} -> {fmt}", x, partial(quant.cast, x, fmt)
    yield "cast", f"{name} -> e4m3", x, partial(quant.cast, x, "e4m3")
    for fmt in ("e4m3", "bf16") if name == "fp32" else ("e4m3",):
        yield "cast", f"{name} -> {fmt}, stochastic", x, partial(quant.cast, x, fmt, True)


def _coded(fmt: str, rows: int, hidden: int, block: tuple[int, int], form: str) -> Any:
    """Codes and scales without a meaning, in a layout."""
    dtype = torch.float8_e4m3fn if fmt == "e4m3" else torch.int8
    data = torch.zeros(rows, hidden if fmt == "e4m3" else hidden // 2, dtype=torch.int8).view(dtype)
    down, across = -(-rows // block[0]), -(-hidden // block[1])
    if "packed" in form:
        across, kind = -(-across // 2), torch.int16
    else:
        kind = torch.float32
    if "column-major" in form:
        return data, torch.ones((across, down), dtype=kind).T
    return data, torch.ones((down, across), dtype=kind)


def _backs(x: torch.Tensor) -> Iterator[Case]:
    rows, hidden = x.shape
    for fmt in FORMATS:
        for block in ((1, 32), (1, 128), (32, 32), (128, 128)):
            for form in FORMS:
                coded = _coded(fmt, rows, hidden, block, form)
                for out in ("bf16", "fp32"):
                    case = f"{fmt} -> {out}, {block[0]}x{block[1]}, {form}"
                    yield "cast_back", case, coded, partial(quant.cast_back, coded, out, block)
    for block in ((1, 16), (1, hidden), (128, 1)):
        coded = _coded("e4m3", rows, hidden, block, "fp32 scales")
        case = f"e4m3 -> bf16, {block[0]}x{block[1]}, fp32 scales"
        yield "cast_back", case, coded, partial(quant.cast_back, coded, "bf16", block)


def _quantised(x: torch.Tensor) -> Iterator[Case]:
    rows, hidden = x.shape
    for fmt, block in (("e4m3", (1, 128)), ("e4m3", (128, 128)), ("e2m1", (1, 32))):
        coded = _coded(fmt, rows, hidden, block, "fp32 scales")
        case = f"{fmt} {block[0]}x{block[1]} -> e4m3, 128"
        yield (
            "per_token_cast",
            case,
            coded,
            partial(quant.per_token_cast, coded, "e4m3", 128, block),
        )
    coded = _coded("e4m3", rows, hidden, (1, 128), "fp32 scales")
    again = partial(quant.per_channel_cast, coded, "e4m3", 128, num_per_channels=128)
    yield "per_channel_cast", "e4m3 -> e4m3, 128 tokens", coded, again
    for form in ("fp32 scales", "packed"):
        nibbles = _coded("e2m1", rows, hidden, (1, 32), form)
        if form == "packed":
            nibbles[1].fill_(0x7F7F)
        for block in ((1, 128), (32, 32), (128, 128)):
            case = f"e2m1 1x32 -> e4m3 {block[0]}x{block[1]}, from {form}"
            call = partial(quant.per_block_cast_lossless, nibbles, "e4m3", (1, 32), block)
            yield "per_block_cast_lossless", case, nibbles, call


def _moves(x: torch.Tensor) -> Iterator[Case]:
    odd = x[: len(x) - 7, : x.shape[1] - 9].contiguous()
    yield "transpose", "bf16, odd sizes", odd, partial(transpose.transpose, odd)
    many = x.view(8, -1, x.shape[1])
    turn = partial(transpose.batched_transpose, many)
    yield "batched_transpose", "bf16, 8 matrices", many, turn
    few = x[: max(len(x) // 4, 1)]
    for k in (4, 8):
        idx = generate_topk_idx(MoeParams(len(few), 256, k, empty=0.0))
        mapping = moe.get_fused_mapping(idx, 256, 0, 128)
        experts, to_pos, weights = mapping[0], mapping[3], torch.rand(len(few), k)
        for dtype in (torch.bfloat16, torch.float32):
            rows = torch.zeros(len(experts), x.shape[1], dtype=dtype)
            used = rows[: int((to_pos >= 0).sum())]
            case = f"{str(dtype).removeprefix('torch.')}, k={k}, a quarter of the rows"
            yield "reduce_fused", case, used, partial(moe.reduce_fused, rows, weights, to_pos)


def measure(tokens: int, hidden: int, only: str) -> Iterator[Row]:
    """Rows of all cases whose operator and text hold `only`."""
    by_threads = set()
    for name, case, inputs, call in cases(tokens, hidden):
        if only in f"{name} {case}":
            try:
                yield _row(name, case, inputs, call, "compute" if name in REFUSING else "skip")
            except LaunchError:  # a kernel by threads
                by_threads.add((name, case))
    fewer = max(tokens // FEWER, 128)
    for name, case, inputs, call in cases(fewer, hidden) if by_threads else ():
        if (name, case) in by_threads:
            yield _row(name, f"{case}; {fewer} rows", inputs, call, "compute")


def _row(name: str, case: str, inputs: Any, call: Callable[[], Any], data: str) -> Row:
    result, profiles = timed(call, data=data)
    return modelled_row(name, case, profiles, count_bytes(inputs), count_bytes(result))


def share(row: Row) -> int:
    """The share of the HBM limit, in percent."""
    return int(str(row["of_hbm"]).rstrip("%"))


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--tokens", default=8192, show_default=True)
@click.option("--hidden", default=7168, show_default=True)
@click.option("--only", default="", help="Cases whose operator and text hold this.")
@click.option("--smoke", is_flag=True, help="Tiny sizes and a few cases, to try the program.")
def main(path: Path | None, tokens: int, hidden: int, only: str, smoke: bool) -> None:
    """Model, print a table, and write CSV rows."""
    if smoke:
        tokens, hidden, only = 128, 256, "per_token_cast bf16 -> e4m3, 128"
    rows = sorted(measure(tokens, hidden, only), key=share)
    report(f"modelled device time, {tokens}x{hidden}", MODELLED, rows, path)


if __name__ == "__main__":
    main()
