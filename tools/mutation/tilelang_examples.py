"""Runs TileLang examples, with the generated texts of a folder."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .tilelang_texts import read, run_checked, run_plain, texts_read, texts_written

__all__ = ["judge", "prepare", "read", "sources", "warm"]

NAMES = (
    *("simd_axpy", "simd_squares", "simd_fp4", "gemm_relu", "persistent_norm", "fp8_cast"),
    *("mixed_attention", "dynamic_rows", "topk_gate", "grid_barrier", "spin_chain"),
    *("simt_softmax", "warp_scan", "bitonic_sort", "atomic_histogram", "gather_scatter"),
)
_EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "deep_jit" / "examples" / "tilelang"


def warm() -> None:
    """Imports TileLang and the examples, which run nothing then."""
    for name in NAMES:
        _example(name)


def prepare(folder: Path, checked: bool = True) -> list[str]:
    """Runs the examples for their texts."""
    found: list[str] = []
    run = run_checked if checked else run_plain
    for name in NAMES:
        with texts_written(_bridge(), folder, name) as files:
            wrong = run("deep_jit", _example(name).main)
        if wrong:
            raise RuntimeError(f"{name} is not silent when intact: {' '.join(wrong)}")
        found += files
    return sorted(found)


def sources(file: str) -> Sequence[Path]:
    """The example, and what runs it."""
    name = file.partition(".")[0]
    example = _EXAMPLES / f"{name}.py" if name else _EXAMPLES
    return [example, Path(__file__).with_name("tilelang_texts.py")]


def judge(folder: Path, file: str | None) -> tuple[str, str] | None:
    """Runs the example of an edited text, or all."""
    for name in [file.partition(".")[0]] if file else NAMES:
        with texts_read(_bridge(), folder, name):
            found = run_checked("deep_jit", _example(name).main)
        if found is not None:
            return found
    return None


def _bridge() -> Any:
    from deep_jit._shared.jit.tilelang.bridge import TileLangBridge

    return TileLangBridge


@cache
def _example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, _EXAMPLES / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    # NOTE: TileLang reads the source of a function through its module
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
