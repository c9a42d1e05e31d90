"""Atomics on GM from all threads of several blocks (ascend_c_vector.md section 14.4)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

THREADS, BLOCKS = 256, 8
COUNT = THREADS * BLOCKS


def _launch(simt, body: str, kind: str, out: np.ndarray) -> None:
    text = f"""
    __simt_vf__ inline void f(__gm__ {kind}* p) {{
        int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
        {body}
    }}
    __global__ __vector__ void kernel(__gm__ {kind}* p) {{ asc_vf_call<f>(dim3({THREADS}), p); }}
    """
    simt.compile(text)(out, blocks=BLOCKS)


@pytest.mark.parametrize("kind", ["int32_t", "uint32_t", "int64_t", "uint64_t", "float"])
@pytest.mark.parametrize("case", ["add", "sub", "max", "min", "exch"])
def test_numbers(simt, kind, case):
    dtype = np.float32 if kind == "float" else np.dtype(kind[:-2])
    start = 0 if case != "min" else 10**6
    if case == "sub":
        start = COUNT * 2
    out = np.full(1, start, dtype)
    value = "1" if case in ("add", "sub") else "i"
    _launch(simt, f"asc_atomic_{case}(p, ({kind})({value}));", kind, out)
    wanted = {"add": COUNT, "sub": COUNT, "max": COUNT - 1, "min": 0}
    if case == "exch":
        assert 0 <= out[0] < COUNT
    else:
        assert out[0] == wanted[case]


def test_returned_values_are_all_different(simt):
    out = np.zeros(1 + COUNT, np.int32)
    _launch(simt, "p[1 + asc_atomic_add(p, 1)] += 1;", "int32_t", out)
    assert out[0] == COUNT
    assert (out[1:] == 1).all()


def test_counters_wrap_at_their_limit(simt):
    out = np.zeros(2, np.uint32)
    _launch(simt, "asc_atomic_inc(p, 99); asc_atomic_dec(p + 1, 99);", "uint32_t", out)
    assert out[0] == COUNT % 100
    assert out[1] == (100 - COUNT % 100) % 100


def test_bits(simt):
    out = np.array([0, 0xFFFFFFFF, 0], np.uint32)
    body = "asc_atomic_or(p, 1u << (i % 32)); asc_atomic_and(p + 1, ~(1u << (i % 16)));"
    _launch(simt, body + "asc_atomic_xor(p + 2, 1u << (i % 32));", "uint32_t", out)
    assert list(out) == [0xFFFFFFFF, 0xFFFF0000, 0]


@pytest.mark.parametrize("kind", ["int32_t", "uint64_t", "float"])
def test_compare_and_swap_counts(simt, kind):
    dtype = np.float32 if kind == "float" else np.dtype(kind[:-2])
    out = np.zeros(1, dtype)
    body = f"""
    {kind} old = asc_ldcg(p);
    while (true) {{
        {kind} seen = asc_atomic_cas(p, old, ({kind})(old + 1));
        if (seen == old) break;
        old = seen;
    }}
    """
    _launch(simt, body, kind, out)
    assert out[0] == COUNT


@pytest.mark.parametrize("kind", ["half", "bfloat16_t"])
def test_small_floats(simt, kind):
    dtype = np.float16 if kind == "half" else ml_dtypes.bfloat16
    out = np.zeros(4, dtype)
    pair = "half2" if kind == "half" else "bfloat16x2_t"
    body = f"""
    if (i < 64) {{
        asc_atomic_add(p, {kind}(1.0f));
        asc_atomic_max(p + 1, {kind}((float)i));
        asc_atomic_add(({pair}*)(p + 2), {pair}{{{kind}(1.0f), {kind}(2.0f)}});
    }}
    """
    text = f"""
    __simt_vf__ inline void f(__gm__ {kind}* p) {{
        int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
        {body}
    }}
    __global__ __vector__ void kernel(__gm__ uint16_t* p) {{
        asc_vf_call<f>(dim3({THREADS}), (__gm__ {kind}*)p);
    }}
    """
    simt.compile(text)(out.view(np.uint16), blocks=BLOCKS)
    assert list(out.astype(np.float32)) == [64, 63, 64, 128]
