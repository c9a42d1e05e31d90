"""Kernel texts of bench_vector.py."""

from __future__ import annotations

__all__ = [
    "BARRIERS",
    "BARRIER_TEXT",
    "COMMANDS",
    "COMMAND_TEXT",
    "OPERATIONS",
    "RESIDENT_TEXT",
    "ROWS_TEXT",
    "operations_text",
]

# Sum of squares of each bf16 row: eight rows at a time in UB, even and odd lanes in fp32.
ROWS_TEXT = """
#include "c_api/asc_simd.h"

__simd_vf__ inline void sums(__ubuf__ bfloat16_t* rows, __ubuf__ float* out, uint16_t count,
                             uint16_t registers) {
    vector_bool all = asc_create_mask_b32(PAT_ALL);
    for (uint16_t r = 0; r < count; ++r) {
        vector_float even, odd;
        asc_duplicate_scalar(even, 0.0f);
        asc_duplicate_scalar(odd, 0.0f);
        for (uint16_t i = 0; i < registers; ++i) {
            vector_bfloat16_t x;
            vector_float a, b;
            asc_loadalign_postupdate(x, rows, 128);
            asc_bfloat162float(a, x, all);
            asc_bfloat162float_v2(b, x, all);
            vmula(even, a, a, all, MODE_ZEROING);
            vmula(odd, b, b, all, MODE_ZEROING);
        }
        asc_add(even, even, odd, all);
        asc_reduce_sum(even, even, all);
        asc_storealign_1st_postupdate(out, even, 1);
    }
}

extern "C" __global__ __vector__ void row_sums(__gm__ bfloat16_t* x, __gm__ float* out,
                                               uint32_t rows, uint32_t columns) {
    constexpr uint32_t kRows = 8;
    __ubuf__ bfloat16_t tile[kRows * 7168];
    __ubuf__ float result[kRows];
    const uint32_t share = rows / block_num, first = block_idx * share;
    for (uint32_t r = first; r < first + share; r += kRows) {
        asc_copy_gm2ub(tile, x + uint64_t{r} * columns, kRows * columns * 2);
        asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
        asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
        asc_vf_call<sums>(&tile[0], &result[0], kRows, static_cast<uint16_t>(columns / 128));
        asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
        asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
        asc_copy_ub2gm_align(out + r, result, kRows * 4);
        asc_sync();
    }
}
"""

# name -> element type and a statement on registers x, y, z, w and a full mask m.
OPERATIONS = {
    "add f32": ("float", "asc_add(x, x, y, m)"),
    "mul f32": ("float", "asc_mul(x, x, y, m)"),
    "vmula f32": ("float", "vmula(x, y, z, m, MODE_ZEROING)"),
    "max f32": ("float", "asc_max(x, x, y, m)"),
    "add half": ("half", "asc_add(x, x, y, m)"),
    "add bf16": ("bfloat16_t", "asc_add(x, x, y, m)"),
    "add u8": ("uint8_t", "asc_add(x, x, y, m)"),
    "shift left u16": ("uint16_t", "asc_shiftleft_scalar(x, x, 1, m)"),
    "compare and select f32": ("float", "asc_gt(p, x, y, m); asc_select(x, x, z, p)"),
    "div f32": ("float", "asc_div(x, x, y, m)"),
    "sqrt f32": ("float", "asc_sqrt(x, x, m)"),
    "exp f32": ("float", "asc_exp(x, y, m)"),
    "ln f32": ("float", "asc_ln(x, y, m)"),
    "f32 to bf16": ("float", "asc_float2bfloat16_rn((vector_bfloat16_t&)x, x, m)"),
    "f32 to half": ("float", "asc_float2half_rn((vector_half&)x, x, m)"),
    "f32 to e4m3": ("float", "asc_float2e4m3_rn_sat((vector_fp8_e4m3fn_t&)x, x, m)"),
    "e4m3 to f32": ("float", "asc_e4m32float(x, (vector_fp8_e4m3fn_t&)x, m)"),
    "e2m1 to bf16": ("bfloat16_t", "asc_e2m1x22bfloat16(x, (vector_fp4x2_e2m1_t&)x, m)"),
    "f32 to s32": ("float", "asc_float2int32_rz_sat((vector_int32_t&)x, x, m)"),
    "load and store f32": ("float", "asc_loadalign(x, place); asc_storealign(place, x, m)"),
    "sum f32": ("float", "asc_reduce_sum(x, x, m)"),
    "max with index f32": ("float", "asc_reduce_max(x, y, m)"),
    "interleave u16": ("uint16_t", "asc_intlv(x, w, x, y)"),
    "gather u32": ("uint32_t", "asc_gather(x, place, w, m)"),
    "squeeze u32": ("uint32_t", "asc_squeeze(x, y, m)"),
}


def operations_text() -> str:
    """One kernel: `count` times operation `which` on one core."""
    bodies, cases = [], []
    for index, (kind, statement) in enumerate(OPERATIONS.values()):
        bodies.append(
            f"__simd_vf__ inline void operation{index}(uint32_t count) {{\n"
            f"    repeat<{kind}>(count, [](auto& x, auto& y, auto& z, auto& w, auto& m, auto& p,\n"
            f"                           auto* place) {{\n"
            f"        (void)y; (void)z; (void)w; (void)m; (void)p; (void)place;\n"
            f"        {statement};\n    }});\n}}\n"
        )
        cases.append(f"        case {index}: asc_vf_call<operation{index}>(count); break;\n")
    return (
        _OPERATIONS_HEAD
        + "".join(bodies)
        + (
            'extern "C" __global__ __vector__ void operations(__gm__ uint8_t* data,\n'
            "        uint32_t which, uint32_t count) {\n"
            "    asc_copy_gm2ub((__ubuf__ void*)0, data, 4096u);\n    asc_sync();\n"
            "    switch (which) {\n" + "".join(cases) + "    }\n    asc_sync();\n}\n"
        )
    )


_OPERATIONS_HEAD = """
#include "c_api/asc_simd.h"

template <class T, class F>
void repeat(uint32_t count, F f) {
    vector_bool m = asc_create_mask_b8(PAT_ALL), p = m;
    __ubuf__ T* place = (__ubuf__ T*)0;
    asc_emu::VectorRegister<T> x, y, z, w;
    asc_loadalign(x, place);
    asc_loadalign(y, place + 256 / sizeof(T));
    asc_loadalign(z, place + 512 / sizeof(T));
    asc_loadalign(w, place + 768 / sizeof(T));
    for (uint32_t i = 0; i < count; ++i) {
        f(x, y, z, w, m, p, place);
        asm volatile("" ::: "memory");
    }
    asc_storealign(place, x, m);
    asc_storealign(place, w, m);
}
"""

# Statements outside vector functions.
COMMANDS = {
    "empty vector function": "asc_vf_call<nothing>();",
    "32-byte copy GM to UB": "asc_copy_gm2ub(buffer, data, 32u);",
    "notify and wait": (
        "asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0); "
        "asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);"
    ),
}
COMMAND_TEXT = (
    """
#include "c_api/asc_simd.h"

__simd_vf__ inline void nothing() {}

extern "C" __global__ __vector__ void commands(__gm__ uint8_t* data, uint32_t which,
                                               uint32_t count) {
    __ubuf__ uint8_t buffer[64];
"""
    + "".join(
        f"    if (which == {index})\n        for (uint32_t i = 0; i < count; ++i) {{ {text} }}\n"
        for index, text in enumerate(COMMANDS.values())
    )
    + "    asc_sync();\n    (void)buffer;\n}\n"
)

# Barriers of a SIMT block of 256 threads; a function with a `while` runs a fiber per thread, which
# each barrier leaves and enters once.
BARRIERS = {
    "SIMT barrier of 256 threads, as loops": ("as_loops", 1),
    "SIMT barrier of 256 threads, as fibers": ("as_fibers", 1),
    "switch of a fiber": ("as_fibers", 256),
}
BARRIER_TEXT = """
#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"

__simt_vf__ __launch_bounds__(256) inline void as_loops(__ubuf__ int32_t* p, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        p[threadIdx.x] += i;
        asc_syncthreads();
    }
}
__simt_vf__ __launch_bounds__(256) inline void as_fibers(__ubuf__ int32_t* p, int32_t count) {
    while (false) {}
    for (int32_t i = 0; i < count; ++i) {
        p[threadIdx.x] += i;
        asc_syncthreads();
    }
}
extern "C" __global__ __vector__ void barriers(__gm__ uint8_t* data, uint32_t which,
                                               uint32_t count) {
    __ubuf__ int32_t buffer[256];
    if (which == 0) asc_vf_call<as_loops>(dim3(256), buffer, static_cast<int32_t>(count));
    else asc_vf_call<as_fibers>(dim3(256), buffer, static_cast<int32_t>(count));
    asc_sync();
    (void)data;
}
"""

# All cores of 32 AI Cores meet `count` times: the cube cores, and the vector cores.
RESIDENT_TEXT = """
#include "c_api/asc_simd.h"

extern "C" __global__ __mix__(1, 2) void resident(__gm__ uint8_t* data, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        asc_sync_inter_arrive(PIPE_MTE2, 4);
        asc_sync_inter_wait(PIPE_S, 4);
    }
    (void)data;
}
"""
