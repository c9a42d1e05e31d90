"""A handle made before checkers or timing are switched on shows them its functions all the same."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from deep_jit._shared.emulator import SanitizerError, emulator, last_profile, record
from deep_jit._shared.jit import Runtime, u32

from . import broken_kernels, broken_simt_kernels

_SIMT = ("missing_barrier_of_threads", "thread_stores_out_of_bounds", "thread_reads_unwritten_ub")
_ALL = broken_kernels.CASES + broken_simt_kernels.CASES
_BY_NAME = {case.name: case for case in _ALL}


@pytest.fixture
def arrays():
    return np.arange(640, dtype=np.uint32).astype(np.uint8), np.zeros(640, np.uint8)


def _launch(kernel, case, arrays) -> None:
    kernel.launch({"num_blocks": case.blocks}, *arrays, u32(640))


@pytest.mark.parametrize("name", _SIMT)
def test_checkers_look_at_the_threads_of_an_old_handle(checked, named_lines, name, arrays):
    case = _BY_NAME[name]
    kernel = checked.runtime.compile(name, case.broken())
    if name != "thread_stores_out_of_bounds":  # which would write into memory of the process
        _launch(kernel, case, arrays)
    with emulator(checks="all", threads=1), record() as reports, suppress(SanitizerError):
        _launch(kernel, case, arrays)
    found = [report for report in reports if report.checker == case.checker]
    assert found, [str(report) for report in reports]
    lines = named_lines(found[0], case.broken())
    assert all(wanted in line for wanted, line in zip(case.lines, lines, strict=False))


def test_both_builds_stay(checked, arrays):
    case = _BY_NAME["missing_barrier_of_threads"]
    kernel = checked.runtime.compile(case.name, case.text)
    _launch(kernel, case, arrays)
    before = checked.runtime.stats.builds
    for checks in ("all", "none", "all", "none"):
        with emulator(checks=checks):
            _launch(kernel, case, arrays)
    assert checked.runtime.stats.builds <= before + 1
    with emulator(checks="racecheck"):
        assert checked.runtime.compile(case.name, case.text).digest != kernel.digest


def test_a_kernel_without_threads_has_one_build(checked, arrays):
    case = _BY_NAME["missing_wait"]
    kernel = checked.runtime.compile(case.name, case.text)
    with emulator(checks="all"):
        _launch(kernel, case, arrays)
        assert checked.runtime.compile(case.name, case.text) is kernel


@pytest.mark.parametrize(
    "name", ["simt_function_stores_too_late", "vector_function_stores_too_late"]
)
def test_timing_sees_the_functions_of_an_old_handle(checked, name, arrays):
    text = _BY_NAME[name].text
    old = checked.runtime.compile(name, text)
    profiles = []
    with emulator(timing="fast"):
        for kernel in (old, checked.runtime.compile(name, text)):
            _launch(kernel, _BY_NAME[name], arrays)
            profiles.append(last_profile())
    assert profiles[0] == profiles[1]
    assert old.digest != kernel.digest


def test_an_unloaded_handle_stays_unloaded(checked, arrays):
    case = _BY_NAME["missing_barrier_of_threads"]
    runtime = Runtime(checked.runtime.config, backend="cpu")
    kernel = runtime.compile(case.name, case.text)
    kernel.unload()
    with emulator(checks="all"), pytest.raises(Exception, match="must be loaded before launch"):
        _launch(kernel, case, arrays)


def test_a_named_kernel_keeps_its_name_and_options(checked, arrays):
    """A build of its own is made with the options of the first one."""
    case = _BY_NAME["missing_barrier_of_threads"]
    options = {"extra_cxx_flags": ("-DUNUSED=1",)}
    kernel = checked.runtime.compile("named", case.text, options, kernel="checked")
    with emulator(checks="all"):
        again = checked.runtime.compile("named", case.text, options, kernel="checked")
        before = checked.runtime.stats.builds
        _launch(kernel, case, arrays)
    assert again.digest != kernel.digest
    assert checked.runtime.stats.builds == before
