"""`deep_gemm.testing.bench_msprof` on the emulator (deep_gemm.md 1.14)."""

from __future__ import annotations

import pytest
import torch

import deep_gemm
from deep_gemm.errors import DeepGemmValueError
from deep_gemm.testing import KernelProfile, bench_msprof


@pytest.fixture(scope="module")
def gemm():
    a = torch.randn(64, 128).bfloat16()
    b = torch.randn(96, 128).bfloat16()
    d = torch.empty(64, 96, dtype=torch.bfloat16)
    return lambda: deep_gemm.bf16_gemm_nt(a, b, d)


def test_one_kernel_by_name(gemm):
    profile = bench_msprof(gemm, "gemm_impl")
    assert isinstance(profile, KernelProfile)
    assert profile.modelled
    assert profile.dur_us == pytest.approx(profile.dur_ns / 1000)
    assert 0 < profile.aic_mad < 1
    assert 0 < profile.aic_mte2 < 1
    assert profile.aic_total_cycles > 0
    assert profile.tflops(2 * 64 * 96 * 128) < 1
    assert profile.gbps(1000) == pytest.approx(1000 / profile.dur_ns)


def test_lists_and_all_kernels(gemm):
    found, missed = bench_msprof(gemm, ["gemm_impl", "softmax"])
    assert found is not None
    assert missed is None
    everything = bench_msprof(gemm, return_all_kernels=True)
    assert list(everything.values()) == [found]


def test_several_launches_of_one_kernel_are_averaged(gemm):
    once = bench_msprof(gemm, "gemm_impl")
    assert bench_msprof(lambda: (gemm(), gemm()), "gemm_impl") == once


def test_no_match_lists_what_ran(gemm):
    with pytest.raises(RuntimeError, match=r"0 kernels match 'softmax'.*bf16_gemm_impl"):
        bench_msprof(gemm, "softmax")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "kernel_names is None"),
        ({"kernel_names": "x", "backend": "quick"}, "backend is 'quick'"),
        ({"kernel_names": "x", "num_tests": 0}, "num_tests is 0"),
        ({"kernel_names": "x", "num_warmups": -1}, "num_warmups is -1"),
    ],
)
def test_bad_arguments(gemm, arguments, message):
    with pytest.raises(DeepGemmValueError, match=message):
        bench_msprof(gemm, **arguments)


def test_the_barrier_is_called_on_request(gemm):
    calls = []
    bench_msprof(gemm, "gemm_impl", barrier_comm_profiling=True, barrier=lambda: calls.append(1))
    bench_msprof(gemm, "gemm_impl", barrier=lambda: calls.append(2))
    assert calls == [1]


def test_results_are_computed(gemm):
    a = torch.ones(16, 16).bfloat16()
    d = torch.zeros(16, 16, dtype=torch.bfloat16)
    bench_msprof(lambda: deep_gemm.bf16_gemm_nt(a, a, d), "gemm_impl")
    assert (d == 16).all()


@pytest.mark.parametrize("m", [16, 128])
def test_vector_functions_are_charged_for_their_schedule(m):
    a, b = torch.ones(m, 32).bfloat16(), torch.ones(64, 32).bfloat16()
    d = torch.empty(m, 64, dtype=torch.float32)
    bench_msprof(lambda: deep_gemm.bf16_gemm_nt(a, b, d, alpha=2.0), "gemm_impl")
    profile = deep_gemm.last_profile()
    busy = profile.vector_busy["V"] * profile.vector_cores_used * profile.cycles
    # One vector of 64 floats a row; each result tile is a function of its own: start and drain 35,
    # load 6, multiply 8 and store 9 of the first row, a cycle more for each further row
    num_functions = (busy - m) / (35 + 6 + 8 + 9 - 1)
    assert num_functions >= 1
    assert num_functions == pytest.approx(round(num_functions))


def test_skipped_data_takes_the_same_time_and_writes_nothing():
    a = torch.ones(64, 64).bfloat16()
    d = torch.full((64, 64), 7.0, dtype=torch.bfloat16)
    with deep_gemm.emulator(data="skip"):
        skipped = bench_msprof(lambda: deep_gemm.bf16_gemm_nt(a, a, d), "gemm_impl")
    assert (d == 7).all()
    assert bench_msprof(lambda: deep_gemm.bf16_gemm_nt(a, a, d), "gemm_impl") == skipped
    assert (d == 64).all()
