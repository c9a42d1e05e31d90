"""Traces on disk, replay with other constants, timelines, and errors."""

from __future__ import annotations

import json

import pytest

from deep_jit._shared.emulator import (
    emulator,
    last_profile,
    replay_trace,
    save_trace,
    timing_constants,
)
from deep_jit._shared.emulator.timeline import load_timeline, write_chrome_trace
from deep_jit._shared.emulator.timing import timed_launches
from deep_jit._shared.emulator.timing_table import busy_table, summary
from deep_jit._shared.emulator.timing_trace import read_trace
from deep_jit._shared.jit import ConfigError


@pytest.fixture
def trace(closed_form, tmp_path):
    """File of a recorded chain of flags on two blocks, and its profile."""
    profile = closed_form(6, 20, blocks=2)
    path = tmp_path / "chain.trace"
    save_trace(path)
    return path, profile


def test_a_saved_trace_gives_the_same_time(trace, closed_form):
    path, profile = trace
    closed_form(0)
    assert replay_trace(path) == profile


@pytest.mark.parametrize("mode", ["fast", "replay"])
def test_a_replay_changes_nothing_of_a_kernel_without_gm(trace, mode):
    path, profile = trace
    assert replay_trace(path, mode=mode).cycles == profile.cycles


def test_constants_can_be_replaced(trace):
    path, profile = trace
    slow = replay_trace(path, constants={"flag_cycles": 108})
    assert slow.cycles == pytest.approx(profile.cycles + 20 * 2 * 100, rel=1e-3)
    half = replay_trace(path, constants={"clock_mhz": 825})
    assert half.cycles < profile.cycles  # core_start_us has fewer cycles
    assert half.duration_us > profile.duration_us


def test_every_constant_is_named_once_and_has_a_source(closed_form):
    closed_form(0)
    table = timing_constants()
    assert len({c.name for c in table}) == len(table)
    for c in table:
        assert c.source in ("[G]", "[T]", "[P]", "[K]", "[D]", "[F]", "[fit]", "[open]"), c
        assert c.source != "[open]" or c.meaning, c


def test_an_unknown_constant_is_refused(trace):
    with pytest.raises(ConfigError, match="no constant is named 'hbm'"):
        replay_trace(trace[0], constants={"hbm": 1})
    with pytest.raises(ConfigError, match="allowed: a number >= 0"):
        replay_trace(trace[0], constants={"clock_mhz": -1})
    with pytest.raises(ConfigError, match="mode got 'slow'"):
        replay_trace(trace[0], mode="slow")


def test_damaged_traces_are_refused(trace, tmp_path):
    content = trace[0].read_bytes()
    for damaged in (b"", content[:100], content[:-1], b"X" + content[1:]):
        path = tmp_path / "damaged.trace"
        path.write_bytes(damaged)
        with pytest.raises(ConfigError, match="record it again"):
            replay_trace(path)
    with pytest.raises(ConfigError, match="cannot read"):
        replay_trace(tmp_path / "absent.trace")


def test_records_of_a_trace(trace):
    content = read_trace(trace[0])
    assert content.num_blocks == 2
    assert [(core.block, core.slot) for core in content.cores] == [(0, "AIC"), (1, "AIC")]
    names = [content.op_names[op] for op in content.cores[0].records["op"]]
    assert names[:5] == ["SetFlag", "WaitFlag", "Mmad", "SetFlag", "WaitFlag"]
    assert len(names) == 20 * 5


def test_chrome_trace(trace, tmp_path):
    path = tmp_path / "chain.json"
    write_chrome_trace(path, load_timeline(trace[0]))
    document = json.loads(path.read_text())
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert len(events) == 2 * 20
    assert {event["name"] for event in events} == {"Mmad"}
    assert all(event["args"]["multiply_adds"] == 128**3 for event in events)
    meta = {e["args"]["name"] for e in document["traceEvents"] if e["ph"] == "M"}
    assert meta == {"block 0 AIC", "block 1 AIC", "M"}
    assert "modelled" in document["otherData"]["note"]
    times = [event["ts"] for event in events if event["pid"] == 0]
    assert times == sorted(times)
    assert times[0] > 0


def test_option_trace_path_writes_the_timeline(closed_form, tmp_path):
    path = tmp_path / "run.json"
    closed_form(4, 3, trace_path=str(path))
    events = json.loads(path.read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 3


def test_trace_path_needs_timing(tmp_path):
    with pytest.raises(ConfigError, match="trace_path"), emulator(trace_path=str(tmp_path / "x")):
        pass


def test_launches_are_collected(closed_form):
    with timed_launches() as profiles:
        closed_form(4, 10)
        closed_form(5, 10)
    closed_form(0)
    assert [profile.bound[0] for profile in profiles] == ["M", "FIX"]
    assert profiles[0].flops == 20 * 128**3
    assert profiles[1].flops == 0


def test_texts_say_that_time_is_modelled(closed_form):
    profile = closed_form(4, 500)
    assert "modelled" in summary(profile)
    assert "M-bound" in summary(profile)
    table = busy_table(profile)
    assert table.row_count >= 2


def test_pictures(trace, tmp_path):
    pytest.importorskip("matplotlib")
    from deep_jit._shared.emulator.plots import plot_roofline, plot_timeline

    timeline = load_timeline(trace[0])
    plot_timeline(tmp_path / "t.png", timeline, block=1)
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigError, match=r"block got 7; allowed: 0 .. 1"):
        plot_timeline(tmp_path / "u.png", timeline, block=7)
    with pytest.raises(ConfigError, match="no HBM traffic"):
        plot_roofline(
            tmp_path / "r.svg", {"x": last_profile()}, peak_tflops={"bf16": 432.5}, hbm_gbps=3600
        )


def test_timing_off_times_nothing(closed_forms_kernel, data, closed_form):
    import numpy as np

    before = closed_form(4, 10)
    closed_forms_kernel.launch({"num_blocks": 1}, data, np.int32(0), np.int32(0))
    assert last_profile() == before
