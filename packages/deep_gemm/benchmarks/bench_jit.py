"""Host costs: import, runtime build, cold compile, disk hit, repeated call.

Each step runs in fresh processes; the best of `--repeat` counts, except for builds that happen once
per machine. Times are taken inside those processes, after importing torch: on the clock, and CPU
time with that of the compilers, which a busy machine disturbs less. The repeated call replaces the
launch by an empty function. One CSV row a step, with the limit it is meant to keep.

Run: python benchmarks/bench_jit.py [--csv results/jit.csv] [--repeat 5]
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import click
from bench_io import CsvTable, machine, print_rows

PRELUDE = """
import gc, os, sys, time
import torch
def cpu():
    spent = os.times()
    return sum(spent[:4])
def timed(fn, count=1):
    gc.collect()
    wall, used, own = time.perf_counter(), cpu(), time.process_time()
    fn()
    own = time.process_time() - own
    used = max(cpu() - used, own)   # os.times counts hundredths, but also finished compilers
    return (time.perf_counter() - wall) / count, used / count
def load():
    global deep_gemm
    import deep_gemm
imported = timed(load)
def operands(m, n, k):
    return (torch.ones(m, k).bfloat16(), torch.ones(n, k).bfloat16(), torch.empty(m, n).bfloat16())
def best(loop, count):
    return min(timed(loop, count) for _ in range(5))
"""

IMPORT = "print(*imported)"

# Compiling and loading without the launch, so that the kernel's run time is left out
PREPARE = """
from deep_gemm import _jit
_jit.bind = lambda *args: lambda *launched: None
a, b, d = operands(*map(int, sys.argv[1:4]))
print(*timed(lambda: deep_gemm.bf16_gemm_nt(a, b, d)))
"""

REPEATED = """
from deep_gemm import _jit
_jit.bind = lambda *args: lambda *launched: None
a, b, d = operands(*map(int, sys.argv[1:4]))
options = {} if sys.argv[4] == "plain" else {"alpha": 0.5} if sys.argv[4] == "alpha" else {"c": d}
call = lambda: deep_gemm.bf16_gemm_nt(a, b, d, **options)
call()
count = 20000
def loop():
    for _ in range(count):
        call()
print(*best(loop, count))
"""

EMPTY_LAUNCH = """
a, b, d = operands(1, 1, 1)
call = lambda: deep_gemm.bf16_gemm_nt(a, b, d)
call()
def loop():
    for _ in range(200):
        call()
print(*best(loop, 200))
"""


class Cost(NamedTuple):
    """Seconds of one step: on the clock, and of CPU time with that of finished children."""

    wall: float
    cpu: float


def seconds(script: str, *arguments: object, root: Path) -> Cost:
    """What a fresh interpreter prints last."""
    # NOTE: an installed wheel has its bytecode beside it; the second process finds it here
    environ = {**os.environ, "DG_JIT_CACHE_DIR": str(root), "PYTHONPYCACHEPREFIX": f"{root}/pyc"}
    for name in ("DJ_JIT_RUNTIME_DIR", "PYTHONDONTWRITEBYTECODE"):
        environ.pop(name, None)
    command = [sys.executable, "-c", PRELUDE + script, *map(str, arguments)]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    wall, cpu = done.stdout.split()[-2:]
    return Cost(float(wall), float(cpu))


def fastest(costs: Iterable[Cost]) -> Cost:
    """The least wall time and the least CPU time."""
    walls, cpus = zip(*costs, strict=True)
    return Cost(min(walls), min(cpus))


def clear_kernels(root: Path) -> None:
    """Removes the cached kernels, keeps the runtime and the precompiled header."""
    for entry in (root / "cache").glob("bf16_gemm.*"):
        subprocess.run(["rm", "-rf", str(entry)], check=True)


def measure(root: Path, repeat: int, table: CsvTable) -> None:
    """All steps in the order a user meets them."""

    def add(step: str, cost: Cost, unit: str, limit: str, note: str = "") -> None:
        scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
        wall, cpu = (round(value * scale, 3) for value in cost)
        table.add(step=step, wall=wall, cpu=cpu, unit=unit, limit=limit, note=note)

    shape = (128, 7168, 2048)
    imports = [seconds(IMPORT, root=root) for _ in range(repeat)]
    add("import on top of torch", fastest(imports), "s", "0.3")

    first = seconds(PREPARE, *shape, root=root)
    clear_kernels(root)
    builds = []
    for _ in range(repeat):
        builds.append(seconds(PREPARE, *shape, root=root))
        clear_kernels(root)
    cold = fastest(builds)
    once = Cost(first.wall - cold.wall, first.cpu - cold.cpu)
    note = "one build on all cores; limit: CPU time"
    add("once per machine: emulator runtime and precompiled header", once, "s", "30", note)
    add("cold compile, precompiled header present", cold, "s", "1.0")

    seconds(PREPARE, *shape, root=root)
    hits = [seconds(PREPARE, *shape, root=root) for _ in range(2 * repeat)]
    add("disk hit in a new process, after import", fastest(hits), "ms", "20")

    for kind, note in (("plain", ""), ("alpha", "alpha=0.5"), ("c", "c=d")):
        calls = fastest(seconds(REPEATED, *shape, kind, root=root) for _ in range(2))
        add("repeated call, empty launch", calls, "us", "30", note)
    add("repeated call, 1x1x1 on the emulator", seconds(EMPTY_LAUNCH, root=root), "us", "")


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--repeat", default=5, show_default=True, help="Processes per step; the best counts.")
@click.option("--smoke", is_flag=True, help="One process a step, to try the program itself.")
def main(path: Path | None, repeat: int, smoke: bool) -> None:
    """Measure in an empty cache, print a table, and write CSV rows."""
    repeat = 1 if smoke else repeat
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    table = CsvTable(("step", "wall", "cpu", "unit", "limit", "note"), command)
    with tempfile.TemporaryDirectory(prefix="bench-jit-") as folder:
        measure(Path(folder), repeat, table)
    print_rows(f"host costs on {machine()}", table)
    if path is not None:
        table.write(path)


if __name__ == "__main__":
    main()
