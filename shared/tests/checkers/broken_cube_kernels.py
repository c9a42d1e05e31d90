"""Mistakes on a cube core, and with two cores: one kernel for each kind, and the edit that breaks it.

A table like `broken_kernels`.
"""

# ruff: noqa: E501

from __future__ import annotations

from .broken_kernels import CUBE, MEETING
from .conftest import Case

_LOAD = "asc_copy_gm2l1_nd2nz(l1, from, 16, keep, 16, 8, 0, false);"
_TO_L0A = "asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1);"
_TO_L0B = "asc_copy_l12l0b(l0b, l1, 0, 0, 1, 1, 1, 1);"
_FULL = "asc_sync_notify(PIPE_MTE1, PIPE_M, EVENT_ID0);"
_WAIT_L1 = "asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);"
_WAIT_L0 = "asc_sync_wait(PIPE_MTE1, PIPE_M, EVENT_ID0);"
_WAIT_L0C = "asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0);"
_OUT = "reinterpret_cast<__gm__ float*>(dst)"

# Each block stores four rows of its own.
_BLOCKS = CUBE.replace(_OUT, f"{_OUT} + 32 * asc_get_block_idx()").replace(
    "l0c, 8, 16, 8, 16,", "l0c, 8, 4, 8, 16,"
)

# Two products into one L1 buffer: the second load waits until the first was read.
_REUSED = CUBE.replace(
    f"    {_FULL}\n",
    f"""    {_FULL}
    asc_sync_notify(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
    asc_sync_wait(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
    asc_copy_gm2l1_nd2nz(l1, from + 1, 16, keep, 16, 8, 0, false);
""",
)

CASES = [
    Case(
        "cube_loads_one_element_too_many",
        CUBE,
        _LOAD,
        _LOAD.replace("from,", "from + 193,"),
        "memcheck",
        ["asc_copy_gm2l1_nd2nz(l1, from + 193"],
        "2 bytes behind the end of 'src'",
    ),
    Case(
        "cube_stores_one_element_too_many",
        CUBE,
        _OUT,
        f"{_OUT} + 33",
        "memcheck",
        ["asc_copy_l0c2gm"],
        "4 bytes behind the end of 'dst'",
    ),
    Case(
        "cube_unaligned_l1",
        CUBE,
        _TO_L0A,
        _TO_L0A.replace("l1,", "l1 + 8,"),
        "memcheck",
        ["asc_copy_l12l0a(l0a, l1 + 8"],
        "L1 address 16 must be a multiple of 32",
    ),
    Case(
        "cube_reads_l1_too_early",
        CUBE,
        f"    {_WAIT_L1}\n",
        "",
        "racecheck",
        [_LOAD, _TO_L0A],
        "race on L1",
    ),
    Case(
        "cube_multiplies_too_early",
        CUBE,
        f"    {_WAIT_L0}\n",
        "",
        "racecheck",
        [_TO_L0A, "asc_mmad"],
        "race on L0A",
    ),
    Case(
        "cube_drains_too_early",
        CUBE,
        f"    {_WAIT_L0C}\n",
        "",
        "racecheck",
        ["asc_mmad", "asc_copy_l0c2gm"],
        "race on L0C",
    ),
    Case(
        "cube_loads_over_what_is_read",
        _REUSED,
        "asc_sync_wait(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);",
        "asc_sync_pipe(PIPE_MTE2);",
        "racecheck",
        [_TO_L0B, "asc_copy_gm2l1_nd2nz(l1, from + 1"],
        "race on L1",
    ),
    Case("cube_missing_notify", CUBE, f"    {_FULL}\n", "", "synccheck", [_WAIT_L0], "deadlock"),
    Case(
        "cube_wrong_event_id",
        CUBE,
        _WAIT_L0,
        _WAIT_L0.replace("ID0", "ID1"),
        "synccheck",
        [_WAIT_L0.replace("ID0", "ID1"), _WAIT_L0C, _FULL],
        "deadlock",
    ),
    Case(
        "cube_double_set",
        CUBE,
        _FULL,
        f"{_FULL}\n    asc_sync_notify(PIPE_MTE1, PIPE_M, static_cast<event_t>(0));",
        "synccheck",
        [_FULL, "asc_sync_notify(PIPE_MTE1, PIPE_M, static_cast<event_t>(0));"],
        "raised while it is still set",
    ),
    Case(
        "never_written_l0b",
        CUBE,
        f"    {_TO_L0B}\n",
        "",
        "initcheck",
        ["asc_copy_l0c2gm", "asc_mmad"],
        "computed from memory never written",
    ),
    Case(
        "drain_without_unit_flag",
        CUBE.replace("asc_unit_flag_mode::DISABLE", "asc_unit_flag_mode::ENABLE_UPDATE"),
        "asc_store_l2_cache_mode::NORMAL_FIRST_VICTIM, asc_unit_flag_mode::ENABLE_UPDATE",
        "asc_store_l2_cache_mode::NORMAL_FIRST_VICTIM, asc_unit_flag_mode::DISABLE",
        "synccheck",
        ["asc_mmad"],
        "unit flags of L0C are still set",
        severity="warning",
    ),
    Case(
        "cubes_of_two_blocks",
        _BLOCKS,
        " + 32 * asc_get_block_idx()",
        "",
        "racecheck",
        ["asc_copy_l0c2gm", "asc_copy_l0c2gm"],
        "race on GM",
        blocks=2,
    ),
    Case(
        "deadlock_of_two_blocks",
        MEETING,
        "    asc_sync_inter_arrive(PIPE_MTE3, 4);\n",
        "    if (block == 0) asc_sync_inter_arrive(PIPE_MTE3, 4);\n",
        "synccheck",
        ["asc_sync_inter_wait(PIPE_MTE2, 4);", "asc_sync_inter_wait(PIPE_MTE2, 4);"],
        "deadlock",
        blocks=2,
    ),
]
