"""Lanes of a warp meet behind the loops of functions that run a thread at a time."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit.source_pass import rewrite

_MEET = "::asc_emu::meet();"


@pytest.mark.parametrize(
    "loop",
    [
        "for (uint32_t i = threadIdx.x; i < 256; i += 32) { p1[i] = p0[i]; }",
        "uint32_t i = threadIdx.x; while (i < 256) { p1[i] = p0[i]; i += 32; }",
        "uint32_t i = threadIdx.x; do { p1[i] = p0[i]; i += 32; } while (i < 256);",
    ],
    ids=["for", "while", "do"],
)
def test_a_lane_reads_behind_a_loop_what_later_lanes_stored_in_it(simt, loop):
    data = np.arange(1, 257, dtype=np.float32)
    shared, out = np.zeros(256, np.float32), np.zeros(32, np.float32)
    body = f"{loop}\np2[threadIdx.x] = p1[255 - threadIdx.x];"
    simt.run(body, 32, data, shared, out, mode="threads")
    assert (out == data[255:223:-1]).all()


def test_lanes_that_leave_or_wait_elsewhere_hold_nobody_up(simt):
    body = """
    for (int i = 0; i < 3; ++i) {
        if (threadIdx.x == 5) return;
        if (i == (int)(threadIdx.x % 3)) break;
    }
    asc_syncthreads();
    for (int i = 0; i < (int)threadIdx.x; ++i) { p0[threadIdx.x] += 1; }
    p0[threadIdx.x] += asc_reduce_add(1) * 100;
    """
    out = np.zeros(64, np.int32)
    simt.run(body, 64, out, mode="threads")
    wanted = np.arange(64) + np.repeat([3100, 3200], 32)
    wanted[5] = 0
    assert (out == wanted).all()


def test_simt_kernels_meet_and_scalar_code_does_not():
    loop = "for (int i = 0; i < 4; ++i) { p[i] = i; } p[4] = 1;"
    met = [
        f"__global__ __launch_bounds__(32) void kernel(int* p) {{ {loop} }}",
        f"template <int N> __simt_vf__ inline void f(int* p) {{ {loop} }}",
    ]
    for text in met:
        assert f"}} {_MEET} p[4]" in rewrite(text, path="kernel.asc", program=True).text
    others = [
        f"__global__ __vector__ void kernel(int* p) {{ {loop} }}",
        f"__global__ __vector__ __launch_bounds__(32) void kernel(int* p) {{ {loop} }}",
        f"__simt_vf__ inline void f(int* p) {{ {loop} }}",  # runs all threads in one call
        "__global__ __launch_bounds__(32) void kernel(int* p) { for (;;) { p[0] = 1; } }",
    ]
    for text in others:
        assert _MEET not in rewrite(text, path="kernel.asc", program=True).text
