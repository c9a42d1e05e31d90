"""Bank conflicts of UB against the slopes and rules of ascend_c_vector.md section 1.4."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from deep_jit._shared.emulator import (
    TimingProfile,
    bank_conflict_lines,
    load_timeline,
    print_profile,
    write_chrome_trace,
)

KERNELS = Path(__file__).parent / "kernels"
# Cycles until a result can be used (asc_emu/vector/classes.inc).
LOAD, STORE, GATHER, SCATTER = 6, 9, 11, 9
# Kinds of kernels/ub_streams.hpp.
LOADS, STORES, BOTH, LOAD_BLOCKS, STORE_BLOCKS, GATHERS, SCATTERS = range(7)
GATHER_BLOCKS, UNALIGNED, ELEMENTS, BOTH_NARROW, GATHER_PAIRS = range(7, 12)
# In floats: a block, a register, half of the banks, and a place behind everything that is read.
BLOCK, VECTOR, HALF, FAR = 8, 64, 64, 32 * 1024


@pytest.fixture(scope="session")
def schedule(ub_streams):
    """`schedule(kind, num, step, ...)` -> cycles of the accesses, cycles lost to conflicts."""

    def run(*args, **kwargs) -> tuple[int, float]:
        empty, profile = ub_streams(99, 0, 0), ub_streams(*args, **kwargs)
        cycles, conflicts = (
            profile.cycles - empty.cycles,
            profile.bank_conflicts * profile.cycles,
        )
        assert cycles == pytest.approx(round(cycles), abs=1e-6)
        return round(cycles), round(conflicts, 6)

    return run


@pytest.mark.parametrize("num", [1, 64, 200])
def test_aligned_loads_run_at_512_bytes_a_cycle(schedule, num):
    assert schedule(LOADS, num, VECTOR) == ((num - 1) // 2 + LOAD, 0)


def test_loads_of_one_half_run_at_256_bytes_a_cycle(schedule):
    assert schedule(LOADS, 100, 2 * VECTOR) == (99 + LOAD, 99 / 2)


def test_loads_of_one_place_share_it(schedule):
    assert schedule(LOADS, 100, 0) == (49 + LOAD, 0)


@pytest.mark.parametrize("step", [VECTOR, 2 * VECTOR])
def test_stores_run_at_256_bytes_a_cycle(schedule, step):
    assert schedule(STORES, 100, step) == (99 + STORE, 0)


def test_a_load_and_a_store_of_different_halves_run_side_by_side(schedule):
    num = 100
    assert schedule(BOTH, num, 2 * VECTOR, to=FAR + HALF)[0] == LOAD + num - 1 + STORE


def test_a_load_and_a_store_of_one_half_take_turns(schedule):
    """Each cycle has one of the two: 128 and 128 bytes a cycle."""
    num = 100
    cycles, conflicts = schedule(BOTH, num, 2 * VECTOR, to=FAR)
    # The last store waits for the last load at most.
    assert 2 * num - 1 + STORE <= cycles <= 2 * num - 1 + LOAD + STORE
    assert conflicts == pytest.approx(num, rel=0.2)


def test_stores_between_the_halves_leave_loads_no_bank(schedule):
    """Of three accesses only two loads, of neighbouring vectors, share a cycle."""
    num = 100
    cycles, _ = schedule(BOTH, num, VECTOR, to=FAR + BLOCK)
    assert 1.5 * num <= cycles <= 1.5 * num + LOAD + STORE + 2


@pytest.mark.parametrize("start", [0, BLOCK, 1])
def test_neither_alignment_nor_the_first_block_matters_to_loads(schedule, start):
    """Eight blocks of two halves, one from each group; the state register holds the first."""
    assert schedule(UNALIGNED, 100, 0, from_=start)[0] == (101 - 1) // 2 + LOAD


@pytest.mark.parametrize(
    ("step", "cycles"),
    [
        pytest.param(BLOCK, 49, id="neighbouring banks"),
        pytest.param(16 * BLOCK, 99, id="one bank"),
    ],
)
def test_a_narrow_load_takes_its_bank_only(schedule, step, cycles):
    num = 100
    assert schedule(ELEMENTS, num, step)[0] == cycles + LOAD


@pytest.mark.parametrize(("to", "least"), [(HALF, 100), (0, 200)])
def test_a_narrow_store_takes_its_bank_only(schedule, to, least):
    cycles, _ = schedule(BOTH_NARROW, 100, 2 * VECTOR, to=FAR + to)
    assert least <= cycles <= least + LOAD + STORE


# Distance of blocks, cycles of a load and of a store: a bank gives one, a group takes one a cycle,
# and no instruction takes less than two.
STRIDES = [
    (0, 2, 2),
    (1, 2, 2),
    (2, 2, 2),
    (4, 2, 4),
    (8, 4, 8),
    (16, 8, 8),
    (17, 2, 2),
    (32, 8, 8),
]


@pytest.mark.parametrize(("stride", "load", "store"), STRIDES)
def test_strided_blocks_take_as_long_as_their_busiest_bank(schedule, stride, load, store):
    num = 10
    assert schedule(LOAD_BLOCKS, num, stride) == (num * load - 2 + LOAD, num * (load - 2))
    assert schedule(STORE_BLOCKS, num, stride) == (num * store - 2 + STORE, num * (store - 2))


# Distance of elements in floats, cycles: 32 units of 8 bytes serve a word each, for one half of the
# lanes, then for the other.
DISTANCES = [(0, 2), (1, 2), (2, 2), (4, 4), (8, 8), (32, 32), (64, 64), (65, 4), (66, 2)]


@pytest.mark.parametrize(("distance", "cycles"), DISTANCES)
def test_gathers_and_scatters_take_as_long_as_their_busiest_unit(schedule, distance, cycles):
    num = 5
    lost = num * (cycles - 2)
    assert schedule(GATHERS, num, distance) == (num * cycles - 2 + GATHER, lost)
    assert schedule(SCATTERS, num, distance) == (num * cycles - 2 + SCATTER, lost)


# Byte distance of blocks: both banks of a group are in each other's way.
@pytest.mark.parametrize(("distance", "cycles"), [(32, 2), (64, 2), (128, 4), (256, 8), (288, 2)])
def test_gathers_of_blocks_take_as_long_as_their_busiest_group(schedule, distance, cycles):
    num = 5
    assert schedule(GATHER_BLOCKS, num, distance)[0] == num * cycles - 2 + GATHER


def test_a_gather_of_two_rows_of_one_unit_takes_twice_as_long(schedule):
    """Elements 0 and 128 in turn, as in a public example: slower than elements in order."""
    num = 5
    assert schedule(GATHER_PAIRS, num, 128)[0] == num * 4 - 2 + GATHER
    assert schedule(GATHERS, num, 1)[0] == num * 2 - 2 + GATHER


# Cycles that a public SIMT program prints for 100 turns of a load and an addition by one warp.
PUBLISHED = [
    pytest.param(0, 1078, id="one element"),
    pytest.param(2, 1107, id="a word each"),
    pytest.param(1, 1081, id="neighbours share words"),
    pytest.param(128, 3760, id="rows of one bank"),
    pytest.param(64, 3760, id="both banks of a group"),
]


@pytest.mark.parametrize(("step", "published"), PUBLISHED)
def test_lanes_of_a_warp_wait_for_each_others_words(simt_banks, step, published):
    assert simt_banks(32, step)[0] == pytest.approx(published, rel=0.03)


@pytest.mark.parametrize(("share", "words"), [(1, 32), (2, 16), (8, 4), (32, 1)])
def test_a_conflict_counts_the_words_of_a_unit(simt_banks, share, words):
    """Lanes that read the same word share it."""
    cycles, conflicts = simt_banks(32, 128, share)
    gap = simt_banks(32, 0)[0] / 200
    assert cycles == pytest.approx(100 * (gap + max(gap, words)), rel=0.01)
    assert conflicts == pytest.approx(100 * (words - 1))


def test_warps_take_turns_at_a_busy_unit(simt_banks):
    """One warp's additions go on while others read; UB alone is the limit."""
    cycles, conflicts = simt_banks(2048, 128)
    assert cycles == pytest.approx(100 * 64 * 32, rel=0.01)
    assert conflicts == pytest.approx(100 * 64 * 31)


@pytest.mark.parametrize("warps", [1, 3])
def test_lanes_that_leave_a_loop_early_meet_the_others_behind_it(simt_ragged, warps):
    """Turn t has the lanes above t, the last read has all of them: one word a cycle."""
    profile = simt_ragged(32 * warps)
    words = [31 - turn for turn in range(31)] + [32]
    lost = warps * sum(count - 1 for count in words)
    assert profile.bank_conflicts * profile.cycles == pytest.approx(lost)


def test_conflicts_are_named_by_the_call_of_their_function(ub_streams, tmp_path):
    profile = ub_streams(STORE_BLOCKS, 100, 16)
    call = (KERNELS / "ub_streams.hpp").read_text().split("\n")
    number = 1 + next(i for i, line in enumerate(call) if "asc_vf_call<streams>" in line)
    ((line, share),) = bank_conflict_lines(profile).items()
    assert line.endswith(f":{number}")
    assert share == pytest.approx(profile.bank_conflicts)
    assert share * profile.cycles == pytest.approx(100 * (8 - 2))
    assert "V: bank conflicts" in _text(profile)
    assert f"time at {line}" in _text(profile)
    quiet = _text(ub_streams(STORES, 100, VECTOR))
    assert "bank conflicts" not in quiet
    write_chrome_trace(tmp_path / "trace.json", load_timeline())
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (function,) = (event for event in events if event["name"] == "VectorFunction")
    assert (
        function["args"] | {"loads": 0, "stores": 100, "bank_conflict_cycles": 0}
        == (function["args"])
    )


def _text(profile: TimingProfile) -> str:
    """What `print_profile` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_profile(profile)
    return out.getvalue()
