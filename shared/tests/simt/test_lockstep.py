"""Lanes of a warp meet behind the loops of functions that run a thread at a time."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.emulator import record
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


_QUEUE = """
__simt_callee__ inline void advance(__ubuf__ uint32_t* word, uint32_t from, uint32_t to) {
    while (true) {
        if (asc_atomic_cas(word, from, to) == from) { return; }
    }
}

// Warps take turns at numbers: what a warp takes follows from what all its lanes have just read.
__simt_callee__ inline uint32_t take(
    __ubuf__ uint32_t* taken, __ubuf__ uint32_t* done, uint32_t most) {
    uint32_t got = 0;
    while (true) {
        uint32_t first = *(volatile __ubuf__ uint32_t*)taken;
        if (first >= most) { break; }
        uint32_t won = 0;
        if (laneid() == 0) { won = asc_atomic_cas(taken, first, first + 3); }
        won = asc_shfl(won, 0);
        if (won != first) { continue; }
        got += (first + 1) * 32 + (uint32_t)laneid();
        if (laneid() == 0) { advance(done, first, first + 3); }
        if (*(volatile __ubuf__ uint32_t*)done < first + 3) { got += 1000000; }
    }
    return got;
}

__simt_vf__ __launch_bounds__(256) inline void f(
    __ubuf__ uint32_t* taken, __ubuf__ uint32_t* done, __gm__ uint32_t* out) {
    out[threadIdx.x] = take(taken, done, 300);
    asc_syncthreads();
    if (threadIdx.x == 0) { out[256] = *done; }
}
__global__ __vector__ void kernel(__gm__ uint32_t* out) {
    __ubuf__ uint32_t taken[8];
    __ubuf__ uint32_t done[8];
    taken[0] = 0;
    done[0] = 0;
    asc_vf_call<f>(dim3(256), taken, done, out);
}
"""


@pytest.mark.parametrize("options", [{}, {"checks": "synccheck"}], ids=["plain", "checked"])
def test_lanes_read_a_counter_before_one_of_them_advances_it(simt, options):
    out = np.zeros(257, np.uint32)
    simt.compile(_QUEUE, **options)(out, **options)
    by_warp = out[:256].reshape(8, 32)
    turns = [first + 1 for first in range(0, 300, 3)]
    assert out[256] == 300
    assert by_warp[:, 0].sum() == 32 * sum(turns)
    # Each lane of a warp took the same turns.
    num_turns = by_warp[:, 1] - by_warp[:, 0]
    assert num_turns.sum() == len(turns)
    assert (by_warp == by_warp[:, :1] + num_turns[:, None] * np.arange(32)).all()


_IN_VAIN = """
__simt_callee__ inline int32_t wait(__gm__ const int32_t* p) {
    int32_t now = *p;
    while (now == 7) { now = *p; }
    return now;
}
__simt_vf__ __launch_bounds__(64) inline void f(__gm__ int32_t* p, __gm__ int32_t* out) {
    p[threadIdx.x / 32] = 7;
    int32_t seen = threadIdx.x % 32 == 9 ? wait(p + threadIdx.x / 32) : 1;
    out[threadIdx.x] = asc_reduce_add(seen);
    p[threadIdx.x / 32] = 8;
}
__global__ __vector__ void kernel(__gm__ int32_t* p, __gm__ int32_t* out) {
    asc_vf_call<f>(dim3(64), p, out);
}
"""


@pytest.mark.parametrize("timing", ["off", "fast"])
def test_a_wait_of_one_lane_for_another_of_its_warp_is_left(simt, timing):
    """On the device the compiler may leave it out, since C++ takes it to end by itself."""
    words, out = np.zeros(2, np.int32), np.zeros(64, np.int32)
    simt.compile(_IN_VAIN, timing=timing)(words, out, timing=timing, checks="none")
    assert (out == 31 + 7).all()
    assert (words == 8).all()


def test_a_wait_that_ended_by_itself_is_reported(simt):
    words, out = np.zeros(2, np.int32), np.zeros(64, np.int32)
    with record() as reports:
        simt.compile(_IN_VAIN)(words, out, checks="synccheck")
    (report,) = reports
    assert (report.checker, report.severity, report.count) == ("synccheck", "warning", 2)
    assert "a thread waits in vain: `*p` reads memory that is not volatile" in report.message
    (place,) = report.places
    assert (simt.head + _IN_VAIN).splitlines()[
        place.line - 1
    ].strip() == "while (now == 7) { now = *p; }"
    assert (out == 31 + 7).all()


def test_what_a_loop_reads_is_put_on_one_line():
    loop = "while (p[1] ==\n  0);"
    text = f"__simt_callee__ inline void f(int* p) {{ {loop} }}"
    result = rewrite(text, path="kernel.asc").text
    assert 'plain_wait("p[1] == 0")' in result


def test_a_wait_for_another_warp_is_no_finding_of_synccheck(simt):
    text = _IN_VAIN.replace("threadIdx.x % 32 == 9 ? wait", "threadIdx.x >= 32 ? wait")
    text = text.replace("threadIdx.x / 32", "0").replace(
        "int32_t seen", "asc_syncthreads(); int32_t seen"
    )
    words, out = np.zeros(2, np.int32), np.zeros(64, np.int32)
    with record() as reports:
        simt.compile(text)(words, out, checks="synccheck")
    assert not reports
    assert words[0] == 8


def test_a_wait_for_another_warp_is_kept(simt):
    """A race, as racecheck says; so it is not asked."""
    text = """
    __simt_callee__ inline int32_t wait(__gm__ const int32_t* p) {
        int32_t now = *p;
        while (now == 0) { now = *p; }
        return now;
    }
    __simt_vf__ __launch_bounds__(64) inline void f(__gm__ int32_t* p, __gm__ int32_t* out) {
        if (threadIdx.x < 32) { out[threadIdx.x] = asc_reduce_add(wait(p)); }
        else {
            for (int i = 0; i < 100; ++i) { out[threadIdx.x] += asc_reduce_add(1); }
            *p = 5;
        }
    }
    __global__ __vector__ void kernel(__gm__ int32_t* p, __gm__ int32_t* out) {
        asc_vf_call<f>(dim3(64), p, out);
    }
    """
    words, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    simt.compile(text, checks="none")(words, out, checks="none")
    assert (out[:32] == 5 * 32).all()
    assert (out[32:] == 3200).all()


@pytest.mark.parametrize(
    ("loop", "plain"),
    [
        ("while (now == 7) { now = *p; }", True),
        ("while (now == 7) now = p[1];", True),
        ("while (*p == 0);", True),
        ("while (p[0] != now) { }", True),
        ("while (now == 7) { now = *reinterpret_cast<const int*>(p); }", True),
        ("while (now == 7) { now = *reinterpret_cast<volatile int*>(p); }", False),
        ("while (now > 7) { now = now / p[0]; }", False),
        ("while (now > 7) { now -= p[0]; }", False),
        ("while (now != 7) { now = asc_atomic_cas(p, 1, 2); }", False),
        ("while (now != 7) { p[1] = 3; now = *p; }", False),
        ("while (++now != 7) { }", False),
        ("while (now != 7) { now = other; }", False),
        ("while (true) { if (*p) break; }", False),
    ],
)
def test_which_loops_wait_for_plain_memory(loop, plain):
    text = f"__simt_callee__ inline void f(int* p, int now, int other) {{ {loop} }}"
    result = rewrite(text, path="kernel.asc").text
    assert ("::asc_emu::plain_wait(" in result) == plain
    assert ("::asc_emu::spin()" in result) != plain


def test_branches_that_lanes_meet_around():
    branch = "if (laneid() == 0) { asc_atomic_add(p, 1); }"
    operation = "x = asc_shfl(x, 0);"
    head = "__simt_callee__ inline void f(int* p, int x)"
    text = rewrite(f"{head} {{ {branch} {operation} }}", path="kernel.asc").text
    assert f"{_MEET} {branch} {_MEET} {operation}" in text
    others = [
        f"{head} {{ {branch} }}",  # no operation of the warp
        f"{head} {{ if (laneid() == 0) {{ x = 1; }} {operation} }}",  # nothing others notice
        f"inline void f(int* p, int x) {{ {branch} {operation} }}",  # no SIMT function
    ]
    for text in others:
        assert _MEET not in rewrite(text, path="kernel.asc").text
