"""The GEMM sweep: every suffix, layout, stride, dtype and extra against fp64, bit-stable.

Bounds: `deep_gemm.testing.error_bound` (fp32 sums of exact products), element by element.
"""

from __future__ import annotations

from collections import Counter

import pytest
from gemm_runs import compile_cases, run_case
from sweep_cases import SUFFIXES, SweepCase, sweep_cases

from deep_gemm.testing import (
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    calc_diff,
    error_bound,
)

CASES = sweep_cases()
MAX_DIFF = 1e-5


@pytest.fixture(scope="module")
def compiled() -> None:
    """All kernels of the sweep, compiled in parallel."""
    compile_cases((item.case, item.num_sms) for item in CASES)


def test_the_list_is_large_and_balanced() -> None:
    assert len(CASES) >= 400
    assert len({str(item) for item in CASES}) == len(CASES)
    suffixes = Counter(item.case.suffix for item in CASES)
    assert set(suffixes) == set(SUFFIXES)
    assert min(suffixes.values()) >= 100
    for name in ("major_a", "major_b", "fp32", "c", "pad", "offset"):
        values = Counter(getattr(item.case, name) for item in CASES)
        assert len(values) >= 2
        assert min(values.values()) >= 15, (name, values)
    odd = [item for item in CASES if item.case.m % 2 and item.case.n % 2 and item.case.k % 2]
    assert len(odd) >= 40


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("index", range(len(CASES)), ids=[str(item) for item in CASES])
def test_sweep(index: int, num_sms) -> None:
    item: SweepCase = CASES[index]
    case = item.case
    num_sms(item.num_sms)
    data, result = run_case(case, index, threads=1, schedule="immediate")

    alpha = 1.0 if case.alpha is None else case.alpha
    reference = bf16_reference(data.a_mk, data.b_nk, data.c_value, alpha)
    bound = error_bound(data.a_mk, data.b_nk, case.dtype, data.c_value, alpha)
    assert_close_to_reference(result, reference, bound, str(item))
    assert calc_diff(result, reference) < MAX_DIFF

    _, threaded = run_case(case, index, threads=2, schedule="immediate")
    assert_equal(threaded, result, f"{item}: two threads")
    _, deferred = run_case(case, index, threads=1, schedule="deferred", seed=index)
    assert_equal(deferred, result, f"{item}: deferred")
