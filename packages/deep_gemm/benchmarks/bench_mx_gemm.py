"""Throughput of the emulated FP8 and FP4 GEMM next to torch's fp32 matmul of decoded operands.

Method as in bench_bf16_gemm.py: one process, equal threads, variants alternate, the best round
counts; the kernel is compiled before timing. Ratios are ours / torch. One CSV row a variant.

Run: python benchmarks/bench_mx_gemm.py [--csv results/mx_gemm.csv] [--rounds 3] [--threads 1]
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click
import torch
from bench_clock import best_seconds
from bench_io import CsvTable, machine, print_rows

import deep_gemm
from deep_gemm.testing import GemmCase, MxCase, MxInputs, make_mx_inputs

SHAPE = (1024, 1024, 1024)
SMOKE_SHAPE = (64, 64, 64)
NUMERICS = ("exact", "fast")


def torch_call(data: MxInputs) -> Callable[[], object]:
    """fp32 matmul of the decoded operands."""
    left, right = data.a_value.float(), data.b_value.float().T
    out = torch.empty(left.shape[0], right.shape[1])
    return lambda: torch.matmul(left, right, out=out)


def our_call(data: MxInputs, numerics: str) -> Callable[[], object]:
    """One GEMM in the emulator."""

    def call() -> None:
        with deep_gemm.emulator(numerics=numerics):
            deep_gemm.fp8_fp4_gemm_nt(data.a, data.b, data.d)

    return call


def measure(shape: tuple[int, int, int], rounds: int, table: CsvTable) -> None:
    """Adds the rows of fp8 and fp4."""
    m, n, k = shape
    for fp4 in (False, True):
        dtype = "fp4" if fp4 else "fp8"
        data = make_mx_inputs(MxCase(GemmCase(m, n, k), fp4))
        names = [f"torch fp32, decoded {dtype}", *(f"deep_gemm {dtype} {x}" for x in NUMERICS)]
        calls = [torch_call(data), *(our_call(data, numerics) for numerics in NUMERICS)]
        seconds = best_seconds(calls, rounds)
        for name, value in zip(names, seconds, strict=True):
            table.add(
                shape=f"{m}x{n}x{k}",
                variant=name,
                ms=round(value * 1e3, 3),
                gflops=round(2 * m * n * k / value / 1e9, 1),
                of_torch_fp32=round(seconds[0] / value, 3),
            )


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--rounds", default=3, show_default=True, help="Rounds; the best one counts.")
@click.option("--threads", type=int, help="Threads of torch and of the emulator (torch's own).")
@click.option("--smoke", is_flag=True, help="One tiny shape, to try the program itself.")
def main(path: Path | None, rounds: int, threads: int | None, smoke: bool) -> None:
    """Measure, print a table, and write CSV rows."""
    if threads is not None:
        torch.set_num_threads(threads)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    table = CsvTable(("shape", "variant", "ms", "gflops", "of_torch_fp32"), command)
    measure(SMOKE_SHAPE if smoke else SHAPE, rounds, table)
    title = f"FP8 and FP4 GEMM on the CPU, {torch.get_num_threads()} thread(s), {machine()}"
    print_rows(title, table)
    if path is not None:
        table.write(path)


if __name__ == "__main__":
    main()
