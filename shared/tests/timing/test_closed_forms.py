"""Simulations against times that pen and paper give (ascend950_model.md sections 2, 3 and 6)."""

from __future__ import annotations

import pytest

from deep_jit._shared.emulator import timing_constants

TILE = 64 * 1024
CLOCK = 1650


@pytest.fixture(scope="session")
def constant(closed_form):
    closed_form(0)
    table = {c.name: c.value for c in timing_constants()}
    return table.__getitem__


@pytest.fixture(scope="session")
def begin(constant):
    """Cycles before a core's first instruction starts."""
    return constant("core_start_us") * CLOCK + constant("issue_cycles")


@pytest.mark.parametrize("mode", ["fast", "replay"])
def test_an_empty_kernel_costs_its_launch(closed_form, constant, mode):
    for blocks in (1, 32, 128):
        profile = closed_form(0, blocks=blocks, mode=mode)
        assert profile.launch_us == pytest.approx(constant(f"launch_us_{blocks}"))
        assert profile.duration_us - profile.launch_us < 2 * constant("core_start_us")
        assert profile.bound[0] == "launch"


def test_launch_overhead_is_interpolated(closed_form, constant):
    low, high = constant("launch_us_32"), constant("launch_us_128")
    assert closed_form(0, blocks=80).launch_us == pytest.approx((low + high) / 2)


def test_mmads_run_at_peak(closed_form, constant, begin):
    num = 500
    profile = closed_form(4, num)
    busy = num * 128**3 / constant("mmad_rate_16")
    assert profile.cycles == pytest.approx(begin + busy + constant("mmad_base_16"))
    assert profile.flops == 2 * num * 128**3
    assert profile.verdict == "M-bound 99 %" or profile.cube_busy["M"] > 0.99


def test_all_cores_multiply_at_once(closed_form):
    one, all_of_them = closed_form(4, 100), closed_form(4, 100, blocks=32)
    assert all_of_them.cycles == pytest.approx(one.cycles)
    assert all_of_them.flops == 32 * one.flops


def test_more_blocks_than_cores_take_turns(closed_form, begin):
    once, twice = closed_form(4, 100, blocks=32), closed_form(4, 100, blocks=33)
    assert twice.cycles == pytest.approx(2 * once.cycles, rel=0.02)


def test_drains_are_bound_by_fix(closed_form, constant, begin):
    num = 200
    profile = closed_form(5, num)
    one = 128 * 64 * 4 / constant("fix_rate") + constant("fix_ub_base")
    assert profile.cycles == pytest.approx(begin + num * one)
    assert profile.bound[0] == "FIX"


def test_one_core_loads_at_its_port(closed_form, constant, begin):
    num = 64
    profile = closed_form(1, num)
    assert profile.cycles == pytest.approx(
        begin + num * TILE / constant("gm_to_l1_rate") + constant("gm_to_l1_base"), rel=1e-6
    )
    assert profile.hbm_read_bytes == num * TILE


@pytest.mark.parametrize("scenario", [1, 2])
def test_all_cores_load_at_the_rate_of_hbm(closed_form, constant, scenario):
    num = 64
    profile = closed_form(scenario, num, blocks=32)
    expected = 32 * num * TILE / constant("hbm_read_gbps") / 1e3
    alone = profile.cycles / CLOCK - constant("core_start_us")
    assert alone == pytest.approx(expected, rel=0.02)
    assert profile.verdict.startswith("HBM-bound")


def test_shared_data_comes_from_l2(closed_form, constant):
    num = 64
    profile = closed_form(3, num, blocks=32)
    assert profile.hbm_read_bytes == num * TILE
    assert profile.l2_read_bytes == 31 * num * TILE
    hit = 31 * num * TILE / constant("l2_gbps") * (1 + constant("l2_segment_bytes") / TILE)
    miss = num * TILE / constant("hbm_read_gbps")
    alone = profile.cycles / CLOCK - constant("core_start_us")
    assert alone == pytest.approx((hit + miss) / 1e3, rel=0.02)
    assert profile.bound[0] == "L2"


def test_a_bypassing_load_leaves_nothing_in_l2(closed_form):
    assert closed_form(2, 64, blocks=32).l2_read_bytes == 0


def test_copies_reach_the_measured_mixed_rate(vector_copy, constant):
    num = 64
    profile = vector_copy(num, 32)
    moved = 32 * num * TILE
    assert profile.gm_read_bytes == profile.gm_write_bytes == moved
    behind = constant("write_behind_bytes")
    expected = (
        moved / constant("hbm_read_gbps") + (moved - behind) / constant("hbm_write_gbps")
    ) / 1e3
    alone = profile.cycles / CLOCK - constant("core_start_us")
    assert alone == pytest.approx(expected, rel=0.03)


def test_a_chain_of_flags_adds_up(closed_form, constant, begin):
    num = 100
    profile = closed_form(6, num)
    mmad = 128**3 / constant("mmad_rate_16") + constant("mmad_base_16")
    assert profile.cycles == pytest.approx(
        begin + num * (mmad + 2 * constant("flag_cycles")), rel=0.01
    )


@pytest.mark.parametrize("mode", ["fast", "replay"])
@pytest.mark.parametrize(("num", "loads"), [(1, 0), (512, 0), (16, 100)])
def test_a_vector_function_costs_its_loads_and_stores(
    vector_function, constant, begin, num, loads, mode
):
    """A cycle moves two loaded vectors, or one loaded and one stored ([P])."""
    calls = 3
    profile = vector_function(num, loads, calls, mode)
    vectors = max(num, (num + loads) / 2)
    moved = constant("vf_fixed") + vectors * constant("vf_vector")
    # Load, multiply and store of the last vector, behind those of all others.
    schedule = constant("vf_ends") + loads / 2 + num - 1 + 6 + 8 + 9
    one = max(moved, schedule)
    assert profile.cycles == pytest.approx(begin + calls * one)
    assert profile.bound[0] == "launch" or profile.bound[0] == "V"


# Cycles until a result can be used (asc_emu/vector/classes.inc).
LOAD, ADD, MUL, EXP, SUM, STORE = 6, 7, 8, 17, 22, 9


@pytest.mark.parametrize(
    ("kind", "num", "cycles"),
    [
        # Two loads begin together. Dependent sums follow one another, then the last is stored.
        pytest.param(0, 500, LOAD + 500 * ADD + STORE, id="dependent"),
        # Two units: the last pair begins 249 cycles behind the first; the store is over by then.
        pytest.param(1, 500, LOAD + 249 + ADD, id="independent"),
        # Each keeps its unit for 4 cycles.
        pytest.param(2, 500, LOAD + 249 * 4 + EXP, id="exp"),
        # Reductions are issued alone; each waits for the one before.
        pytest.param(3, 100, LOAD + 100 * SUM + STORE, id="reductions"),
        # A fence: load, multiply, store, and the same again behind it. The first load comes a cycle
        # behind the two in front of the loop.
        pytest.param(4, 50, 1 + 50 * (LOAD + MUL + STORE) + STORE, id="fences"),
    ],
)
def test_arithmetic_is_list_scheduled(vector_arithmetic, constant, begin, kind, num, cycles):
    profile = vector_arithmetic(kind, num)
    assert profile.cycles == pytest.approx(begin + constant("vf_ends") + cycles)


def test_simt_functions_cost_instructions_and_accesses(simt_work, constant, begin):
    """A turn compares, counts and stores in UB; its kernel was made for these differences."""

    def turn(threads: int) -> float:
        return (simt_work(threads, 300, 0).cycles - simt_work(threads, 100, 0).cycles) / 200

    one = turn(32) / constant("simt_gap")
    assert one == pytest.approx(3, rel=1e-3)
    # Four schedulers: few warps run side by side, many take turns, also at UB.
    assert turn(128) == pytest.approx(turn(32))
    issued, stored = one * 64 / constant("simt_schedulers"), 64 / constant("simt_ub_rate")
    assert turn(2048) == pytest.approx(max(issued, stored))
    loads = simt_work(32, 0, 20).cycles - simt_work(32, 0, 10).cycles
    assert loads / 10 >= constant("simt_gm_latency")
    # 2048 threads load 4 bytes each.
    loads = simt_work(2048, 0, 200).cycles - simt_work(2048, 0, 100).cycles
    rate = 100 * 2048 * 4 / constant("simt_gm_rate")
    assert loads >= max(rate, 100 * constant("simt_gm_latency"))


def test_lanes_of_a_warp_cost_what_the_busiest_does(simt_work):
    """Threads from 32 on do nothing: warps without work cost nothing."""
    assert simt_work(64, 100, 0, busy=32).cycles == pytest.approx(
        simt_work(32, 100, 0, busy=1).cycles, rel=0.05
    )


def test_fast_mode_divides_l2_between_cores(closed_form, constant, begin):
    num, blocks = 16, 32
    profile = closed_form(1, num, blocks=blocks, mode="fast")
    rate = constant("l2_gbps") * 1e3 / CLOCK / blocks
    one = TILE / rate * (1 + constant("l2_segment_bytes") / TILE)
    assert profile.cycles == pytest.approx(begin + num * one + constant("gm_to_l1_base"))


@pytest.mark.parametrize(
    "options",
    [{"schedule": "deferred", "seed": 3}, {"threads": 2}, {"checks": ("synccheck",)}],
    ids=str,
)
def test_time_does_not_depend_on_how_the_emulator_runs(closed_form, options):
    assert closed_form(6, 20, blocks=3, **options) == closed_form(6, 20, blocks=3)


def test_checkers_leave_the_time_of_simt_functions_alone(simt_work):
    assert simt_work(64, 99, 2, checks="all").cycles == simt_work(64, 99, 2, checks="none").cycles
