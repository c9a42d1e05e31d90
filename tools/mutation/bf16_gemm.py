"""Runs the BF16 GEMM of one include folder under all checkers.

Cases go from the most telling one to
the rest, and the first that notices ends the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .gemm import Verdict, copy_includes, fix_config, judge_call, read, run_cases, sources, warm

__all__ = ["judge", "prepare", "read", "sources", "warm"]

FILES = (
    "deep_gemm/impls/bf16_gemm.hpp",
    "deep_gemm/common/cube_pipeline.hpp",
    "deep_gemm/epilogue/tile_ring.hpp",
    "deep_gemm/epilogue/operators.hpp",
    "deep_gemm/scheduler/tile_scheduler.hpp",
)


class Case(NamedTuple):
    """One launch on one core: tails, several tiles, more K blocks than stages."""

    shape: tuple[int, int, int]
    config: dict[str, Any]
    suffix: str = "nt"
    fp32: bool = False
    accumulate: bool = False
    alpha: float | None = None
    compiled_dims: str = ""


_SPLIT_N = {"block_m": 128, "block_n": 256, "block_k": 128, "mad_m": 128, "mad_n": 128, "mad_k": 64}
_SPLIT_M = {**_SPLIT_N, "block_m": 256, "block_n": 128}
_ONE = {**_SPLIT_N, "block_n": 128}
_DIRECT = {"direct_store": True}

# Both halves of a block, and blocks with one half only; each way out of L0C; resident operands.
CASES = (
    Case((300, 300, 1100), _SPLIT_N, alpha=1.5),
    Case((300, 300, 700), _SPLIT_M),
    Case((300, 300, 700), {**_SPLIT_M, **_DIRECT}, fp32=True),
    Case((300, 300, 330), {**_SPLIT_N, **_DIRECT}, suffix="tn", fp32=True, accumulate=True),
    Case((300, 300, 330), _ONE, suffix="nn", accumulate=True),
    Case((100, 300, 330), {**_ONE, "resident_a": True, "num_l1_stages": 2}, compiled_dims="k"),
    Case(
        (100, 300, 330),
        {**_ONE, "resident_a": True, "num_l1_stages": 2},
        suffix="tn",
        compiled_dims="k",
    ),
    Case((300, 100, 128), {**_ONE, "resident_b": True}, compiled_dims="k"),
)


def prepare(folder: Path, checked: bool = True) -> list[str]:
    """Copies the device sources; returns those that this subject mutates."""
    copy_includes(folder)
    return list(FILES)


def judge(folder: Path, file: str | None) -> Verdict | None:
    """Runs the cases with the device sources of a folder."""
    return run_cases(folder, CASES, run_case)


def run_case(case: Case) -> Verdict | None:
    """Runs one case; None when nothing is noticed."""
    import torch

    import deep_gemm

    m, n, k = case.shape
    generator = torch.Generator().manual_seed(1)
    a = torch.randn(m, k, generator=generator).bfloat16()
    b = torch.randn(n, k, generator=generator).bfloat16()
    d = torch.ones(m, n, dtype=torch.float32 if case.fp32 else torch.bfloat16)
    want = (case.alpha or 1.0) * (a.double() @ b.double().T)
    want += d.double() if case.accumulate else 0.0
    a = a.T.contiguous() if case.suffix[0] == "t" else a
    b = b.T.contiguous() if case.suffix[1] == "n" else b
    fix_config(case.config)
    function = getattr(deep_gemm, f"bf16_gemm_{case.suffix}")
    c = d if case.accumulate else None
    return judge_call(
        lambda: function(a, b, d, c, compiled_dims=case.compiled_dims, alpha=case.alpha),
        lambda: float((d.double() - want).abs().max()),
        (1e-3 if case.fp32 else 2e-2) * k**0.5,
    )
