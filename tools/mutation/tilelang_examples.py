"""Runs TileLang examples with one generated text replaced; a worker process of `mutate.py`.

What is mutated is the Ascend C text that TileLang generates, so this also says whether the checkers
see through its device templates.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

NAMES = (
    *("simd_axpy", "simd_squares", "simd_fp4", "gemm_relu", "persistent_norm", "fp8_cast"),
    *("mixed_attention", "dynamic_rows", "topk_gate", "grid_barrier", "spin_chain"),
    *("simt_softmax", "warp_scan", "bitonic_sort", "atomic_histogram", "gather_scatter"),
)
EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "deep_jit" / "examples" / "tilelang"


@cache
def include_root() -> Path:
    """A folder with the generated texts: `<example>.<kernel>.asc`."""
    folder = Path(tempfile.mkdtemp(prefix="tilelang-texts-"))
    for name in NAMES:
        _run(name, folder, write=True)
    return folder


def __getattr__(name: str) -> tuple[str, ...]:
    """FILES: the texts, as paths in `include_root()`."""
    if name != "FILES":
        raise AttributeError(name)
    return tuple(sorted(path.name for path in include_root().glob("*.asc")))


def _example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    # NOTE: TileLang reads the source of a function through its module
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _run(name: str, folder: Path, *, write: bool) -> None:
    """Runs an example; its generated texts are written to, or read from, a folder."""
    from deep_jit._shared.jit.tilelang.bridge import TileLangBridge

    compiled = TileLangBridge._compiled

    def other_text(self: TileLangBridge, lowered: Any) -> Any:
        path = folder / f"{name}.{lowered.name}.asc"
        if write:
            path.write_text(lowered.source)
        return compiled(self, replace(lowered, source=path.read_text()))

    TileLangBridge._compiled = other_text  # type: ignore[method-assign]
    try:
        _example(name).main()
    finally:
        TileLangBridge._compiled = compiled  # type: ignore[method-assign]


def run_one(name: str, folder: Path) -> tuple[str, str] | None:
    """Runs an example under all checkers; None when it is silent and right."""
    from deep_jit._shared.emulator import emulator, record
    from deep_jit._shared.jit.errors import Error

    with emulator(checks="all", threads=1), record() as reports:
        try:
            _run(name, folder, write=False)
        except (Error, AssertionError) as error:
            if not reports:
                by = "numeric" if isinstance(error, AssertionError) else type(error).__name__
                return by, str(error)[:300]
    return (reports[0].checker, str(reports[0])) if reports else None


def main(folder: str, file: str | None = None) -> None:
    """Runs the example of the mutated text, or all."""
    warnings.simplefilter("ignore")
    # NOTE: the verdict has this process's stdout; the examples' own lines go to stderr
    verdict = os.dup(1)
    os.dup2(2, 1)
    by, detail = "", ""
    for name in [file.partition(".")[0]] if file else NAMES:
        found = run_one(name, Path(folder))
        if found is not None:
            by, detail = found
            break
    os.write(verdict, json.dumps({"by": by, "detail": detail}).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
