"""Throughput of the emulated BF16 GEMM next to torch, and memory high-water.

Method: every variant runs in this process with the same number of threads, in turn with torch's
fp32 and bf16 matmul: each round has a call of one right before or right after a call of the other,
since the clock of a busy machine changes within a second. A ratio is the median over the rounds of
torch's time / ours in the same round, so higher is better; ms is the median of all calls. Before
each call the process sleeps a little: OpenMP's threads poll for a few milliseconds after a parallel
region, and would take a core from the variant that comes next. The kernel is compiled and loaded
before timing. One CSV row a variant. Torch's bf16 matmul may use AMX tiles; a child process
measures it once more with oneDNN held to AVX-512 (`ONEDNN_MAX_CPU_ISA`), for the column
of_torch_avx512_bf16. `--clock cpu` takes the CPU time of the process in place of elapsed time: for
a busy machine, with `--threads 1`.

Run: python benchmarks/bench_bf16_gemm.py [--csv results/bf16_gemm.csv] [--rounds 9] [--threads 1]
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import torch
from bench_clock import CLOCKS, PAUSE, paired
from bench_io import CsvTable, machine, print_rows

import deep_gemm

SHAPES = ((1024, 1024, 1024), (4096, 4096, 1024))
ISAS = ("best", "generic")
SMOKE_SHAPES = ((64, 64, 64),)
MEMORY_SHAPE = (4096, 4096, 4096)


@dataclass(frozen=True)
class Variant:
    """One way to multiply: a name, options of the emulator (None = torch) and torch's dtype."""

    name: str
    options: dict[str, object] | None
    dtype: torch.dtype

    def prepare(self, a: torch.Tensor, b: torch.Tensor) -> Callable[[], object]:
        """A function that does the multiplication once."""
        if self.options is None:
            left, right = a.to(self.dtype), b.to(self.dtype).T
            out = torch.empty(left.shape[0], right.shape[1], dtype=self.dtype)
            return lambda: torch.matmul(left, right, out=out)
        d = torch.empty(a.shape[0], b.shape[0], dtype=self.dtype)
        options = self.options

        def call() -> None:
            with deep_gemm.emulator(**options):
                deep_gemm.bf16_gemm_nt(a, b, d)

        return call


def variants(isas: tuple[str, ...]) -> list[Variant]:
    """Torch first, then ours: exact and fast numerics on each ISA."""
    table = [
        Variant("torch fp32", None, torch.float32),
        Variant("torch bf16", None, torch.bfloat16),
    ]
    for isa in isas:
        for numerics in ("exact", "fast"):
            options: dict[str, object] = {"numerics": numerics, "isa": isa}
            table.append(Variant(f"deep_gemm {numerics} {isa}", options, torch.bfloat16))
    return table


AVX512_SCRIPT = """
import statistics, sys, time, torch
threads, rounds, m, n, k = map(int, sys.argv[1:6])
clock = {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[6]]
torch.set_num_threads(threads)
a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16().T
out = torch.empty(m, n, dtype=torch.bfloat16)
torch.matmul(a, b, out=out)
seconds = []
for _ in range(rounds):
    time.sleep(float(sys.argv[7]))
    start = clock()
    torch.matmul(a, b, out=out)
    seconds.append(clock() - start)
print(statistics.median(seconds))
"""


def seconds_without_amx(shape: tuple[int, int, int], rounds: int, clock: str) -> float:
    """Median time of torch's bf16 matmul where oneDNN may use AVX-512 but not AMX."""
    numbers = (torch.get_num_threads(), rounds, *shape)
    command = [sys.executable, "-c", AVX512_SCRIPT, *map(str, numbers), clock, str(PAUSE)]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}
    out = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout
    return float(out)


def throughput(
    shapes: tuple[tuple[int, int, int], ...],
    rounds: int,
    isas: tuple[str, ...],
    clock: str,
    table: CsvTable,
) -> None:
    """GFLOP/s of all variants on all shapes."""
    references, ours = variants(isas)[:2], variants(isas)[2:]
    for m, n, k in shapes:
        a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
        without_amx = seconds_without_amx((m, n, k), rounds, clock)
        calls = [item.prepare(a, b) for item in references]
        for call in calls:
            call()
        own: list[list[float]] = [[] for _ in references]
        rows = []
        for item in ours:
            variant = item.prepare(a, b)
            variant()
            times = [paired(call, variant, rounds, CLOCKS[clock]) for call in calls]
            for seconds, pair in zip(own, times, strict=True):
                seconds += pair.reference
            value = median([*times[0].variant, *times[1].variant])
            rows.append((item.name, value, [pair.ratio() for pair in times]))
        fp32, bf16 = map(median, own)
        rows.insert(0, (references[0].name, fp32, [1.0, bf16 / fp32]))
        rows.insert(1, (references[1].name, bf16, [fp32 / bf16, 1.0]))
        name = "torch bf16, oneDNN without AMX"
        rows.append((name, without_amx, [fp32 / without_amx, bf16 / without_amx]))
        for name, value, ratios in rows:
            table.add(
                shape=f"{m}x{n}x{k}",
                variant=name,
                clock=clock,
                ms=round(value * 1e3, 3),
                gflops=round(2 * m * n * k / value / 1e9, 1),
                of_torch_fp32=round(ratios[0], 3),
                of_torch_bf16=round(ratios[1], 3),
                of_torch_avx512_bf16=round(without_amx / value, 3),
            )


MEMORY_SCRIPT = """
import resource, sys, torch, deep_gemm
torch.set_num_threads(int(sys.argv[1]))
m, n, k = map(int, sys.argv[2:5])
a = torch.zeros(m, k, dtype=torch.bfloat16)
b = torch.zeros(n, k, dtype=torch.bfloat16)
d = torch.zeros(m, n, dtype=torch.bfloat16)
for x in (a, b, d):
    x.fill_(1.0)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
deep_gemm.bf16_gemm_nt(a, b, d)
print(before, peak() - before)
"""


def memory(threads: int, table: CsvTable) -> None:
    """High-water beyond tensors and imports, in a process of its own with a warm cache."""
    arguments = [str(threads), *map(str, MEMORY_SHAPE)]
    command = [sys.executable, "-c", MEMORY_SCRIPT, *arguments]
    for _ in range(2):  # the first run may compile
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    _, extra = map(float, out.split())
    table.add(
        shape="x".join(map(str, MEMORY_SHAPE)),
        variant="high-water beyond the tensors, MB",
        mb=round(extra, 1),
    )


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--rounds", default=9, show_default=True, help="Rounds of each pair.")
@click.option("--threads", type=int, help="Threads of torch and of the emulator (torch's own).")
@click.option("--clock", type=click.Choice(sorted(CLOCKS)), default="wall", show_default=True)
@click.option("--isa", "isas", multiple=True, default=ISAS, show_default=True)
@click.option("--memory/--no-memory", "with_memory", default=True, help="Measure memory too.")
@click.option("--smoke", is_flag=True, help="One tiny shape, to try the program itself.")
def main(
    path: Path | None,
    rounds: int,
    threads: int | None,
    clock: str,
    isas: tuple[str, ...],
    with_memory: bool,
    smoke: bool,
) -> None:
    """Measure, print a table, and write CSV rows."""
    if threads is not None:
        torch.set_num_threads(threads)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    ratios = ("of_torch_fp32", "of_torch_bf16", "of_torch_avx512_bf16")
    columns = ("shape", "variant", "clock", "ms", "gflops", *ratios, "mb")
    table = CsvTable(columns, command)
    if with_memory:
        memory(torch.get_num_threads(), table)
    throughput(SMOKE_SHAPES if smoke else SHAPES, rounds, isas, clock, table)
    title = f"bf16 GEMM on the CPU, {torch.get_num_threads()} thread(s), {machine()}"
    print_rows(title, table)
    if path is not None:
        table.write(path)


if __name__ == "__main__":
    main()
