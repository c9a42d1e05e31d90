"""Comparing, counting and generating for tests and benchmarks (deep_gemm.md 1.14 and 6)."""

from __future__ import annotations

from deep_gemm.testing.bench import KernelProfile, bench_msprof, close_persistent_profiler
from deep_gemm.testing.generators import (
    GemmCase,
    GemmInputs,
    enumerate_bf16,
    enumerate_normal,
    enumerate_strided,
    enumerate_unaligned_k,
    enumerate_unaligned_mn,
    make_inputs,
)
from deep_gemm.testing.mx import (
    MxCase,
    MxInputs,
    decode_fp4,
    decode_mx,
    decode_scales,
    enumerate_mx,
    make_mx_inputs,
    pack_fp4,
    pack_scales,
)
from deep_gemm.testing.numeric import (
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    calc_diff,
    count_bytes,
    error_bound,
)

__all__ = [
    "GemmCase",
    "GemmInputs",
    "KernelProfile",
    "MxCase",
    "MxInputs",
    "assert_close_to_reference",
    "assert_equal",
    "bench_msprof",
    "bf16_reference",
    "calc_diff",
    "close_persistent_profiler",
    "count_bytes",
    "decode_fp4",
    "decode_mx",
    "decode_scales",
    "enumerate_bf16",
    "enumerate_mx",
    "enumerate_normal",
    "enumerate_strided",
    "enumerate_unaligned_k",
    "enumerate_unaligned_mn",
    "error_bound",
    "make_inputs",
    "make_mx_inputs",
    "pack_fp4",
    "pack_scales",
]
