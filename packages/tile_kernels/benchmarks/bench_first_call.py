"""First call of operators from an empty cache: what its parts take, on this machine.

Each operator runs in a process of its own, forked after all imports. Its cache holds the emulator
runtime and the precompiled header, which the first kernel of a machine builds, and nothing else.
Texts that came with the package count as the user has them; `--lower` leaves them out, which is
what a call with rare options takes; `--options` measures all cases of `bench_options.py` instead
of one per operator. Wall time means something on an idle machine only; CPU time
suffers less from other work.

Run: python benchmarks/bench_first_call.py [--csv results/first_call.csv] [--only gate] [--lower]
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bench_options
import click
import torch
from bench_io import Row, report
from first_call_cases import cases, import_kernels

COLUMNS = (
    "operator", "kernels", "shipped", "wall_s", "cpu_s", "lower_s", "compilers_s", "rest_s",
    "slowest_passes",
)  # fmt: skip
PREFIXES = ("TK", "DJ")
SHARED = ("pch", "runtime")
Make = Callable[[], Callable[[], Any]]


def warm_root(folder: Path) -> Path:
    """A cache with the emulator runtime and the precompiled header."""
    root = folder / "warm"
    child = os.fork()
    if child == 0:
        _use_cache(root)
        cases()["randn"]()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise click.ClickException("the first kernel of the machine failed, see above")
    return root


def in_child(root: Path, answer_of: Callable[[], Any]) -> Any:
    """The JSON answer of a function in a forked process that has `root` as its cache."""
    answer, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        _use_cache(root)
        with os.fdopen(write, "w") as file:
            json.dump(answer_of(), file)
        os._exit(0)
    os.close(write)
    with os.fdopen(answer) as file:
        text = file.read()
    os.waitpid(child, 0)
    if not text:
        raise click.ClickException("a child failed, see above")
    return json.loads(text)


def measure(name: str, make: Make, warm: Path, folder: Path) -> Row:
    """What the first call of an operator takes.

    Args:
        name: of the row.
        make: makes the inputs and returns the call.
        warm: a cache with what all kernels share.
        folder: for the call's own cache.

    Returns:
        `kernels`, and how many of them came `shipped` as text. `wall_s` and `cpu_s` of all;
        `lower_s` of TileLang's passes, `compilers_s` of the C++ compiler, `rest_s` of everything
        else, all CPU seconds. The slowest passes with their seconds.
    """
    root = Path(tempfile.mkdtemp(dir=folder))
    for part in SHARED:
        (root / part).symlink_to(warm / part)
    row: Row = in_child(root, lambda: _first_call(name, make, root))
    shutil.rmtree(root)
    return row


def _first_call(name: str, make: Make, root: Path) -> Row:
    call, known = make(), len(list((root / "cache").glob("*")))
    passes, shipped = _time_passes(), _count_shipped()
    before, start = os.times(), time.perf_counter()
    call()
    wall, after = time.perf_counter() - start, os.times()
    own = after.user + after.system - before.user - before.system
    compilers = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    lowering = sum(passes.values())
    slowest = sorted(passes.items(), key=lambda item: -item[1])[:3]
    return {
        "operator": name,
        "kernels": len(list((root / "cache").glob("*"))) - known,
        "shipped": len(shipped),
        "wall_s": round(wall, 2),
        "cpu_s": round(own + compilers, 2),
        "lower_s": round(lowering, 2),
        "compilers_s": round(compilers, 2),
        "rest_s": round(own - lowering, 2),
        "slowest_passes": ", ".join(f"{key} {value:.2f}" for key, value in slowest),
    }


def _use_cache(root: Path) -> None:
    for prefix in PREFIXES:
        os.environ[f"{prefix}_JIT_CACHE_DIR"] = str(root)


def _time_passes() -> dict[str, float]:
    """CPU seconds of each pass of TileLang, which later calls fill."""
    from tvm.ir.transform import Pass

    seconds: dict[str, float] = {}
    run = Pass.__call__

    def timed(self: Any, module: Any) -> Any:
        start = time.process_time()
        result = run(self, module)
        name = str(self.info.name)
        seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
        return result

    Pass.__call__ = timed
    return seconds


def _count_shipped() -> list[str]:
    """Names of the kernels whose texts came with the package, which later calls fill."""
    from tile_kernels._shared.jit.tilelang.shipped_texts import ShippedTexts

    names: list[str] = []
    find = ShippedTexts.find

    def counted(self: ShippedTexts, name: str, key: str) -> Any:
        found = find(self, name, key)
        names.extend([name] if found is not None else [])
        return found

    ShippedTexts.find = counted  # type: ignore[method-assign]
    return names


def option_names(root: Path) -> list[str]:
    """The cases of `bench_options.py`."""
    few = bench_options.cases(128, 7168)
    names: list[str] = in_child(root, lambda: [f"{name} {case}" for name, case, *_ in few])
    return names


def option_call(wanted: str) -> Callable[[], Any]:
    """A case on few rows; kernels that make inputs of it or of an earlier one are known then."""
    few = bench_options.cases(128, 7168)
    return next(call for name, case, _, call in few if f"{name} {case}" == wanted)


def _ready(call: Callable[[], Any]) -> Callable[[], Any]:
    return call


def rows(options: bool, only: str) -> Iterator[Row]:
    """All calls whose name holds `only`."""
    with tempfile.TemporaryDirectory() as name:
        warm = warm_root(Path(name))
        if options:
            makes = {case: partial(option_call, case) for case in option_names(warm)}
        else:
            makes = {operator: partial(_ready, call) for operator, call in cases().items()}
        for operator, make in makes.items():
            if only in operator:
                yield measure(operator, make, warm, Path(name))


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--only", default="", help="Operators whose name holds this text.")
@click.option("--lower", is_flag=True, help="Leave texts that came with the package out.")
@click.option("--options", is_flag=True, help="All cases of bench_options.py.")
@click.option("--smoke", is_flag=True, help="One operator, to try the program itself.")
def main(path: Path | None, only: str, lower: bool, options: bool, smoke: bool) -> None:
    """Measure, print a table, and write CSV rows."""
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    os.environ["TK_JIT_SHIPPED_TEXTS"] = str(int(not lower))
    import_kernels()
    title = "first call from an empty cache, seconds"
    report(title, COLUMNS, rows(options, "normalize_weight" if smoke else only), path)


if __name__ == "__main__":
    main()
