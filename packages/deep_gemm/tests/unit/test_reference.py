"""The vendor-library names against fp64 (deep_gemm.md section 1.10)."""

from __future__ import annotations

import itertools

import pytest
import torch

import deep_gemm
from deep_gemm import DeepGemmTypeError, DeepGemmValueError
from deep_gemm.testing import (
    GemmCase,
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    error_bound,
    make_inputs,
)
from deep_gemm.testing.par_compile import dry_run

CASES = [
    GemmCase(9, 7, 33, suffix, fp32=fp32, c=c)
    for suffix, fp32, c in itertools.product(
        ("nt", "nn", "tn", "tt"), (False, True), ("none", "in_place", "other")
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_matches_fp64(case: GemmCase) -> None:
    data = make_inputs(case)
    getattr(deep_gemm, f"aclnn_bf16_gemm_{case.suffix}")(data.a, data.b, data.d, data.c)
    reference = bf16_reference(data.a_mk, data.b_nk, data.c_value)
    bound = error_bound(data.a_mk, data.b_nk, case.dtype, data.c_value)
    assert_close_to_reference(data.d, reference, bound, str(case))
    if case.c == "other":
        assert data.c is not None
        assert data.c_value is not None
        assert_equal(data.c, data.c_value)


def test_checks_are_those_of_the_kernel() -> None:
    a, d = torch.ones(4, 4).bfloat16(), torch.zeros(4, 4)
    with pytest.raises(DeepGemmTypeError, match="Unsupported operand dtypes"):
        deep_gemm.aclnn_bf16_gemm_nt(a.float(), a, d)
    with pytest.raises(DeepGemmValueError, match="overlaps"):
        deep_gemm.aclnn_bf16_gemm_nt(a, a, a)


def test_dry_run_writes_nothing() -> None:
    a, d = torch.ones(4, 4).bfloat16(), torch.zeros(4, 4)
    with dry_run():
        deep_gemm.aclnn_bf16_gemm_nt(a, a, d)
    assert_equal(d, torch.zeros(4, 4))
