"""The MX GEMM is silent under all four checkers, with tails, in both forms and both schedules."""

from __future__ import annotations

from typing import Any

import pytest

import deep_gemm
from deep_gemm._shared.emulator import emulator, record
from deep_gemm.testing.generators import GemmCase
from deep_gemm.testing.mx import MxCase, make_mx_inputs

CASES = [
    MxCase(GemmCase(64, 64, 64)),
    MxCase(GemmCase(1, 3, 50, fp32=True)),
    MxCase(GemmCase(130, 272, 1812)),
    MxCase(GemmCase(130, 257, 1100, fp32=True, c="in_place"), sf_pad=3),
    MxCase(GemmCase(130, 257, 1108), fp4=True),
    MxCase(GemmCase(130, 272, 2048, c="in_place"), fp4=True),
]
SCHEDULES: list[dict[str, Any]] = [{"schedule": "immediate"}, {"schedule": "deferred", "seed": 3}]


@pytest.mark.parametrize("options", SCHEDULES, ids=["immediate", "deferred"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_silent(case: MxCase, options: dict[str, Any]) -> None:
    inputs = make_mx_inputs(case)
    with emulator(checks="all", **options), record() as reports:
        deep_gemm.fp8_fp4_gemm_nt(inputs.a, inputs.b, inputs.d, inputs.c, compiled_dims="")
    assert [str(report) for report in reports] == []
