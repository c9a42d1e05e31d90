"""Mistakes in SIMT functions: one kernel for each kind, intact, and the edit that breaks it.

A table like `broken_kernels`.
"""

# ruff: noqa: E501

from __future__ import annotations

from .broken_kernels import LOAD, STORE
from .conftest import HEADER, Case

_SIMT_FUNCTION = (
    HEADER
    + """__simt_vf__ __launch_bounds__(64) inline void twice(__ubuf__ float* values, uint32_t num) {
    for (uint32_t i = threadIdx.x; i < num; i += blockDim.x) values[i] = values[i] * 2;
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_vf_call<twice>(dim3(64), reinterpret_cast<__ubuf__ float*>(ub), bytes / 4);
    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, bytes);
}
"""
)

# Threads hand numbers to those at the other end of the block.
_SIMT_BARRIER = (
    HEADER
    + """__simt_vf__ __launch_bounds__(128) inline void flip(__ubuf__ float* values, __gm__ float* out) {
    values[threadIdx.x] = float(threadIdx.x);
    asc_syncthreads();
    out[threadIdx.x] = values[127 - threadIdx.x];
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    asc_vf_call<flip>(dim3(128), reinterpret_cast<__ubuf__ float*>(0), reinterpret_cast<__gm__ float*>(dst));
}
"""
)

# Each thread doubles one number of GM, in the part of its block.
_SIMT_GM = (
    HEADER
    + """__simt_vf__ __launch_bounds__(64) inline void twice(__gm__ float* in, __gm__ float* out, uint32_t num) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num)
        out[i] = in[i] * 2;
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto *in = reinterpret_cast<__gm__ float*>(src), *out = reinterpret_cast<__gm__ float*>(dst);
    asc_vf_call<twice>(dim3(64), in, out, bytes / 4);
}
"""
)

# Threads hand numbers to those at the other end of the block, through GM.
_SIMT_GM_BARRIER = (
    HEADER
    + """__simt_vf__ __launch_bounds__(64) inline void flip(__gm__ float* values) {
    values[threadIdx.x] = float(threadIdx.x);
    asc_syncthreads();
    const float other = values[63 - threadIdx.x];
    values[64 + threadIdx.x] = other;
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    asc_vf_call<flip>(dim3(64), reinterpret_cast<__gm__ float*>(dst));
}
"""
)

# Threads write what a copy of the same core then loads.
_SIMT_THEN_COPY = (
    HEADER
    + """__simt_vf__ __launch_bounds__(64) inline void count(__gm__ float* values) {
    values[threadIdx.x] = float(threadIdx.x);
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_vf_call<count>(dim3(64), reinterpret_cast<__gm__ float*>(dst));
    asc_sync_notify(PIPE_V, PIPE_MTE2, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE2, EVENT_ID0);
    asc_copy_gm2ub_align(ub, dst, 256);
}
"""
)

# Block 0 counts in GM and raises a flag, for which a thread of block 1 polls.
_SIMT_RELAY = (
    HEADER
    + """__simt_vf__ __launch_bounds__(64) inline void relay(__gm__ int32_t* flag, __gm__ int32_t* data) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = int32_t(threadIdx.x);
        asc_threadfence();
        asc_syncthreads();
        if (threadIdx.x == 0) asc_atomic_add(flag, 1);
        return;
    }
    if (threadIdx.x == 0)
        while (asc_atomic_add(flag, 0) == 0) asc_emu_spin_hint();
    asc_syncthreads();
    const int32_t got = data[threadIdx.x];
    data[64 + threadIdx.x] = got;
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* flag = reinterpret_cast<__gm__ int32_t*>(dst);
    asc_vf_call<relay>(dim3(64), flag, flag + 16);
}
"""
)

CASES = [
    Case(
        "simt_function_reads_too_early",
        _SIMT_FUNCTION,
        "    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);\n",
        "",
        "racecheck",
        [LOAD, "values[i] = values[i] * 2;"],
        "race on UB",
    ),
    Case(
        "simt_function_stores_too_late",
        _SIMT_FUNCTION,
        "    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);\n",
        "",
        "racecheck",
        ["values[i] = values[i] * 2;", STORE],
        "race on UB",
    ),
    Case(
        "missing_barrier_of_threads",
        _SIMT_BARRIER,
        "    asc_syncthreads();\n",
        "",
        "racecheck",
        ["values[127 - threadIdx.x]", "values[threadIdx.x] ="],
        "no barrier lies between",
    ),
    Case(
        "divergent_barrier",
        _SIMT_BARRIER,
        "    asc_syncthreads();\n",
        "    if (threadIdx.x < 64) asc_syncthreads();\n    else\n        asc_syncthreads();\n",
        "synccheck",
        ["if (threadIdx.x < 64) asc_syncthreads();", "asc_syncthreads();"],
        "divergent barrier",
    ),
    Case(
        "barrier_of_some_threads",
        _SIMT_BARRIER,
        "    asc_syncthreads();\n",
        "    if (threadIdx.x < 64) asc_syncthreads();\n",
        "synccheck",
        ["if (threadIdx.x < 64) asc_syncthreads();"],
        "64 of 128 threads",
        severity="warning",
    ),
    Case(
        "thread_reads_unwritten_ub",
        _SIMT_BARRIER,
        "values[threadIdx.x] =",
        "values[threadIdx.x + 1] =",
        "initcheck",
        ["values[127 - threadIdx.x]"],
        "nothing has written",
    ),
    Case(
        "thread_stores_out_of_bounds",
        _SIMT_GM,
        "out[i] =",
        "out[i + 1] =",
        "memcheck",
        ["out[i + 1] = in[i] * 2;"],
        "writes 4 bytes of GM outside every tensor: it starts 0 bytes behind the end of",
        blocks=3,
    ),
    Case(
        "thread_loads_out_of_bounds",
        _SIMT_GM,
        "in[i] * 2",
        "in[i - 1] * 2",
        "memcheck",
        ["out[i] = in[i - 1] * 2;"],
        "outside every tensor",
    ),
    Case(
        "thread_stores_to_an_input",
        _SIMT_GM,
        "out[i] = in[i] * 2;",
        "in[i] = in[i] * 2;",
        "memcheck",
        ["in[i] = in[i] * 2;"],
        "in the read-only input 'src'",
    ),
    Case(
        "thread_past_the_end_of_ub",
        _SIMT_BARRIER,
        "values[threadIdx.x] =",
        "values[threadIdx.x + 65536 - 127] =",
        "memcheck",
        ["values[threadIdx.x + 65536 - 127] ="],
        "UB bytes [262144, 262148), but UB has 262144 bytes",
    ),
    Case(
        "threads_of_two_blocks",
        _SIMT_GM,
        "out[i] = in[i] * 2;",
        "out[threadIdx.x] = in[i] * 2;",
        "racecheck",
        ["out[threadIdx.x] = in[i] * 2;", "out[threadIdx.x] = in[i] * 2;"],
        "race on GM",
        blocks=3,
    ),
    Case(
        "missing_barrier_of_threads_in_gm",
        _SIMT_GM_BARRIER,
        "    asc_syncthreads();\n",
        "",
        "racecheck",
        ["values[63 - threadIdx.x]", "values[threadIdx.x] ="],
        "no barrier lies between",
    ),
    Case(
        "copy_loads_what_threads_still_store",
        _SIMT_THEN_COPY,
        "    asc_sync_wait(PIPE_V, PIPE_MTE2, EVENT_ID0);\n",
        "",
        "racecheck",
        ["values[threadIdx.x] =", "asc_copy_gm2ub_align(ub, dst, 256);"],
        "race on GM",
    ),
    Case(
        "threads_do_not_wait_for_a_block",
        _SIMT_RELAY,
        "    if (threadIdx.x == 0)\n        while (asc_atomic_add(flag, 0) == 0) asc_emu_spin_hint();\n",
        "",
        "racecheck",
        ["data[threadIdx.x]", "data[threadIdx.x]"],
        "race on GM",
        blocks=2,
    ),
]
