"""Mistakes in pipelines of a vector core that people make: intact kernels, and the edits that break them.

A table like `broken_kernels`.
"""

# ruff: noqa: E501

from __future__ import annotations

from .conftest import HEADER, Case

_SIGNATURE = "(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {\n"
_VECTOR = f'{HEADER}extern "C" __global__ __vector__ void checked{_SIGNATURE}'

# Two buffers take turns.
_LOAD, _STORE = (
    "asc_copy_gm2ub_align(buf, src + i * 128, 128);",
    "asc_copy_ub2gm_align(dst + i * 128, buf, 128);",
)
_FREE = "asc_sync_notify(PIPE_MTE3, PIPE_MTE2, id);"
_PING_PONG = (
    _VECTOR
    + f"""    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_sync_notify(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    asc_sync_notify(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
    for (uint32_t i = 0; i < 5; ++i) {{
        const auto id = static_cast<event_t>(i & 1);
        auto* buf = ub + (i & 1) * 128;
        asc_sync_wait(PIPE_MTE3, PIPE_MTE2, id);
        {_LOAD}
        asc_sync_notify(PIPE_MTE2, PIPE_MTE3, id);
        asc_sync_wait(PIPE_MTE2, PIPE_MTE3, id);
        {_STORE}
        {_FREE}
    }}
    asc_sync_wait(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    asc_sync_wait(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}}
"""
)

# Sums up 40 numbers.
_SUM = (
    HEADER
    + """__simd_vf__ inline void total(__ubuf__ float* values, __ubuf__ float* out, uint32_t num) {
    uint32_t one = 1;
    vector_bool mask = asc_update_mask_b32(num), first = asc_update_mask_b32(one);
    vector_float x, s;
    asc_loadalign(x, values);
    asc_reduce_sum(s, x, mask);
    asc_storealign(out, s, first);
}
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* values = reinterpret_cast<__ubuf__ float*>(0);
    asc_copy_gm2ub_align(reinterpret_cast<__ubuf__ uint8_t*>(values), src, 160);
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_vf_call<total>(values, values + 256, 40u);
    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, reinterpret_cast<__ubuf__ uint8_t*>(values + 256), 4);
}
"""
)

# Blocks add to one tensor.
_ATOMIC = (
    _VECTOR
    + """    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, 64);
    asc_sync_pipe(PIPE_ALL);
    asc_set_atomic_add_float();
    asc_copy_ub2gm_align(dst, ub, 64);
    asc_set_atomic_none();
}
"""
)

CASES = [
    Case(
        "buffer_freed_before_it_is_stored",
        _PING_PONG,
        f"        {_STORE}\n        {_FREE}\n",
        f"        {_FREE}\n        {_STORE}\n",
        "racecheck",
        [_STORE, _LOAD],
        "race on UB",
    ),
    Case(
        "one_buffer_for_two_events",
        _PING_PONG,
        "ub + (i & 1) * 128",
        "ub",
        "racecheck",
        [_LOAD, _LOAD],
        "race on UB",
    ),
    Case(
        "wait_for_the_event_of_the_other_turn",
        _PING_PONG,
        "asc_sync_wait(PIPE_MTE3, PIPE_MTE2, id);",
        "asc_sync_wait(PIPE_MTE3, PIPE_MTE2, static_cast<event_t>((i + 1) & 1));",
        "synccheck",
        ["asc_sync_notify(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);", _FREE],
        "is raised while it is still set",
    ),
    Case(
        "one_credit_for_two_buffers",
        _PING_PONG,
        "    asc_sync_notify(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);\n",
        "",
        "synccheck",
        ["asc_sync_wait(PIPE_MTE3, PIPE_MTE2, id);", "asc_sync_wait(PIPE_MTE2, PIPE_MTE3, id);"],
        "deadlock",
    ),
    Case(
        "flag_of_another_pipe",
        _SUM.replace("PIPE_MTE2, PIPE_V, EVENT_ID0", "kFrom, PIPE_V, EVENT_ID0").replace(
            "    auto* values", "    constexpr auto kFrom = PIPE_MTE2;\n    auto* values", 1
        ),
        "kFrom = PIPE_MTE2",
        "kFrom = PIPE_MTE3",
        "racecheck",
        ["asc_copy_gm2ub_align", "asc_loadalign(x, values);"],
        "race on UB",
    ),
    Case(
        "unaligned_vector_load",
        _SUM,
        "asc_loadalign(x, values);",
        "asc_loadalign(x, values + 1);",
        "memcheck",
        ["asc_loadalign(x, values + 1);"],
        "UB offset 4, allowed are multiples of 32",
    ),
    Case(
        "vector_store_past_the_end_of_ub",
        _SUM,
        "asc_storealign(out, s, first);",
        "asc_storealign(out + 65536 - 256, s, first);",
        "memcheck",
        ["asc_storealign(out + 65536 - 256"],
        "leaves the 256 KiB of UB",
    ),
    Case(
        "stores_the_lane_behind_the_sum",
        _SUM,
        "values + 256), 4);",
        "values + 256), 8);",
        "initcheck",
        ["asc_copy_ub2gm_align"],
        "stores to GM 4 bytes from UB offset 1028 that nothing has written",
    ),
    Case(
        "atomic_and_plain_stores",
        _ATOMIC,
        "    asc_set_atomic_add_float();",
        "    if (asc_get_block_idx() == 0) asc_set_atomic_add_float();",
        "racecheck",
        ["asc_copy_ub2gm_align", "asc_copy_ub2gm_align"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "atomic_mode_left_on",
        _ATOMIC,
        "    asc_set_atomic_none();\n",
        "",
        "synccheck",
        ["asc_copy_ub2gm_align(dst, ub, 64);"],
        "atomic mode is still armed on AIV0",
        blocks=2,
        severity="warning",
    ),
]
