"""Shapes of real models, and sizes that leave one block (deep_gemm.md section 6.2)."""

from __future__ import annotations

import pytest
import torch
from gemm_runs import call, run_case

import deep_gemm
from deep_gemm.testing import (
    GemmCase,
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    calc_diff,
    enumerate_bf16,
    error_bound,
    make_inputs,
)

# Published cases that take at most a few seconds here; --level=2 runs larger ones
SMALL, LARGE = 150_000_000, 20_000_000_000
PUBLISHED = list(enumerate_bf16(LARGE))


def check(case: GemmCase, seed: int) -> None:
    data, result = run_case(case, seed)
    reference = bf16_reference(data.a_mk, data.b_nk, data.c_value, case.alpha or 1.0)
    bound = error_bound(data.a_mk, data.b_nk, case.dtype, data.c_value, case.alpha or 1.0)
    assert_close_to_reference(result, reference, bound, str(case))
    assert calc_diff(result, reference) < 1e-5


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[pytest.mark.slow] if case.flops > SMALL else [])
        for case in PUBLISHED
    ],
)
def test_published_case(case: GemmCase) -> None:
    check(case, 1)


def test_decode_projection() -> None:
    check(GemmCase(128, 7168, 2048), 2)


def test_ragged_projection() -> None:
    check(GemmCase(130, 257, 2048), 3)


@pytest.mark.parametrize("num", [1, 3, 31, 32])
def test_the_number_of_cores_changes_no_bit(num_sms, num: int) -> None:
    case = GemmCase(300, 290, 130, compiled_dims="")
    _, wanted = run_case(case, 4)
    num_sms(num)
    _, result = run_case(case, 4)
    assert_equal(result, wanted, f"{num} cores")


def test_repeated_calls_give_the_same_bits() -> None:
    case = GemmCase(130, 257, 300, compiled_dims="")
    data = make_inputs(case)
    call(case, data)
    first = data.d.clone()
    for _ in range(3):
        data.d.normal_()
        call(case, data)
        assert_equal(data.d, first)


def test_calls_from_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    cases = [GemmCase(40 + i, 50, 60 + i, compiled_dims="") for i in range(8)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda item: check(item[1], item[0]), enumerate(cases)))


def test_fast_numerics_stay_within_tolerance() -> None:
    case = GemmCase(130, 257, 1024, fp32=True)
    data = make_inputs(case)
    with deep_gemm.emulator(numerics="fast"):
        call(case, data)
    reference = bf16_reference(data.a_mk, data.b_nk)
    assert calc_diff(data.d, reference) < 1e-5
    torch.testing.assert_close(data.d.double(), reference, rtol=1e-3, atol=1e-3)
