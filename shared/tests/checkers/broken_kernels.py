"""One kernel for each kind of mistake, intact, and the edit that breaks it.

Others are in `broken_cube_kernels`, `broken_pipelines` and `broken_simt_kernels`. A table of kernel texts: some lines are
longer than the rest of the code allows.
"""

# ruff: noqa: E501

from __future__ import annotations

from .conftest import HEADER, Case

_SIGNATURE = "(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {\n"
_VECTOR = f'{HEADER}extern "C" __global__ __vector__ void checked{_SIGNATURE}'
_MIX = f'{HEADER}extern "C" __global__ __mix__(1, 1) void checked{_SIGNATURE}'

_COPY = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, bytes);
}
"""
)
LOAD, STORE = "asc_copy_gm2ub_align(ub, src, bytes);", "asc_copy_ub2gm_align(dst, ub, bytes);"
_NOTIFY = "asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);"
_WAIT = "asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);"

_LOCKS = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_lock(PIPE_MTE2, 3);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_unlock(PIPE_MTE2, 3);
    asc_lock(PIPE_MTE3, 3);
    asc_copy_ub2gm_align(dst, ub, bytes);
    asc_unlock(PIPE_MTE3, 3);
}
"""
)

_TWO_LOADS = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_sync_pipe(PIPE_MTE2);
    asc_copy_gm2ub_align(ub + 32, src, bytes - 32);
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, bytes);
}
"""
)

_BLOCKS = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    const uint32_t part = bytes / asc_get_block_num(), first = part * asc_get_block_idx();
    asc_copy_gm2ub_align(ub, src + first, part);
    asc_sync_pipe(PIPE_ALL);
    asc_copy_ub2gm_align(dst + first, ub, part);
}
"""
)

# Block 0 hands its result to block 1 through GM.
_RELAY = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    auto* ready = reinterpret_cast<__gm__ uint32_t*>(dst);
    if (asc_get_block_idx() == 0) {
        asc_copy_gm2ub_align(ub, src, 64);
        asc_sync_pipe(PIPE_ALL);
        asc_copy_ub2gm_align(dst + 64, ub, 64);
        asc_sync_pipe(PIPE_ALL);
        asc_store_dev(ready, 1);
    } else {
        while (asc_load_dev(ready) == 0) asc_emu_spin_hint();
        asc_copy_gm2ub_align(ub, dst + 64, 64);
        asc_sync_pipe(PIPE_ALL);
        asc_copy_ub2gm_align(dst + 128, ub, 64);
    }
}
"""
)

MEETING = (
    _MIX
    + """    if ASC_IS_AIC return;
    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    const uint32_t block = asc_get_block_idx(), other = (block + 1) % asc_get_block_num();
    asc_copy_gm2ub_align(ub, src, 64);
    asc_sync_pipe(PIPE_ALL);
    asc_copy_ub2gm_align(dst + 64 * block, ub, 64);
    asc_sync_inter_arrive(PIPE_MTE3, 4);
    asc_sync_inter_wait(PIPE_MTE2, 4);
    asc_copy_gm2ub_align(ub, dst + 64 * other, 64);
}
"""
)

_TOKEN = (
    _MIX
    + """    if ASC_IS_AIC {
        asc_sync_intra_arrive(PIPE_S, 1);
        asc_sync_intra_wait(PIPE_S, 2);
    } else {
        asc_sync_intra_wait(PIPE_S, 1);
        asc_sync_intra_arrive(PIPE_S, 2);
    }
}
"""
)

_VECTOR_FUNCTION = (
    HEADER
    + """__simd_vf__ inline void twice(__ubuf__ float* values, uint32_t num) {
    for (uint32_t i = 0; i < num; i += 64) {
        uint32_t left = num - i;
        vector_bool mask = asc_update_mask_b32(left);
        vector_float x;
        asc_loadalign(x, values + i);
        asc_mul_scalar(x, x, 2.0f, mask);
        asc_storealign(values + i, x, mask);
    }
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_vf_call<twice>(reinterpret_cast<__ubuf__ float*>(ub), bytes / 4);
    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, bytes);
}
"""
)

# A product of 16 x 16 halves, from GM to GM.
CUBE = (
    HEADER
    + f"""extern "C" __global__ __cube__ void checked{_SIGNATURE}"""
    + """    auto* from = reinterpret_cast<__gm__ half*>(src);
    auto* l1 = reinterpret_cast<__cbuf__ half*>(0);
    auto* l0a = reinterpret_cast<__ca__ half*>(0);
    auto* l0b = reinterpret_cast<__cb__ half*>(0);
    auto* l0c = reinterpret_cast<__cc__ float*>(0);
    const auto keep = asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM;
    asc_set_gm2l1_nz_para(1, 1, 16, 0);
    asc_copy_gm2l1_nd2nz(l1, from, 16, keep, 16, 8, 0, false);
    asc_sync_notify(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1);
    asc_copy_l12l0b(l0b, l1, 0, 0, 1, 1, 1, 1);
    asc_sync_notify(PIPE_MTE1, PIPE_M, EVENT_ID0);
    asc_sync_wait(PIPE_MTE1, PIPE_M, EVENT_ID0);
    asc_mmad(l0c, l0a, l0b, 16, 8, 16, asc_unit_flag_mode::DISABLE, false, false, true);
    asc_sync_notify(PIPE_M, PIPE_FIX, EVENT_ID0);
    asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0);
    asc_set_l0c_copy_nz_para(1, 0, 0);
    asc_copy_l0c2gm(reinterpret_cast<__gm__ float*>(dst), l0c, 8, 16, 8, 16,
                    asc_store_l2_cache_mode::NORMAL_FIRST_VICTIM, asc_unit_flag_mode::DISABLE,
                    QuantMode_t::NoQuant, asc_relu_pre_mode::NONE, false, true, false, false);
}
"""
)

CASES = [
    Case(
        "out_of_bounds_store",
        _COPY,
        STORE,
        STORE.replace("bytes)", "bytes + 1)"),
        "memcheck",
        ["asc_copy_ub2gm_align"],
        "1 bytes behind the end of 'dst' (640 bytes)",
    ),
    Case(
        "out_of_bounds_load",
        _COPY,
        LOAD,
        LOAD.replace("src", "src - 1"),
        "memcheck",
        ["asc_copy_gm2ub_align"],
        "1 bytes before 'src'",
    ),
    Case(
        "store_to_an_input",
        _COPY,
        STORE,
        STORE.replace("dst", "src"),
        "memcheck",
        ["asc_copy_ub2gm_align"],
        "read-only input 'src'",
    ),
    Case(
        "unaligned_ub",
        _COPY,
        LOAD,
        LOAD.replace("ub,", "ub + 16,"),
        "memcheck",
        ["asc_copy_gm2ub_align"],
        "UB address 16 must be a multiple of 32",
    ),
    Case(
        "past_the_end_of_ub",
        _COPY,
        LOAD,
        LOAD.replace("ub,", "ub + 256 * 1024 - 32,"),
        "memcheck",
        ["asc_copy_gm2ub_align"],
        "but UB has 262144 bytes",
    ),
    Case("missing_wait", _COPY, _WAIT, "", "racecheck", [LOAD, STORE], "race on UB"),
    Case("missing_notify", _COPY, _NOTIFY, "", "synccheck", [_WAIT], "deadlock"),
    Case(
        "wrong_event_id",
        _COPY,
        _WAIT,
        _WAIT.replace("ID0", "ID1"),
        "synccheck",
        ["asc_sync_wait", _NOTIFY],
        "deadlock",
    ),
    Case(
        "double_set",
        _COPY,
        _NOTIFY,
        f"{_NOTIFY}\n    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, static_cast<event_t>(0));",
        "synccheck",
        [_NOTIFY, "asc_sync_notify(PIPE_MTE2, PIPE_MTE3, static_cast<event_t>(0));"],
        "raised while it is still set",
    ),
    Case("never_written_ub", _COPY, LOAD, "", "initcheck", [STORE], "nothing has written"),
    Case(
        "burst_tail",
        _COPY,
        LOAD,
        LOAD.replace("bytes)", "bytes - 8)"),
        "initcheck",
        [STORE],
        "stores to GM 8 bytes",
    ),
    Case(
        "leftover_flag",
        _COPY,
        STORE,
        f"{STORE}\n{_NOTIFY.replace('ID0', 'ID1')}",
        "synccheck",
        ["asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);"],
        "still set when the kernel ends",
        severity="warning",
    ),
    Case(
        "another_mutex",
        _LOCKS,
        "asc_lock(PIPE_MTE3, 3);\n    asc_copy_ub2gm_align(dst, ub, bytes);\n    asc_unlock(PIPE_MTE3, 3);",
        "asc_lock(PIPE_MTE3, 4);\n    asc_copy_ub2gm_align(dst, ub, bytes);\n    asc_unlock(PIPE_MTE3, 4);",
        "racecheck",
        [LOAD, STORE],
        "race on UB",
    ),
    Case(
        "missing_unlock",
        _LOCKS,
        "    asc_unlock(PIPE_MTE3, 3);\n",
        "",
        "synccheck",
        ["asc_lock(PIPE_MTE3, 3);"],
        "mutex 3 is still locked",
    ),
    Case(
        "missing_lock_pair",
        _LOCKS,
        "    asc_lock(PIPE_MTE3, 3);\n    asc_copy_ub2gm_align(dst, ub, bytes);\n    asc_unlock(PIPE_MTE3, 3);\n",
        "    asc_copy_ub2gm_align(dst, ub, bytes);\n",
        "racecheck",
        [LOAD, STORE],
        "race on UB",
    ),
    Case(
        "overlapping_loads",
        _TWO_LOADS,
        "    asc_sync_pipe(PIPE_MTE2);\n",
        "",
        "racecheck",
        [LOAD, "asc_copy_gm2ub_align(ub + 32"],
        "race on UB",
    ),
    Case(
        "overlapping_blocks",
        _BLOCKS,
        "asc_copy_ub2gm_align(dst + first, ub, part);",
        "asc_copy_ub2gm_align(dst + first / 2, ub, part);",
        "racecheck",
        ["asc_copy_ub2gm_align", "asc_copy_ub2gm_align"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "overlap_of_one_byte",
        _BLOCKS,
        "asc_copy_ub2gm_align(dst + first, ub, part);",
        "asc_copy_ub2gm_align(dst + first, ub, part - asc_get_block_idx() + (asc_get_block_idx() == 0));",
        "racecheck",
        ["asc_copy_ub2gm_align", "asc_copy_ub2gm_align"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "relay_without_barrier",
        _RELAY,
        "    asc_sync_pipe(PIPE_ALL);\n        asc_store_dev(ready, 1);",
        "    asc_store_dev(ready, 1);",
        "racecheck",
        ["asc_copy_ub2gm_align(dst + 64", "asc_copy_gm2ub_align(ub, dst + 64"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "meeting_without_wait",
        MEETING,
        "    asc_sync_inter_wait(PIPE_MTE2, 4);\n",
        "",
        "racecheck",
        ["asc_copy", "asc_copy"],
        "race on GM",
        blocks=3,
    ),
    Case(
        "deadlock_of_two_cores",
        _TOKEN,
        "asc_sync_intra_arrive(PIPE_S, 1);\n        asc_sync_intra_wait(PIPE_S, 2);",
        "asc_sync_intra_wait(PIPE_S, 2);\n        asc_sync_intra_arrive(PIPE_S, 1);",
        "synccheck",
        ["asc_sync_intra_wait(PIPE_S, 2);", "asc_sync_intra_wait(PIPE_S, 1);"],
        "deadlock",
    ),
    Case(
        "leftover_counter",
        _TOKEN,
        "asc_sync_intra_arrive(PIPE_S, 2);",
        "asc_sync_intra_arrive(PIPE_S, 2); asc_sync_intra_arrive(PIPE_S, 2);",
        "synccheck",
        ["asc_sync_intra_arrive(PIPE_S, 2)"],
        "counter 2 of AIC is 1",
        severity="warning",
    ),
    Case(
        "pipe_of_the_other_core",
        _COPY,
        STORE,
        f"{STORE}\nasc_sync_notify(PIPE_MTE2, PIPE_M, EVENT_ID0);",
        "synccheck",
        ["asc_sync_notify(PIPE_MTE2, PIPE_M"],
        "pipe M does not run on a vector core",
        severity="warning",
    ),
    Case(
        "vector_function_reads_too_early",
        _VECTOR_FUNCTION,
        "    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);\n",
        "",
        "racecheck",
        [LOAD, "asc_loadalign(x, values + i);"],
        "race on UB",
    ),
    Case(
        "vector_function_stores_too_late",
        _VECTOR_FUNCTION,
        "    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);\n",
        "",
        "racecheck",
        ["asc_storealign(values + i, x, mask);", STORE],
        "race on UB",
    ),
    Case(
        "never_written_l0",
        CUBE,
        "    asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1);\n",
        "",
        "initcheck",
        ["asc_copy_l0c2gm", "asc_mmad"],
        "",
    ),
]
