"""Host costs: import, runtime build, cold compile, disk hit, repeated call (issue text, "Speed").

Each step runs in fresh processes; the best of `--repeat` counts, except for the builds that happen
once per machine. Times of children are taken inside them, after importing torch. The repeated call
replaces the launch by an empty function. One CSV row a step, with the limit it is meant to keep.

Run: python benchmarks/bench_jit.py [--csv results/jit.csv] [--repeat 5]
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from bench_io import CsvTable, machine, print_rows

PRELUDE = """
import sys, time
import torch
t0 = time.perf_counter()
import deep_gemm
imported = time.perf_counter() - t0
def operands(m, n, k):
    return (torch.ones(m, k).bfloat16(), torch.ones(n, k).bfloat16(), torch.empty(m, n).bfloat16())
def timed(fn):
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start
"""

IMPORT = "print(imported)"

FIRST_CALL = """
a, b, d = operands(*map(int, sys.argv[1:4]))
print(timed(lambda: deep_gemm.bf16_gemm_nt(a, b, d)))
"""

# Compiling and loading without the launch, so that the kernel's run time is left out
PREPARE = """
from deep_gemm import _jit
_jit.bind = lambda *args: lambda payload: None
a, b, d = operands(*map(int, sys.argv[1:4]))
print(timed(lambda: deep_gemm.bf16_gemm_nt(a, b, d)))
"""

REPEATED = """
from deep_gemm import _jit
_jit.bind = lambda *args: lambda payload: None
a, b, d = operands(*map(int, sys.argv[1:4]))
options = {} if sys.argv[4] == "plain" else {"alpha": 0.5} if sys.argv[4] == "alpha" else {"c": d}
call = lambda: deep_gemm.bf16_gemm_nt(a, b, d, **options)
call()
count = 20000
def loop():
    for _ in range(count):
        call()
print(min(timed(loop) for _ in range(3)) / count)
"""

EMPTY_LAUNCH = """
import gc
a, b, d = operands(1, 1, 1)
call = lambda: deep_gemm.bf16_gemm_nt(a, b, d)
call()
def loop():
    for _ in range(200):
        call()
print(min(timed(loop) for _ in range(3)) / 200)
"""


def seconds(script: str, *arguments: object, root: Path) -> float:
    """What a fresh interpreter prints last."""
    environ = {**os.environ, "DG_JIT_CACHE_DIR": str(root)}
    environ.pop("DJ_JIT_RUNTIME_DIR", None)
    command = [sys.executable, "-c", PRELUDE + script, *map(str, arguments)]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def clear_kernels(root: Path) -> None:
    """Removes the cached kernels, keeps the runtime and the precompiled header."""
    for entry in (root / "cache").glob("bf16_gemm.*"):
        subprocess.run(["rm", "-rf", str(entry)], check=True)


def measure(root: Path, repeat: int, table: CsvTable) -> None:
    """All steps in the order a user meets them."""

    def add(step: str, value: float, unit: str, limit: str, note: str = "") -> None:
        scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
        table.add(step=step, value=round(value * scale, 3), unit=unit, limit=limit, note=note)

    shape = (128, 7168, 2048)
    imports = [seconds(IMPORT, root=root) for _ in range(repeat)]
    add("import on top of torch", min(imports), "s", "0.3")

    first = seconds(PREPARE, *shape, root=root)
    clear_kernels(root)
    cold = []
    for _ in range(repeat):
        cold.append(seconds(PREPARE, *shape, root=root))
        clear_kernels(root)
    once = first - min(cold)
    add("once per machine: emulator runtime and precompiled header", once, "s", "30", "one build")
    add("cold compile, precompiled header present", min(cold), "s", "1.0")

    seconds(PREPARE, *shape, root=root)
    hits = [seconds(PREPARE, *shape, root=root) for _ in range(repeat)]
    add("disk hit in a new process, after import", min(hits), "ms", "20")

    for kind, note in (("plain", ""), ("alpha", "alpha=0.5"), ("c", "c=d")):
        value = min(seconds(REPEATED, *shape, kind, root=root) for _ in range(2))
        add("repeated call, empty launch", value, "us", "30", note)
    add("repeated call, 1x1x1 on the emulator", seconds(EMPTY_LAUNCH, root=root), "us", "")


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--repeat", default=5, show_default=True, help="Processes per step; the best counts.")
def main(path: Path | None, repeat: int) -> None:
    """Measure in an empty cache, print a table, and write CSV rows."""
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    table = CsvTable(("step", "value", "unit", "limit", "note"), command)
    with tempfile.TemporaryDirectory(prefix="bench-jit-") as folder:
        measure(Path(folder), repeat, table)
    print_rows(f"host costs on {machine()}", table)
    if path is not None:
        table.write(path)


if __name__ == "__main__":
    main()
