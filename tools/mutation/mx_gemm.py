"""Runs the MX GEMM of one include folder under all checkers.

It mutates what the MX kernel adds; the parts that it shares with the BF16 GEMM are that subject's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .gemm import Verdict, copy_includes, fix_config, judge_call, read, run_cases, sources, warm

__all__ = ["judge", "prepare", "read", "sources", "warm"]

FILES = ("deep_gemm/impls/fp8_gemm.hpp",)


class Case(NamedTuple):
    """One launch on one core; K blocks and scale chunks outnumber their stages."""

    shape: tuple[int, int, int]
    config: dict[str, Any]
    fp4: bool = False
    fp32: bool = False
    accumulate: bool = False


_SPLIT = {
    "block_m": 128,
    "block_n": 256,
    "block_k": 256,
    "mad_m": 128,
    "mad_n": 128,
    "mad_k": 128,
    "num_l1_stages": 2,
    "num_l1_sf_stages": 2,
    "sf_k_blocks": 2,
}
_DIRECT = {**_SPLIT, "block_n": 128, "direct_store": True}
_FP4 = {**_SPLIT, "block_k": 512, "mad_k": 256}

# A K tail of 20, which a copy fills up to 32 only; a short last chunk; both ways out of L0C. One K
# block alone leaves the rest of its slot unwritten.
CASES = (
    Case((200, 300, 1812), _SPLIT),
    Case((100, 100, 20), _SPLIT),
    Case((200, 300, 2020), _FP4, fp4=True),
    Case((200, 304, 1100), _DIRECT, fp32=True, accumulate=True),
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
    import deep_gemm
    from deep_gemm.testing.generators import GemmCase
    from deep_gemm.testing.mx import MxCase, make_mx_inputs

    m, n, k = case.shape
    base = GemmCase(m, n, k, fp32=case.fp32, c="in_place" if case.accumulate else "none")
    inputs = make_mx_inputs(MxCase(base, fp4=case.fp4), seed=1)
    want = inputs.a_value @ inputs.b_value.T
    if inputs.c_value is not None:
        want += inputs.c_value.double()
    scale = float(want.abs().max())
    fix_config(case.config)
    return judge_call(
        lambda: deep_gemm.fp8_fp4_gemm_nt(inputs.a, inputs.b, inputs.d, inputs.c, compiled_dims=""),
        lambda: float((inputs.d.double() - want).abs().max()),
        scale * (1e-5 if case.fp32 else 1e-2),
    )
