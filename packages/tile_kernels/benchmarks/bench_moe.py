"""Modelled time of the routing and row operators, and host time as a ratio to torch.

Modelled: device time of all kernels of a call from the emulator's timing model (`replay`), the
share of it that is launch overhead, bytes of all inputs and outputs over it, and that as a share of
the HBM limit. Host: best of several calls of the operator on the emulator, over the best of the
torch reference. No figure was measured on hardware.

Run: python benchmarks/bench_moe.py [--csv results/moe.csv] [--tokens 64 --tokens 1024] [--rounds 3]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from bench_io import MODELLED, Row, count_bytes, modelled_row, report, timed

from tile_kernels import moe, rand, transform, transpose
from tile_kernels import torch as reference
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

COLUMNS = (*MODELLED, "host_ms", "of_torch")


@dataclass(frozen=True)
class Case:
    """One operator on one input: how to call it, the reference, bytes read and written."""

    name: str
    case: str
    call: Callable[[], Any]
    reference: Callable[[], Any]
    read: int
    written: int


def cases(tokens: int, hidden: int, experts: int, k: int) -> list[Case]:
    """All operators for one number of tokens."""
    idx = generate_topk_idx(MoeParams(tokens, experts, k, empty=0.0))
    mapping = moe.get_fused_mapping(idx, experts, 0, 128)
    pos_to_expert, to_pos = mapping[0], mapping[3]
    x, weights = torch.randn(tokens, hidden).bfloat16(), torch.rand(tokens, k)
    rows = moe.expand_to_fused(x, to_pos, pos_to_expert)
    scores = torch.randn(tokens, experts)
    bias = torch.randn(experts)
    cache = torch.randn(tokens, 128)
    query = torch.randn(tokens, 16, 128).bfloat16()
    shape = f"{tokens}x{hidden} bf16"
    routing = f"{tokens} tokens, {experts} experts, k={k}"
    used = int((to_pos >= 0).sum()) * hidden * 2

    def rotary_reference() -> object:
        return reference.rotary_embedding_ref(query, cache[:, :64], cache[:, 64:])

    return [
        Case("topk_gate", routing, lambda: moe.topk_gate(scores, k),
             lambda: reference.stable_topk(scores, k), count_bytes(scores), count_bytes(idx)),
        Case("moe_topk_gate_forward", routing,
             lambda: moe.moe_topk_gate(scores, k, False, 0, 1.0, 0),
             lambda: reference.moe_topk_gate_forward(scores, k),
             count_bytes(scores), count_bytes([idx, weights])),
        Case("top2_sum_gate", routing,
             lambda: moe.top2_sum_gate(
                 scores, bias, k, 4, 8, False, 0, 1.0, 0, 1, 0, 1, "sigmoid"),
             lambda: reference.top2_sum_gate(scores, bias, k, 4, 8, 0, 1.0, 0, 1, 0, 1, "sigmoid"),
             count_bytes(scores), count_bytes([idx, weights])),
        Case("get_fused_mapping", routing,
             lambda: moe.get_fused_mapping(idx, experts, pos_to_expert.numel(), 128),
             lambda: idx.flatten().sort(stable=True),
             count_bytes(idx), count_bytes(to_pos) + 3 * count_bytes(pos_to_expert)),
        Case("expand_to_fused", shape, lambda: moe.expand_to_fused(x, to_pos, pos_to_expert),
             lambda: reference.expand_to_fused(x, to_pos, pos_to_expert),
             count_bytes(x), count_bytes(rows)),
        Case("reduce_fused", shape, lambda: moe.reduce_fused(rows, weights, to_pos),
             lambda: reference.reduce_fused(rows, weights, to_pos), used, count_bytes(x)),
        Case("transpose", shape, lambda: transpose.transpose(x),
             lambda: x.T.contiguous(), count_bytes(x), count_bytes(x)),
        Case("apply_rotary", f"{tokens}x16x128 bf16",
             lambda: transform.apply_rotary(query, cache), rotary_reference,
             count_bytes([query, cache]), count_bytes(query)),
        Case("randn", f"{tokens}x{hidden} fp32", lambda: rand.randn(tokens, hidden, device="cpu"),
             lambda: torch.randn(tokens, hidden), 0, tokens * hidden * 4),
    ]  # fmt: skip


def best_seconds(call: Callable[[], Any], rounds: int) -> float:
    """Shortest of several calls."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(case: Case, rounds: int) -> Row:
    """One row of the table."""
    case.call()
    row = modelled_row(case.name, case.case, timed(case.call)[1], case.read, case.written)
    host = best_seconds(case.call, rounds)
    ratio = host / best_seconds(case.reference, rounds)
    return row | {"host_ms": round(host * 1e3, 2), "of_torch": round(ratio, 2)}


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--tokens", default=(64, 1024), show_default=True, multiple=True)
@click.option("--hidden", default=7168, show_default=True)
@click.option("--experts", default=256, show_default=True)
@click.option("--topk", default=8, show_default=True)
@click.option("--rounds", default=3, show_default=True, help="Host calls; the best one counts.")
@click.option("--only", default="", help="Operators whose name holds this text.")
@click.option("--smoke", is_flag=True, help="Tiny sizes, to try the program itself.")
def main(
    path: Path | None,
    tokens: tuple[int, ...],
    hidden: int,
    experts: int,
    topk: int,
    rounds: int,
    only: str,
    smoke: bool,
) -> None:
    """Measure, print a table, and write CSV rows."""
    if smoke:
        tokens, hidden, experts, topk, rounds = (16,), 256, 16, 2, 1

    def rows() -> Iterator[Row]:
        for count in tokens:
            for case in cases(count, hidden, experts, topk):
                if only in case.name:
                    yield measure(case, rounds)

    report("modelled device time and host time on the emulator", COLUMNS, rows(), path)


if __name__ == "__main__":
    main()
