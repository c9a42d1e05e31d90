"""The FP8 and FP4 sweep: tails, strides, suffixes, outputs against fp64, bit-stable.

Bounds: `deep_gemm.testing.error_bound` on exactly decoded operands, element by element.
"""

from __future__ import annotations

from collections import Counter

import pytest
from mx_cases import KERNELS, MAX_KERNELS, SUFFIXES, MxSweepCase, mx_sweep_cases
from mx_runs import assert_within_bound, compile_mx_cases, kernel_text, run_mx_case

from deep_gemm.testing import assert_equal

CASES = mx_sweep_cases()


@pytest.fixture(scope="module")
def compiled() -> None:
    """All kernels of the sweep, compiled in parallel: one case of each is enough."""
    first = {item.kernel: item for item in reversed(CASES)}
    compile_mx_cases([(item.mx, item.num_sms) for item in first.values()])


def test_the_list_is_large_and_balanced() -> None:
    assert len(CASES) >= 120
    assert len({str(item) for item in CASES}) == len(CASES)
    bases = [item.mx.base for item in CASES]
    suffixes = Counter(base.suffix for base in bases)
    assert set(suffixes) == set(SUFFIXES)
    assert min(suffixes.values()) >= 30
    for name in ("fp32", "c"):
        values = Counter(getattr(base, name) for base in bases)
        assert len(values) >= 2
        assert min(values.values()) >= 20, (name, values)
    for name in ("pad", "offset"):
        assert 20 <= sum(getattr(base, name) > 0 for base in bases) <= len(CASES) - 20, name
    assert sum(item.mx.sf_pad > 0 for item in CASES) >= 40
    for tail in (64, 32):
        assert sum(base.k % tail > 0 for base in bases) >= 100, tail
    assert sum(base.m % 2 == base.n % 2 == base.k % 2 == 1 for base in bases) >= 5


def test_few_kernels_serve_all_cases(num_sms) -> None:
    texts: dict[object, set[str]] = {}
    for item in CASES:
        num_sms(item.num_sms)
        texts.setdefault(item.kernel, set()).add(kernel_text(item.mx))
    assert all(len(group) == 1 for group in texts.values())
    assert len(set().union(*texts.values())) == len(KERNELS) <= MAX_KERNELS
    for kernel, (text,) in texts.items():
        assert ("direct_store" in text) == kernel.direct, kernel


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("index", range(len(CASES)), ids=[str(item) for item in CASES])
def test_mx_sweep(index: int, num_sms) -> None:
    item: MxSweepCase = CASES[index]
    num_sms(item.num_sms)
    data, result = run_mx_case(item.mx, index, threads=1, schedule="immediate")
    assert_within_bound(item.mx, data, result)

    _, threaded = run_mx_case(item.mx, index, threads=2, schedule="immediate")
    assert_equal(threaded, result, f"{item}: two threads")
    _, deferred = run_mx_case(item.mx, index, threads=1, schedule="deferred", seed=index)
    assert_equal(deferred, result, f"{item}: deferred")
