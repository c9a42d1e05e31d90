"""Times of the TileLang bridge and of SIMT kernels (emulator.md section 6).

Method: the first lowering of a process and the builds a machine makes once are done before timing.
Lowering, compile and load are single measurements of a kernel that is in no cache; "from disk" is
what a new process needs after its imports for the first call of a function that an earlier process
called. SIMT kernels and torch alternate round by round, each round counts its best call, and the
median of the rounds is printed; torch runs on one thread, the emulator on one and on all cores.
"Caller's share" is the part of the CPU time that the calling thread spent: it tells how the blocks
were shared out also on a busy machine, where times do not.

Run: python benchmarks/bench_tilelang.py [--rounds 7] [--csv results/tilelang.csv]
"""

from __future__ import annotations

import csv
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

EXAMPLES = Path(__file__).parents[1] / "examples" / "tilelang"
Row = tuple[str, float, float | None, float | None]  # seconds: ours, torch; caller's share


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def gelu(x):  # type: ignore[no-untyped-def]
    """GELU by tanh: no thread waits for another."""
    n = T.const("n")
    x: T.Tensor((n,), T.float32)
    y = T.empty((n,), T.float32)
    with T.Kernel(n // 4096) as bx:
        tile = T.alloc_shared((4096,), T.float32)
        T.copy(x[bx * 4096], tile)
        with T.SimtVF(threads=256):
            for i in T.Parallel(4096):
                v = tile[i]
                tile[i] = 0.5 * v * (1.0 + T.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))
        T.copy(tile, y[bx * 4096])
    return y


_FROM_DISK = """
import importlib.util, sys, time, torch
spec = importlib.util.spec_from_file_location("example", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import deep_jit
deep_jit.tilelang.runtime
x = torch.randn(256, 1024)
start, cpu = time.perf_counter(), time.process_time()
module.softmax(x)
print(time.perf_counter() - start, time.process_time() - cpu)
"""


def load_example(name: str) -> Any:
    """Returns an example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best_of(call: Callable[[], object], repeats: int = 5) -> float:
    """Returns the shortest of some calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def compared(
    name: str, ours: Callable[[], object], torchs: Callable[[], object], rounds: int
) -> Row:
    """Returns the median of both over rounds that alternate."""
    ours()
    torchs()
    pairs = [(best_of(ours), best_of(torchs)) for _ in range(rounds)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    start, own = time.process_time(), time.thread_time()
    for _ in range(20):
        ours()
    share = (time.thread_time() - own) / (time.process_time() - start)
    return name, mine, theirs, share


def build_times() -> list[Row]:
    """Times of one kernel in no cache, and from disk in a new process."""
    from deep_jit._shared.jit.tilelang.lower import lower

    softmax = load_example("simt_softmax").softmax
    x = torch.randn(256, 1024)
    function = softmax.original.get_tir(x)
    outputs = (1,)
    lower(function, {}, outputs)  # the first lowering of a process
    start = time.perf_counter()
    lowered = lower(function, {}, outputs)
    lowering = time.perf_counter() - start
    runtime = deep_jit.tilelang.runtime
    runtime.backend.prepare()
    source = f"// {time.time()}\n{lowered.source}"
    start = time.perf_counter()
    runtime.compile_without_load("bench", source)
    compiling = time.perf_counter() - start
    start = time.perf_counter()
    runtime.compile("bench", source)
    loading = time.perf_counter() - start
    softmax(x)
    example = str(EXAMPLES / "simt_softmax.py")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(_FROM_DISK)
        script.flush()
        command = [sys.executable, script.name, example]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    from_disk, cpu = map(float, text.split())
    return [
        ("lowering", lowering, None, None),
        ("compile", compiling, None, None),
        ("load", loading, None, None),
        ("first call from disk", from_disk, None, None),
        ("first call from disk, CPU time", cpu, None, None),
    ]


def simt_times(rounds: int, threads: int) -> list[Row]:
    """SIMT kernels on `threads` host threads against torch on one."""
    softmax, top_k = load_example("simt_softmax").softmax, load_example("topk_gate").top_k
    x, scores, values = torch.randn(256, 1024), torch.randn(256, 256), torch.randn(1 << 20)
    on = f"on {threads}"
    with deep_jit.emulator(threads=threads):
        return [
            compared(
                f"SIMT softmax 256x1024 {on}",
                lambda: softmax(x),
                lambda: torch.softmax(x, 1),
                rounds,
            ),
            compared(
                f"SIMT top-8 of 256x256 {on}",
                lambda: top_k(scores),
                lambda: torch.topk(scores, 8, dim=1),
                rounds,
            ),
            compared(
                f"SIMT gelu of 2^20 {on}",
                lambda: gelu(values),
                lambda: torch.nn.functional.gelu(values, approximate="tanh"),
                rounds,
            ),
        ]


@click.command(help=__doc__)
@click.option("--rounds", default=7, show_default=True)
@click.option("--csv", "path", type=click.Path(path_type=Path), help="File to write.")
@click.option("--smoke", is_flag=True, help="One round, to try the program itself.")
def main(rounds: int, path: Path | None, smoke: bool) -> None:
    """Runs all measurements and prints a table."""
    rounds = 1 if smoke else rounds
    torch.set_num_threads(1)
    counts = sorted({1, len(os.sched_getaffinity(0))})
    rows = build_times()
    for threads in counts:
        rows += simt_times(rounds, threads)
    for name, ours, theirs, share in rows:
        ratio = "" if theirs is None else f"  torch {theirs * 1e3:7.3f} ms  {ours / theirs:5.1f}x"
        ratio += "" if share is None else f"  caller's share {share:4.2f}"
        click.echo(f"{name:32} {ours * 1e3:9.2f} ms{ratio}")
    if path is not None:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["what", "ours_s", "torch_s", "caller_share"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
