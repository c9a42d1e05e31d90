"""Memory-bound operators on the shape of a large model: modelled time and share of the HBM limit.

Bytes are those of all inputs and outputs, each once. What the caches of the device keep at the end
of a kernel is not charged, so a share can pass 100 %. Nothing here was measured on a device.

Run: python benchmarks/bench_memory.py [--csv results/memory.csv] [--only cast]
"""

from __future__ import annotations

import csv
import datetime
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table

import tile_kernels
from tile_kernels import moe, quant, transpose
from tile_kernels._shared.emulator.timing import TimingProfile, timed_launches
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

HBM_GBPS = 3500
COLUMNS = ("operator", "case", "kernels", "modelled_us", "gbps", "of_hbm", "bound")


def count_bytes(value: Any) -> int:
    """Bytes of the tensors in a result."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(count_bytes(item) for item in value) if isinstance(value, (tuple, list)) else 0


def timed(call: Callable[[], Any]) -> tuple[Any, list[TimingProfile]]:
    """The result of a call and what its kernels would take."""
    with tile_kernels.emulator(timing="replay"), timed_launches() as profiles:
        result = call()
    return result, list(profiles)


def row(name: str, case: str, profiles: list[TimingProfile], num_bytes: int) -> dict[str, object]:
    """One row of the table."""
    us = sum(profile.duration_us for profile in profiles)
    longest = max(profiles, key=lambda profile: profile.duration_us)
    rate = num_bytes / us / 1e3
    return {
        "operator": name,
        "case": case,
        "kernels": len(profiles),
        "modelled_us": round(us, 1),
        "gbps": round(rate),
        "of_hbm": f"{rate / HBM_GBPS:.0%}",
        "bound": longest.verdict,
    }


def measure(tokens: int, hidden: int, k: int, only: str) -> Iterator[dict[str, object]]:
    """All operators whose name holds `only`."""
    x = torch.randn(tokens, hidden).bfloat16()
    wide = torch.randn(tokens, 2 * hidden).bfloat16() if "swiglu".find(only) >= 0 else x[:1]
    shape = f"{tokens}x{hidden}"
    weight = torch.ones(hidden).bfloat16()
    packed = {"use_tma_aligned_col_major_sf": True, "round_sf": True, "use_packed_ue8m0": True}
    coded = quant.per_token_cast(x, "e4m3", 128)
    cases: dict[tuple[str, str], tuple[Any, Callable[[], Any]]] = {
        ("per_token_cast", f"{shape} bf16 -> e4m3, 128, fp32 scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 128),
        ),
        ("per_token_cast packed", f"{shape} bf16 -> e4m3, 128, packed column-major scales"): (
            x, lambda: quant.per_token_cast(x, "e4m3", 128, **packed),
        ),
        ("per_block_cast", f"{shape} bf16 -> e4m3, 128x128"): (
            x, lambda: quant.per_block_cast(x, "e4m3", (128, 128)),
        ),
        ("per_channel_cast", f"{shape} bf16 -> e4m3, 128 tokens"): (
            x, lambda: quant.per_channel_cast(x, "e4m3", 128),
        ),
        ("cast_back", f"{shape} e4m3 -> bf16, 128"): (
            coded, lambda: quant.cast_back(coded, "bf16", (1, 128)),
        ),
        ("swiglu_forward_and_per_token_cast", f"{tokens}x{2 * hidden} bf16 -> e4m3, 128"): (
            wide, lambda: quant.swiglu_forward_and_per_token_cast(wide, "e4m3", 128),
        ),
        ("norm_forward", f"{shape} bf16"): (
            x, lambda: quant.norm_forward(x, weight, 1e-6)[:2],
        ),
        ("transpose", f"{shape} bf16"): (x, lambda: transpose.transpose(x)),
    }  # fmt: skip
    for (name, case), (inputs, call) in cases.items():
        if only in name:
            result, profiles = timed(call)
            yield row(name, case, profiles, count_bytes(inputs) + count_bytes(result))
    if any(only in name for name in ("expand_to_fused", "reduce_fused")):
        yield from _rows(x, k, shape)


def _rows(x: torch.Tensor, k: int, shape: str) -> Iterator[dict[str, object]]:
    tokens, hidden = x.shape
    idx = generate_topk_idx(MoeParams(tokens, 256, k, empty=0.0))
    mapping = moe.get_fused_mapping(idx, 256, 0, 128)
    pos_to_expert, to_pos, weights = mapping[0], mapping[3], torch.rand(tokens, k)
    rows, profiles = timed(lambda: moe.expand_to_fused(x, to_pos, pos_to_expert))
    case = f"{shape} bf16, k={k}"
    yield row("expand_to_fused", case, profiles, count_bytes(x) + count_bytes(rows))
    out, profiles = timed(lambda: moe.reduce_fused(rows, weights, to_pos))
    used = int((to_pos >= 0).sum()) * hidden * x.element_size()
    yield row("reduce_fused", case, profiles, used + count_bytes(out))


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """The rows as CSV, each with date and command."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    common = {"date": datetime.date.today().isoformat(), "command": command}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *common], lineterminator="\n")
        writer.writeheader()
        writer.writerows(item | common for item in rows)


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
    view = Table(title="modelled device time")
    for column in COLUMNS:
        view.add_column(column)
    rows = []
    for item in measure(tokens, hidden, topk, only):
        rows.append(item)
        view.add_row(*(str(item[column]) for column in COLUMNS))
    Console(width=150).print(view)
    if path is not None:
        write(path, rows)


if __name__ == "__main__":
    main()
