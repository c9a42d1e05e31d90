"""Speed of register SIMD code in the emulator (emulator.md section 6).

Method: everything is compiled before timing. The row sums of squares of a bf16 matrix alternate
with torch round by round, each round counts its best call and the median of the rounds is printed;
both run on one thread, and torch's number is that of its fastest form. Operations and commands run
in a loop of one core; the time of an empty launch is taken off and the best round counts. The grid
barriers use all cores of the host.

Run: python benchmarks/bench_vector.py [--rounds 5] [--csv results/vector.csv]
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from vector_kernels import (
    BARRIER_TEXT,
    BARRIERS,
    COMMAND_TEXT,
    COMMANDS,
    OPERATIONS,
    RESIDENT_TEXT,
    ROWS_TEXT,
    operations_text,
)

import deep_jit

Row = tuple[str, float, float | None]
ROWS, COLUMNS = 8192, 7168


def seconds(call: Callable[[], object]) -> float:
    """Returns the time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def row_sums(runtime: deep_jit.Runtime, rounds: int) -> list[Row]:
    """Sum of squares of each row, against torch."""
    kernel = runtime.compile("row_sums", ROWS_TEXT)
    x = torch.randn(ROWS, COLUMNS, dtype=torch.bfloat16)
    out = torch.empty(ROWS)
    torch_forms: list[Callable[[], Any]] = [
        lambda: x.float().square().sum(-1),
        lambda: torch.linalg.vector_norm(x, dim=-1, dtype=torch.float32).square(),
    ]

    def ours() -> None:
        kernel.launch({"num_blocks": 64}, x, out, ROWS, COLUMNS)

    ours()
    torch.testing.assert_close(out, torch_forms[0](), rtol=1e-5, atol=1e-3)
    pairs = [(seconds(ours), min(map(seconds, torch_forms))) for _ in range(rounds)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return [(f"row sum of squares bf16 {ROWS}x{COLUMNS}", mine * 1e9, theirs * 1e9)]


def each(
    kernel: deep_jit.Kernel, names: list[str], count: int, rounds: int, data: np.ndarray
) -> list[Row]:
    """Nanoseconds of each of a kernel's loops."""

    def best(which: int, turns: int) -> float:
        return min(
            seconds(lambda: kernel.launch({"num_blocks": 1}, data, which, turns))
            for _ in range(rounds)
        )

    best(0, 1000)
    return [
        (name, (best(which, count) - best(which, 0)) / count * 1e9, None)
        for which, name in enumerate(names)
    ]


def barriers(runtime: deep_jit.Runtime, rounds: int, data: np.ndarray) -> list[Row]:
    """Nanoseconds of a SIMT barrier in both forms, and of a switch between threads."""
    kernel = runtime.compile("barriers", BARRIER_TEXT)
    forms = list(dict.fromkeys(form for form, _ in BARRIERS.values()))
    costs = {row[0]: row[1] for row in each(kernel, forms, 2000, rounds, data)}
    return [(name, costs[form] / share, None) for name, (form, share) in BARRIERS.items()]


def resident(runtime: deep_jit.Runtime, rounds: int, data: np.ndarray) -> list[Row]:
    """Nanoseconds of launches with 96 cores at once, without and with barriers, on all threads."""
    kernel = runtime.compile("resident", RESIDENT_TEXT)

    def best(count: int) -> float:
        return min(
            seconds(lambda: kernel.launch({"num_blocks": 32}, data, count)) for _ in range(rounds)
        )

    best(1)
    empty, one, many = best(0), best(1), best(101)
    return [
        ("launch of 96 cores", empty * 1e9, None),
        ("launch of 96 cores with a grid barrier", one * 1e9, None),
        ("each further grid barrier", (many - one) / 100 * 1e9, None),
    ]


@click.command(help=__doc__)
@click.option("--rounds", default=5, show_default=True)
@click.option("--count", default=200_000, show_default=True, help="Turns of a loop.")
@click.option("--csv", "path", type=click.Path(path_type=Path), help="File to write.")
@click.option("--smoke", is_flag=True, help="One round of few turns, to try the program itself.")
def main(rounds: int, count: int, path: Path | None, smoke: bool) -> None:
    """Runs all measurements and prints a table."""
    rounds, count = (1, 1000) if smoke else (rounds, count)
    torch.set_num_threads(1)
    runtime = deep_jit.Runtime(deep_jit.Config(Path(__file__).parent, "BENCH"))
    # Three registers of numbers of ordinary size, then indices.
    data = np.random.default_rng(0).uniform(1, 2, 1024).astype(np.float32)
    data[192:256].view(np.uint32)[:] = np.arange(64)[::-1]
    operations = runtime.compile("operations", operations_text())
    commands = runtime.compile("commands", COMMAND_TEXT)
    with deep_jit.emulator(threads=1):
        rows = [
            *row_sums(runtime, rounds),
            *each(operations, list(OPERATIONS), count, rounds, data),
            *each(commands, list(COMMANDS), count, rounds, data),
            *barriers(runtime, rounds, data),
        ]
    rows += resident(runtime, 10 * rounds, data)
    for name, ours, theirs in rows:
        if theirs is None:
            click.echo(f"{name:42} {ours:10.2f} ns")
        else:
            torchs = f"torch {theirs / 1e6:.2f} ms  {ours / theirs:.2f}x"
            click.echo(f"{name:42} {ours / 1e6:10.2f} ms  {torchs}")
    if path is not None:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["what", "ours_ns", "torch_ns"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
