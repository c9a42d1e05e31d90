"""What the emulator's checkers and its timing model cost the host, on a BF16 and an MX GEMM.

Method: every variant runs in this process; calls of all variants alternate round by round, and the
best round counts. The kernel is compiled before timing. `of_off` is the time of a variant divided
by the time with everything off: the project allows 2 for all four checkers together and 1.2 for
`timing=fast`. Times are CPU times of the process, so that a busy machine changes them little; use
`--clock wall` for elapsed time. One CSV row a variant.

Run: python benchmarks/bench_emulator_cost.py [--csv results/emulator_cost.csv] [--rounds 5]
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click
import torch
from bench_clock import CLOCKS, best_seconds
from bench_io import CsvTable, machine, print_rows

import deep_gemm
from deep_gemm.testing import GemmCase, MxCase, make_mx_inputs

SHAPE = (1024, 1024, 1024)
SMOKE_SHAPE = (64, 64, 64)
CHECKERS = ("memcheck", "racecheck", "initcheck", "synccheck")
NUMERICS = ("exact", "fast")
OFF = "off"


def variants() -> dict[str, dict[str, object]]:
    """Names and emulator options; the first one is the base of the ratios."""
    single: dict[str, dict[str, object]] = {name: {"checks": (name,)} for name in CHECKERS}
    return {
        OFF: {},
        **single,
        "all checkers": {"checks": CHECKERS},
        "timing fast": {"timing": "fast"},
    }


def kernels(shape: tuple[int, int, int]) -> dict[str, Callable[[], object]]:
    """The GEMMs, by name."""
    m, n, k = shape
    a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
    d = torch.empty(m, n, dtype=torch.bfloat16)
    mx = make_mx_inputs(MxCase(GemmCase(m, n, k), False))
    return {
        "bf16_gemm_nt": lambda: deep_gemm.bf16_gemm_nt(a, b, d),
        "fp8_fp4_gemm_nt": lambda: deep_gemm.fp8_fp4_gemm_nt(mx.a, mx.b, mx.d),
    }


def with_options(
    kernel: Callable[[], object], numerics: str, options: dict[str, object]
) -> Callable[[], object]:
    """`kernel` under emulator options."""

    def call() -> None:
        with deep_gemm.emulator(numerics=numerics, **options):
            kernel()

    return call


def measure(shape: tuple[int, int, int], rounds: int, clock: str, table: CsvTable) -> None:
    """Adds a row for every kernel, numerics and variant."""
    options = variants()
    for name, kernel in kernels(shape).items():
        for numerics in NUMERICS:
            calls = [with_options(kernel, numerics, chosen) for chosen in options.values()]
            seconds = best_seconds(calls, rounds, CLOCKS[clock])
            for variant, value in zip(options, seconds, strict=True):
                table.add(
                    kernel=name,
                    shape="x".join(map(str, shape)),
                    numerics=numerics,
                    variant=variant,
                    clock=clock,
                    ms=round(value * 1e3, 3),
                    of_off=round(value / seconds[0], 3),
                )


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--rounds", default=5, show_default=True, help="Rounds; the best one counts.")
@click.option("--threads", type=int, help="Threads of the emulator (torch's own).")
@click.option("--clock", type=click.Choice(sorted(CLOCKS)), default="cpu", show_default=True)
@click.option("--smoke", is_flag=True, help="One tiny shape, to try the program itself.")
def main(path: Path | None, rounds: int, threads: int | None, clock: str, smoke: bool) -> None:
    """Measure, print a table, and write CSV rows."""
    if threads is not None:
        torch.set_num_threads(threads)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    table = CsvTable(("kernel", "shape", "numerics", "variant", "clock", "ms", "of_off"), command)
    measure(SMOKE_SHAPE if smoke else SHAPE, rounds, clock, table)
    title = f"Cost of checkers and timing, {torch.get_num_threads()} thread(s), {machine()}"
    print_rows(title, table)
    if path is not None:
        table.write(path)


if __name__ == "__main__":
    main()
