"""Form of the findings: texts, JSON, counts, warnings, and launches that go on."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest

from deep_jit._shared.emulator import SanitizerError, SanitizerWarning, emulator, gm_range, record
from deep_jit._shared.emulator.gm_ranges import ranges_of_arguments
from deep_jit._shared.jit import LaunchError, u32

from .broken_kernels import CASES

_BY_NAME = {case.name: case for case in CASES}


def _launch(checked, case, src, dst, **options):
    kernel = checked.runtime.compile(case.name, case.broken())
    with emulator(checks="all", **options):
        kernel.launch({"num_blocks": case.blocks}, src, dst, u32(640))


@pytest.fixture
def arrays():
    return np.arange(640, dtype=np.uint32).astype(np.uint8), np.zeros(640, np.uint8)


def test_an_error_is_a_launch_error_with_the_reports(checked, arrays):
    with pytest.raises(SanitizerError) as caught:
        _launch(checked, _BY_NAME["missing_wait"], *arrays)
    error = caught.value
    assert isinstance(error, LaunchError)
    report = error.reports[0]
    assert (report.checker, report.memory, report.address) == ("racecheck", "UB", 0)
    assert "to fix: notify MTE2->MTE3 after the first" in str(error)
    assert json.loads(json.dumps(report.to_json()))["places"][1]["pipe"] == "MTE3"
    assert pickle.loads(pickle.dumps(error)).reports == error.reports


def test_the_launch_runs_to_its_end(checked, arrays):
    src, dst = arrays
    with pytest.raises(SanitizerError):
        _launch(checked, _BY_NAME["missing_wait"], src, dst)
    np.testing.assert_array_equal(dst, src)


def test_equal_findings_are_counted(checked):
    case = _BY_NAME["overlapping_loads"]
    (report,) = checked.run(case, case.broken(), checks="racecheck")
    assert report.count == 1
    case = _BY_NAME["overlap_of_one_byte"]
    (report,) = checked.run(case, case.broken(), checks="racecheck")
    assert report.bytes == 1


def test_warnings_do_not_fail_the_launch(checked, arrays):
    with pytest.warns(SanitizerWarning, match="still set when the kernel ends"):
        _launch(checked, _BY_NAME["leftover_flag"], *arrays)
    with warnings.catch_warnings(), record() as reports:
        warnings.simplefilter("error")
        _launch(checked, _BY_NAME["leftover_flag"], *arrays)
    assert [r.severity for r in reports] == ["warning"]


def test_out_of_bounds_stops_before_the_access(checked, arrays):
    src, _ = arrays
    guarded = np.zeros(641, np.uint8)
    with pytest.raises(
        SanitizerError, match="stopped by: CopyUbToGm: the access to GM is out of bounds"
    ):
        _launch(checked, _BY_NAME["out_of_bounds_store"], src, guarded[:640])
    assert not guarded.any()


def test_report_leaves_the_access_out_and_goes_on(checked, arrays):
    src, dst = arrays
    with pytest.raises(SanitizerError) as caught:
        _launch(checked, _BY_NAME["out_of_bounds_store"], src, dst, out_of_bounds="report")
    assert not dst.any()
    assert caught.value.report["kind"] == "sanitizer"
    assert "stopped" not in caught.value.report


def test_report_works_for_on_chip_bounds_without_checkers(checked, arrays):
    case = _BY_NAME["past_the_end_of_ub"]
    kernel = checked.runtime.compile(case.name, case.broken())
    with emulator(checks="none", out_of_bounds="report"), pytest.raises(SanitizerError) as caught:
        kernel.launch({"num_blocks": 1}, *arrays, u32(640))
    assert [r.checker for r in caught.value.reports] == ["memcheck"]


def test_without_checkers_a_race_goes_unnoticed(checked, arrays):
    src, dst = arrays
    case = _BY_NAME["missing_wait"]
    kernel = checked.runtime.compile(case.name, case.broken())
    with emulator(checks="none"):
        kernel.launch({"num_blocks": 1}, src, dst, u32(640))
    np.testing.assert_array_equal(dst, src)


def test_arguments_tell_their_ranges():
    a = np.zeros((4, 8), np.float32)
    view = a[:, ::2]
    ranges = ranges_of_arguments([a, view, u32(3), None, 1.5], [True, False])
    assert ranges is not None
    assert [(r.bytes, r.read_only) for r in ranges] == [(128, True), (4 * 32 - 4, False)]
    assert "argument 0, float32[4, 8]" in ranges[0].name
    assert ranges_of_arguments([a, b"bytes of a struct"], []) is None


def test_a_range_of_a_read_only_array_is_read_only():
    a = np.zeros(3, np.float64)
    a.flags.writeable = False
    assert gm_range(a) == (a.ctypes.data, 24, True, "float64[3]")
    assert gm_range(a[::-1], "r").address == a.ctypes.data
