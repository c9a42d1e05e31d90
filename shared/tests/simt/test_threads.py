"""Threads, barriers, shared arrays and polling (ascend_c_vector.md sections 2 and 14)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError


@pytest.mark.parametrize("shape", ["1", "7", "32", "2048", "4, 3, 5", "1, 64, 2"])
def test_every_thread_runs_once_with_its_own_index(simt, mode, shape):
    sizes = [int(word) for word in shape.split(",")] + [1, 1]
    count = sizes[0] * sizes[1] * sizes[2]
    out = np.full((count, 4), -1, np.int32)
    simt.run(
        """
        uint32_t i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        p0[i * 4] += 1 + blockDim.x;
        p0[i * 4 + 1] = threadIdx.x;
        p0[i * 4 + 2] = threadIdx.y;
        p0[i * 4 + 3] = threadIdx.z;
        """,
        shape,
        out,
        mode=mode,
    )
    index = np.arange(count)
    x, y = index % sizes[0], index // sizes[0] % sizes[1]
    z = index // sizes[0] // sizes[1]
    assert (out == np.stack([np.full(count, sizes[0]), x, y, z], axis=1)).all()


def test_barrier_makes_all_earlier_writes_visible(simt, mode):
    out = np.zeros(1024, np.int32)
    simt.run(
        """
        p0[threadIdx.x] = threadIdx.x * 3;
        asc_syncthreads();
        int32_t other = p0[1023 - threadIdx.x];
        asc_syncthreads();
        p0[threadIdx.x] = other;
        """,
        1024,
        out,
        mode=mode,
    )
    assert (out == (1023 - np.arange(1024)) * 3).all()


def test_barrier_in_a_uniform_loop(simt, mode):
    data = np.random.default_rng(0).integers(0, 100, 256).astype(np.int32)
    out = data.copy()
    simt.run(
        """
        for (int32_t step = 1; step < 256; step = step * 2) {
            int32_t other = 0;
            if ((int32_t)threadIdx.x >= step) {
                other = p0[threadIdx.x - step];
            }
            asc_syncthreads();
            p0[threadIdx.x] += other;
            asc_syncthreads();
        }
        """,
        256,
        out,
        mode=mode,
    )
    assert (out == data.cumsum()).all()


def test_threads_that_returned_do_not_hold_the_barrier(simt):
    out = np.zeros(64, np.int32)
    simt.run(
        """
        if (threadIdx.x >= 40) return;
        p0[threadIdx.x] = 1;
        asc_syncthreads();
        if (threadIdx.x == 0) { for (int i = 1; i < 40; ++i) p0[0] += p0[i]; }
        """,
        64,
        out,
    )
    assert out[0] == 40
    assert (out[40:] == 0).all()


def test_a_thread_polls_what_another_one_writes(simt):
    out = np.zeros(65, np.int32)
    simt.run(
        """
        volatile int32_t* flag = p0 + 64;
        if (threadIdx.x == 0) {
            while (*flag < 63) { }
            p0[0] = *flag;
        } else {
            asc_atomic_add(p0 + 64, 1);
        }
        """,
        64,
        out,
    )
    assert out[0] == 63


def test_blocks_poll_each_other(simt):
    out = np.zeros(17, np.int32)
    text = """
    __simt_vf__ inline void f(__gm__ int32_t* p) {
        if (threadIdx.x != 0) return;
        volatile int32_t* mine = p + blockIdx.x;
        while (*mine == 0) { }
        mine[1] = *mine + 1;
    }
    __global__ __vector__ void kernel(__gm__ int32_t* p) {
        if (block_idx == block_num - 1) p[0] = 1;
        asc_vf_call<f>(dim3(32), p);
    }
    """
    simt.compile(text, checks="none")(out, blocks=16, checks="none")  # it races
    assert (out == np.arange(1, 18)).all()


def test_scalar_code_goes_on_while_a_function_runs(simt):
    """A queue through memory in both directions, as a public hybrid program has it."""
    out = np.zeros(8, np.int32)
    text = """
    __simt_vf__ inline void f(__gm__ int32_t* p) {
        volatile int32_t* request = p;
        volatile int32_t* answer = p + 1;
        for (int32_t i = 1; i <= 3; ++i) {
            if (threadIdx.x == 0) {
                *request = i;
                while (*answer != i * 10) { }
            }
            asc_syncthreads();
        }
        p[2 + threadIdx.x % 4] = *answer;
    }
    __global__ __vector__ void kernel(__gm__ int32_t* p) {
        asc_vf_call<f>(dim3(64), p);
        volatile int32_t* request = p;
        for (int32_t i = 1; i <= 3; ++i) {
            while (*request != i) { }
            request[1] = i * 10;
        }
        asc_sync();
        p[6] = p[5] + 1;
    }
    """
    simt.compile(text)(out)
    assert list(out[:7]) == [3, 30, 30, 30, 30, 30, 31]


def test_functions_of_a_core_run_in_order_and_before_later_copies(simt):
    out = np.zeros(256, np.float32)
    text = """
    __simt_vf__ inline void add(__ubuf__ float* t, float v) {
        t[threadIdx.x] = t[threadIdx.x] * 2 + v;
    }
    __global__ __vector__ void kernel(__gm__ float* p) {
        __ubuf__ float tile[256];
        asc_copy_gm2ub(tile, p, 1024);
        asc_sync();
        for (int i = 1; i < 4; ++i) asc_vf_call<add>(dim3(256), &tile[0], (float)i);
        asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
        asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
        asc_copy_ub2gm(p, tile, 1024);
        asc_sync();
    }
    """
    for schedule in ("immediate", "deferred"):
        out[:] = 1
        simt.compile(text)(out, schedule=schedule)
        assert (out == 19).all()


def test_many_arguments(simt):
    out = np.zeros(1, np.int64)
    parameters = ", ".join(f"int64_t a{i}" for i in range(30))
    values = ", ".join(str(i * i) for i in range(30))
    total = " + ".join(f"a{i}" for i in range(30))
    text = f"""
    __simt_vf__ inline void f(__gm__ int64_t* p, {parameters}) {{ *p = {total}; }}
    __global__ __vector__ void kernel(__gm__ int64_t* p) {{ asc_vf_call<f>(dim3(1), p, {values}); }}
    """
    simt.compile(text)(out)
    assert out[0] == sum(i * i for i in range(30))


@pytest.mark.parametrize("threads", ["0", "2049", "64, 64"])
def test_thread_count_out_of_range(simt, threads):
    with pytest.raises(LaunchError, match="a block has 1 to 2048"):
        simt.run("p0[0] = 1;", threads, np.zeros(1, np.int32))


def test_a_fault_in_a_thread_is_an_error_and_the_process_goes_on(simt, mode):
    body = "asc_syncthreads(); *(volatile int32_t*)(uintptr_t)(threadIdx.x * 8) = 1;"
    with pytest.raises(LaunchError, match="SIGSEGV|outside every tensor"):
        simt.run(body, 64, np.zeros(1, np.int32), mode=mode)
    test_barrier_makes_all_earlier_writes_visible(simt, mode)


def test_warp_functions_belong_into_simt_functions(simt):
    text = """
    __global__ __vector__ void kernel(__gm__ float* p) { p[0] = asc_reduce_add(p[0]); }
    """
    with pytest.raises(LaunchError, match="outside a SIMT function"):
        simt.compile(text)(np.zeros(1, np.float32))


def test_endless_polling_is_reported(simt):
    body = "volatile int32_t* flag = p0; while (*flag == 0) { }"
    with pytest.raises(LaunchError, match="SIMT function whose threads poll memory|polls memory"):
        simt.run(body, 32, np.zeros(1, np.int32))
