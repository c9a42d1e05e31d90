"""Modelled time of the routing and row operators, and host time as a ratio to torch.

Modelled: device time of all kernels of a call from the emulator's timing model (`replay`), bytes of
all inputs and outputs over it, and that as a share of the HBM limit of 3500 GB/s. Host: best of
several calls of the operator on the emulator, over the best of the torch reference. No figure was
measured on hardware.

Run: python benchmarks/bench_moe.py [--csv results/moe.csv] [--tokens 1024] [--rounds 3]
"""

from __future__ import annotations

import csv
import datetime
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table

import tile_kernels
from tile_kernels import moe, rand, transform, transpose
from tile_kernels import torch as reference
from tile_kernels._shared.emulator.timing import timed_launches
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

HBM_GBPS = 3500
COLUMNS = ("operator", "case", "modelled_us", "gbps", "of_hbm", "host_ms", "of_torch")


@dataclass(frozen=True)
class Case:
    """One operator on one input: how to call it, the reference, and the bytes it must move."""

    name: str
    case: str
    call: Callable[[], Any]
    reference: Callable[[], Any]
    num_bytes: int


def count_bytes(*tensors: torch.Tensor) -> int:
    """Bytes of tensors."""
    return sum(item.numel() * item.element_size() for item in tensors)


def cases(tokens: int, hidden: int, experts: int, k: int) -> list[Case]:
    """All operators for one number of tokens."""
    idx = generate_topk_idx(MoeParams(tokens, experts, k, empty=0.0))
    mapping = moe.get_fused_mapping(idx, experts, 0, 128)
    pos_to_expert, to_pos = mapping[0], mapping[3]
    x, weights = torch.randn(tokens, hidden).bfloat16(), torch.rand(tokens, k)
    rows = moe.expand_to_fused(x, to_pos, pos_to_expert)
    scores = torch.randn(tokens, experts)
    cache = torch.randn(tokens, 128)
    query = torch.randn(tokens, 16, 128).bfloat16()
    shape = f"{tokens}x{hidden} bf16"
    routing = f"{tokens} tokens, {experts} experts, k={k}"
    used = int((to_pos >= 0).sum()) * hidden * 2

    def rotary_reference() -> object:
        return reference.rotary_embedding_ref(query, cache[:, :64], cache[:, 64:])

    return [
        Case("topk_gate", routing, lambda: moe.topk_gate(scores, k),
             lambda: reference.stable_topk(scores, k), count_bytes(scores, idx)),
        Case("moe_topk_gate_forward", routing,
             lambda: moe.moe_topk_gate(scores, k, False, 0, 1.0, 0),
             lambda: reference.moe_topk_gate_forward(scores, k),
             count_bytes(scores, idx, weights)),
        Case("get_fused_mapping", routing,
             lambda: moe.get_fused_mapping(idx, experts, pos_to_expert.numel(), 128),
             lambda: idx.flatten().sort(stable=True),
             count_bytes(idx, to_pos) + 3 * count_bytes(pos_to_expert)),
        Case("expand_to_fused", shape, lambda: moe.expand_to_fused(x, to_pos, pos_to_expert),
             lambda: reference.expand_to_fused(x, to_pos, pos_to_expert), count_bytes(x, rows)),
        Case("reduce_fused", shape, lambda: moe.reduce_fused(rows, weights, to_pos),
             lambda: reference.reduce_fused(rows, weights, to_pos), used + count_bytes(x)),
        Case("transpose", shape, lambda: transpose.transpose(x),
             lambda: x.T.contiguous(), 2 * count_bytes(x)),
        Case("apply_rotary", f"{tokens}x16x128 bf16",
             lambda: transform.apply_rotary(query, cache), rotary_reference,
             2 * count_bytes(query) + count_bytes(cache)),
        Case("randn", f"{tokens}x{hidden} fp32", lambda: rand.randn(tokens, hidden, device="cpu"),
             lambda: torch.randn(tokens, hidden), tokens * hidden * 4),
    ]  # fmt: skip


def best_seconds(call: Callable[[], Any], rounds: int) -> float:
    """Shortest of several calls."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def modelled_us(call: Callable[[], Any]) -> float:
    """Device time of all kernels of a call."""
    with tile_kernels.emulator(timing="replay"), timed_launches() as profiles:
        call()
    return sum(profile.duration_us for profile in profiles)


def measure(case: Case, rounds: int) -> dict[str, object]:
    """One row of the table."""
    case.call()
    device = modelled_us(case.call)
    rate = case.num_bytes / device / 1e3
    host = best_seconds(case.call, rounds)
    return {
        "operator": case.name,
        "case": case.case,
        "modelled_us": round(device, 1),
        "gbps": round(rate),
        "of_hbm": f"{rate / HBM_GBPS:.0%}",
        "host_ms": round(host * 1e3, 2),
        "of_torch": round(host / best_seconds(case.reference, rounds), 2),
    }


def write(path: Path, rows: list[dict[str, object]], command: str) -> None:
    """The rows as CSV, each with date and command."""
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {"date": datetime.date.today().isoformat(), "command": command}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *common], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | common for row in rows)


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--tokens", default=1024, show_default=True)
@click.option("--hidden", default=7168, show_default=True)
@click.option("--experts", default=256, show_default=True)
@click.option("--topk", default=8, show_default=True)
@click.option("--rounds", default=3, show_default=True, help="Host calls; the best one counts.")
@click.option("--only", default="", help="Operators whose name holds this text.")
@click.option("--smoke", is_flag=True, help="Tiny sizes, to try the program itself.")
def main(
    path: Path | None,
    tokens: int,
    hidden: int,
    experts: int,
    topk: int,
    rounds: int,
    only: str,
    smoke: bool,
) -> None:
    """Measure, print a table, and write CSV rows."""
    if smoke:
        tokens, hidden, experts, topk, rounds = 16, 256, 8, 2, 1
    chosen = [case for case in cases(tokens, hidden, experts, topk) if only in case.name]
    rows = [measure(case, rounds) for case in chosen]
    view = Table(title="modelled device time and host time on the emulator")
    for column in COLUMNS:
        view.add_column(column)
    for row in rows:
        view.add_row(*(str(row[column]) for column in COLUMNS))
    Console(width=120).print(view)
    if path is not None:
        write(path, rows, shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))


if __name__ == "__main__":
    main()
