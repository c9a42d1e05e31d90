"""Host costs of the JIT without any component: keys, cache hits, launches (deep_jit.md 11 to 16).

What happens once a process is measured in fresh processes after importing numpy; the rest in this
one. The best of `--repeat` counts, on the clock and in CPU time with that of finished compilers,
which a busy machine disturbs less. Building the emulator is left out: `deep_gemm`'s bench_jit.py
has it.

Run: python benchmarks/bench_jit.py [--csv results/jit.csv] [--repeat 5]
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

import deep_jit

SOURCE = """#include <c_api/asc_simd.h>
#include <bench/h0.hpp>
extern "C" __global__ __vector__ void add(__gm__ int32_t* out, int32_t value) {
    if (value) out[asc_get_block_idx()] += value;
}
"""
NUM_HEADERS = 64


class Cost(NamedTuple):
    """Seconds: on the clock, and of CPU time."""

    wall: float
    cpu: float


class Row(NamedTuple):
    """One line of the table."""

    step: str
    wall: float
    cpu: float
    unit: str
    note: str


def cpu_time() -> float:
    """CPU seconds of this process and its finished children."""
    return sum(os.times()[:4])


def timed(call: Callable[[], object], count: int = 1) -> Cost:
    """The cost of one of `count` calls."""
    own, used, wall = time.process_time(), cpu_time(), time.perf_counter()
    for _ in range(count):
        call()
    wall = time.perf_counter() - wall
    # NOTE: os.times counts hundredths of a second, but also compilers
    return Cost(wall / count, max(cpu_time() - used, time.process_time() - own) / count)


def best(costs: Iterable[Cost]) -> Cost:
    """The least of each kind of time."""
    walls, cpus = zip(*costs, strict=True)
    return Cost(min(walls), min(cpus))


def make_runtime(folder: Path) -> deep_jit.Runtime:
    """A runtime whose key covers a chain of headers."""
    config = deep_jit.Config(
        folder, "BENCH", include_dirs=[folder / "include"], include_prefixes=["bench/"]
    )
    return deep_jit.Runtime(config, backend="cpu")


def write_headers(folder: Path) -> None:
    """`h0.hpp` includes all others."""
    headers = folder / "include" / "bench"
    headers.mkdir(parents=True)
    names = [f"h{index}.hpp" for index in range(NUM_HEADERS)]
    for name in names[1:]:
        (headers / name).write_text(f"#pragma once\n// {name}\n" * 20)
    (headers / names[0]).write_text("".join(f"#include <bench/{name}>\n" for name in names[1:]))


def first_call(folder: Path) -> None:
    """Child: import, then compile or find one kernel and load it; prints the costs of both."""
    runtime = make_runtime(folder)
    print(*timed(lambda: runtime.compile("add", SOURCE)))


def in_new_process(folder: Path, code: str) -> Cost:
    """What a fresh interpreter prints."""
    # NOTE: an installed wheel has its bytecode beside it
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "pyc")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [sys.executable, "-c", f"import numpy\n{code}", str(folder)]
    done = subprocess.run(
        words, env=environ, check=True, capture_output=True, text=True, cwd=Path(__file__).parent
    )
    wall, cpu = done.stdout.split()[-2:]
    return Cost(float(wall), float(cpu))


IMPORT = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import deep_jit
deep_jit.Runtime
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
FIRST_CALL = """
import pathlib, sys
import bench_jit
bench_jit.first_call(pathlib.Path(sys.argv[1]))
"""


def process_rows(folder: Path, repeat: int) -> Iterable[Row]:
    """Costs that a process has once."""
    imported = best(in_new_process(folder, IMPORT) for _ in range(repeat))
    yield Row("import", *imported, "ms", "with numpy there")
    in_new_process(folder, FIRST_CALL)  # builds what a machine builds once
    colds = []
    for _ in range(repeat):
        for entry in (folder / "root" / "cache").glob("add.*"):
            subprocess.run(["rm", "-rf", str(entry)], check=True)
        colds.append(in_new_process(folder, FIRST_CALL))
    yield Row("compile a small kernel", *best(colds), "ms", "precompiled header present")
    hits = best(in_new_process(folder, FIRST_CALL) for _ in range(2 * repeat))
    yield Row("disk hit in a new process", *hits, "ms", f"{NUM_HEADERS} tracked headers")


def call_rows(folder: Path, repeat: int) -> Iterable[Row]:
    """Costs of repeated calls."""
    runtime = make_runtime(folder)
    kernel = runtime.compile("add", SOURCE)
    out = np.zeros(32, np.int32)

    def measured(call: Callable[[], object], count: int) -> Cost:
        call()
        return best(timed(call, count) for _ in range(repeat))

    headers = f"{NUM_HEADERS} headers looked at again"
    yield Row("key", *measured(lambda: runtime.cache_key(SOURCE), 200), "us", headers)
    hit = measured(lambda: runtime.compile("add", SOURCE), 200)
    yield Row("compile, memory hit", *hit, "us", headers)
    yield Row("pack two arguments", *measured(lambda: kernel.pack(out, 0), 20000), "us", "")
    for blocks in (1, 32):
        options = deep_jit.LaunchOptions(num_blocks=blocks)
        cost = measured(lambda: kernel(options, out, 0), 500)  # noqa: B023
        yield Row("launch of an empty kernel", *cost, "us", f"{blocks} blocks")
    one = deep_jit.LaunchOptions(num_blocks=1)
    cost = measured(lambda: kernel(one, out, 0, isolate=True), 20)
    yield Row("the same in a child process", *cost, "us", "isolate=True, 1 block")


def show(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Prints the rows; returns them as text."""
    texts: list[tuple[str, ...]] = []
    for row in rows:
        scale = {"ms": 1e3, "us": 1e6}[row.unit]
        text = (row.step, f"{row.wall * scale:.2f}", f"{row.cpu * scale:.2f}", row.unit, row.note)
        print(f"{text[0]:<28}{text[1]:>10} {text[3]}  (CPU {text[2]:>8})  {text[4]}", flush=True)
        texts.append(text)
    return texts


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--repeat", default=5, show_default=True, help="Measurements; the best counts.")
@click.option("--smoke", is_flag=True, help="One measurement each, to try the program itself.")
def main(path: Path | None, repeat: int, smoke: bool) -> None:
    """Measure in an empty cache, print the rows, and write them as CSV."""
    repeat = 1 if smoke else repeat
    with tempfile.TemporaryDirectory(prefix="bench-jit-") as name:
        folder = Path(name)
        os.environ["BENCH_JIT_CACHE_DIR"] = str(folder / "root")
        write_headers(folder)
        rows = [*show(process_rows(folder, repeat)), *show(call_rows(folder, repeat))]
    if path is not None:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("step", "wall", "cpu", "unit", "note"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
