"""Mistakes in plain C++ of the scalar unit: one kernel for each kind, intact, and its broken twin.

A table like `broken_kernels`.
"""

# ruff: noqa: E501

from __future__ import annotations

from .conftest import HEADER, Case

_KERNEL = (
    HEADER
    + """extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    const uint32_t block = asc_get_block_idx();
    (void)ub;
    (void)block;
"""
)

_BOUNDS = (
    _KERNEL
    + """    auto* in = reinterpret_cast<__gm__ uint32_t*>(src);
    auto* out = reinterpret_cast<__gm__ uint32_t*>(dst);
    const uint32_t num = bytes / 4;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < num; ++i)
        sum += in[i];
    for (uint32_t i = 0; i < num; ++i)
        out[i] = sum;
}
"""
)

_FIELD = (
    HEADER
    + """struct Head {
    uint32_t kind, num;
};
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* head = reinterpret_cast<__gm__ Head*>(dst + bytes) - 1;
    head->num = bytes;
}
"""
)

# Each block counts in its own word.
_COUNTS = (
    _KERNEL
    + """    auto* counts = reinterpret_cast<__gm__ uint32_t*>(dst);
    counts[block] += block;
}
"""
)

# The scalar unit reads what a copy of its core has stored.
_AFTER_COPY = (
    _KERNEL
    + """    asc_copy_gm2ub_align(ub, src, 64);
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, 64);
    asc_sync_notify(PIPE_MTE3, PIPE_S, EVENT_ID0);
    asc_sync_wait(PIPE_MTE3, PIPE_S, EVENT_ID0);
    const uint8_t first = dst[3];
    dst[128] = first;
}
"""
)

# A store of the scalar unit where a copy of its core has read.
_BEFORE_COPY = (
    _KERNEL
    + """    asc_copy_gm2ub_align(ub, dst, 64);
    asc_sync_notify(PIPE_MTE2, PIPE_S, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_S, EVENT_ID0);
    *dst = 1;
}
"""
)

# A copy loads what the scalar unit of its core has stored.
_COPY_AFTER = (
    _KERNEL
    + """    for (uint32_t i = 0; i < 16; ++i) {
        reinterpret_cast<__gm__ uint32_t*>(dst)[i] = i;
        reinterpret_cast<__gm__ uint32_t*>(dst + 64)[i] = i * 2;
    }
    asc_dcci_entire_all();
    asc_copy_gm2ub_align(ub, dst, 128);
}
"""
)

# One block waits for a flag that the other raises when its word is there.
_FLAG = (
    _KERNEL
    + """    auto* value = reinterpret_cast<__gm__ uint32_t*>(dst);
    auto* ready = reinterpret_cast<__gm__ uint32_t*>(dst + 64);
    if (block == 0) {
        value[0] = 7;
        asc_dcci_single(value);
        asc_store_dev(ready, 1);
    } else {
        while (asc_load_dev(ready) == 0) asc_emu_spin_hint();
        const uint32_t seen = *value;
        value[32] = seen;
    }
}
"""
)

# The same through a volatile flag.
_VOLATILE = _FLAG.replace(
    "auto* ready = reinterpret_cast<__gm__ uint32_t*>",
    "auto* ready = reinterpret_cast<volatile __gm__ uint32_t*>",
).replace("asc_store_dev(ready, 1);", "*ready = 1;")
_VOLATILE = _VOLATILE.replace("asc_load_dev(ready) == 0", "*ready == 0")

CASES = [
    Case(
        "scalar_store_behind",
        _BOUNDS,
        "for (uint32_t i = 0; i < num; ++i)\n        out[i]",
        "for (uint32_t i = 0; i <= num; ++i)\n        out[i]",
        "memcheck",
        ["out[i] = sum;"],
        "scalar access writes 4 bytes of GM outside every tensor: it starts 0 bytes behind the end of 'dst'",
    ),
    Case(
        "scalar_load_behind",
        _BOUNDS,
        "for (uint32_t i = 0; i < num; ++i)\n        sum",
        "for (uint32_t i = 0; i <= num; ++i)\n        sum",
        "memcheck",
        ["sum += in[i];"],
        "scalar access reads 4 bytes of GM outside every tensor: it starts 0 bytes behind the end of 'src'",
    ),
    Case(
        "scalar_store_to_an_input",
        _BOUNDS,
        "reinterpret_cast<__gm__ uint32_t*>(dst)",
        "reinterpret_cast<__gm__ uint32_t*>(src)",
        "memcheck",
        ["out[i] = sum;"],
        "in the read-only input 'src'",
    ),
    Case(
        "scalar_field_behind",
        _FIELD,
        "(dst + bytes) - 1",
        "(dst + bytes)",
        "memcheck",
        ["head->num = bytes;"],
        "it starts 4 bytes behind the end of 'dst'",
    ),
    Case(
        "scalar_stores_of_two_cores",
        _COUNTS,
        "counts[block]",
        "counts[0]",
        "racecheck",
        ["counts[0] += block;", "counts[0] += block;"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "scalar_load_during_copy",
        _AFTER_COPY,
        "    asc_sync_wait(PIPE_MTE3, PIPE_S, EVENT_ID0);\n",
        "",
        "racecheck",
        ["asc_copy_ub2gm_align(dst, ub, 64);", "const uint8_t first = dst[3];"],
        "race on GM",
    ),
    Case(
        "scalar_store_during_copy",
        _BEFORE_COPY,
        "    asc_sync_wait(PIPE_MTE2, PIPE_S, EVENT_ID0);\n",
        "",
        "racecheck",
        ["asc_copy_gm2ub_align(ub, dst, 64);", "*dst = 1;"],
        "race on GM",
    ),
    Case(
        "copy_of_what_is_in_the_cache",
        _COPY_AFTER,
        "    asc_dcci_entire_all();\n",
        "",
        "racecheck",
        ["(dst)[i] = i;", "asc_copy_gm2ub_align(ub, dst, 128);"],
        "the store may still be in the scalar unit's data cache",
    ),
    Case(
        "copy_of_the_other_line",
        _COPY_AFTER.replace(
            "asc_dcci_entire_all()", "asc_dcci_single(dst);\n    asc_dcci_single(dst + 64)"
        ),
        "    asc_dcci_single(dst + 64);\n",
        "",
        "racecheck",
        ["(dst + 64)[i] = i * 2;", "asc_copy_gm2ub_align(ub, dst, 128);"],
        "the store may still be in the scalar unit's data cache",
    ),
    Case(
        "flag_before_the_write_back",
        _FLAG,
        "        asc_dcci_single(value);\n        asc_store_dev(ready, 1);\n",
        "        asc_store_dev(ready, 1);\n        asc_dcci_single(value);\n",
        "racecheck",
        ["value[0] = 7;", "const uint32_t seen = *value;"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "flag_without_a_write_back",
        _FLAG,
        "        asc_dcci_single(value);\n",
        "",
        "racecheck",
        ["value[0] = 7;", "const uint32_t seen = *value;"],
        "the store may still be in the scalar unit's data cache",
        blocks=2,
    ),
    Case(
        "scalar_load_without_flag",
        _FLAG,
        "        while (asc_load_dev(ready) == 0) asc_emu_spin_hint();\n",
        "",
        "racecheck",
        ["value[0] = 7;", "const uint32_t seen = *value;"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "scalar_load_without_volatile_flag",
        _VOLATILE,
        "        while (*ready == 0) asc_emu_spin_hint();\n",
        "",
        "racecheck",
        ["value[0] = 7;", "const uint32_t seen = *value;"],
        "race on GM",
        blocks=2,
    ),
]
