"""NaN, infinity, subnormals, overflow and cancellation."""

from __future__ import annotations

import math

import pytest
import torch

import deep_gemm
from deep_gemm.testing import assert_equal

INF, NAN = math.inf, math.nan
SHAPE = (33, 40, 17)


def gemm(
    a: torch.Tensor, b: torch.Tensor, *, dtype: torch.dtype = torch.float32, **options: object
) -> torch.Tensor:
    d = torch.full((a.shape[0], b.shape[0]), 5.0).to(dtype)
    deep_gemm.bf16_gemm_nt(a, b, d, compiled_dims="", **options)
    return d


def ones() -> tuple[torch.Tensor, torch.Tensor]:
    m, n, k = SHAPE
    return torch.ones(m, k).bfloat16(), torch.ones(n, k).bfloat16()


def assert_same_class(d: torch.Tensor, reference: torch.Tensor) -> None:
    """Equal NaN positions, equal infinities, equal finite values."""
    torch.testing.assert_close(d.double(), reference, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [INF, -INF, NAN])
@pytest.mark.parametrize("position", [(0, 0), (32, 16), (7, 3)])
def test_one_special_value_in_a(dtype: torch.dtype, value: float, position) -> None:
    a, b = ones()
    a[position] = value
    b[5] = 0.0  # infinity times zero is NaN, and stays in its column
    reference = a.double() @ b.double().T
    assert torch.isnan(reference).any() or not math.isnan(value)
    assert_same_class(gemm(a, b, dtype=dtype), reference)


@pytest.mark.parametrize("value", [INF, NAN])
def test_special_values_in_b_reach_their_column_only(value: float) -> None:
    a, b = ones()
    b[39, 16] = value
    assert_same_class(gemm(a, b), a.double() @ b.double().T)


def test_opposite_infinities_cancel_to_nan() -> None:
    a, b = ones()
    a[4, 2], a[4, 9] = INF, -INF
    d = gemm(a, b)
    assert torch.isnan(d[4]).all()
    assert torch.isfinite(d[torch.arange(33) != 4]).all()


def test_c_and_alpha_propagate_special_values() -> None:
    a, b = ones()
    c = torch.zeros(33, 40)
    c[1, 1], c[2, 2] = NAN, -INF
    d = gemm(a, b, c=c)
    assert_same_class(d, a.double() @ b.double().T + c.double())
    assert torch.isnan(gemm(a, b, alpha=NAN)).all()
    assert (gemm(a, b, alpha=-INF) == -INF).all()


def test_overflow_of_the_sum_and_of_the_rounding() -> None:
    a, b = ones()
    a[0] = 2.0**127
    b[0] = 2.0
    d = gemm(a, b)
    assert d[0, 0] == INF
    # 17 * 2**127 is beyond fp32, 1 * 2**127 is not: a row of single products stays finite
    a[0, 1:] = 0.0
    assert gemm(a, b)[0, 1] == 2.0**127
    # Half an ulp below the end of bf16: finite in fp32, infinite after rounding
    a[0, 0] = torch.finfo(torch.bfloat16).max
    a[0, 1] = torch.finfo(torch.bfloat16).max * 2.0**-8
    one = torch.zeros(40, 17).bfloat16()
    one[:, :2] = 1.0
    assert torch.isfinite(gemm(a, one)[0]).all()
    assert (gemm(a, one, dtype=torch.bfloat16)[0] == INF).all()


def test_subnormal_operands_and_results_are_kept() -> None:
    a, b = torch.zeros(33, 17).bfloat16(), torch.zeros(40, 17).bfloat16()
    a[0, 0], b[0, 0] = 2.0**-130, 2.0**120
    a[1, 1], b[1, 1] = 2.0**-70, 2.0**-70
    d = gemm(a, b)
    assert d[0, 0] == 2.0**-10
    assert d[1, 1] == 2.0**-140


def test_accumulation_is_fp32_in_ascending_k() -> None:
    # 2**24 + 1 is not an fp32 number: the ones vanish behind it, but not before it
    a, b = torch.ones(33, 17).bfloat16(), torch.ones(40, 17).bfloat16()
    a[0, 0] = 2.0**24
    a[1, 16] = 2.0**24
    d = gemm(a, b)
    assert d[0, 0] == 2.0**24
    assert d[1, 0] == 2.0**24 + 16


def test_bf16_output_rounds_to_nearest_even() -> None:
    a, b = torch.zeros(33, 17).bfloat16(), torch.ones(40, 17).bfloat16()
    a[0, :2] = torch.tensor([256.0, 1.0])
    a[1, :2] = torch.tensor([258.0, 1.0])
    d = gemm(a, b, dtype=torch.bfloat16)
    assert d[0, 0] == 256.0
    assert d[1, 0] == 260.0


def test_accumulation_into_bf16_rounds_twice() -> None:
    # 257 rounds to 256 first, then 256 + 1 rounds to 256: 258 would need one rounding of 258
    a, b = torch.zeros(33, 17).bfloat16(), torch.ones(40, 17).bfloat16()
    a[0, :2] = torch.tensor([256.0, 1.0])
    d = torch.ones(33, 40).bfloat16()
    deep_gemm.bf16_gemm_nt(a, b, d, c=d, compiled_dims="")
    assert d[0, 0] == 256.0


def test_negative_zero_and_exact_zero() -> None:
    a, b = ones()
    d = gemm(a * 0.0, b)
    assert_equal(d, torch.zeros(33, 40))
