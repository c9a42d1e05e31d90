"""Each mistake is reported by the right checker with the right lines; the intact twin is silent."""

from __future__ import annotations

import pytest

from . import (
    broken_cube_kernels,
    broken_kernels,
    broken_pipelines,
    broken_scalar_kernels,
    broken_simt_kernels,
    broken_vector_orders,
)
from .conftest import Case

_TABLES = (
    broken_kernels,
    broken_cube_kernels,
    broken_pipelines,
    broken_scalar_kernels,
    broken_simt_kernels,
    broken_vector_orders,
)
cases = pytest.mark.parametrize(
    "case", [case for table in _TABLES for case in table.CASES], ids=lambda case: case.name
)
schedules = pytest.mark.parametrize(
    "schedule",
    [{"schedule": "immediate"}, {"schedule": "deferred", "seed": 7}],
    ids=["immediate", "deferred"],
)


@cases
@schedules
def test_the_intact_kernel_is_silent(checked, case, schedule):
    assert [str(report) for report in checked.run(case, case.text, **schedule)] == []


@cases
def test_the_mistake_is_reported(checked, named_lines, case):
    reports = checked.run(case, case.broken())
    fitting = [r for r in reports if r.checker == case.checker and case.says in r.message]
    assert fitting, [str(report) for report in reports]
    assert fitting[0].severity == case.severity
    lines = named_lines(fitting[0], case.broken())
    assert len(lines) >= len(case.lines), str(fitting[0])
    for line, wanted in zip(lines, case.lines, strict=False):
        assert wanted in line, str(fitting[0])
    assert fitting[0].fix or case.checker == "memcheck"


@cases
def test_one_checker_alone_finds_its_mistakes(checked, case):
    reports = checked.run(case, case.broken(), checks=(case.checker,))
    assert {r.checker for r in reports} == {case.checker}


@schedules
@pytest.mark.parametrize("name", broken_vector_orders.SILENT)
def test_orders_that_need_no_barrier_are_silent(checked, name, schedule):
    case = Case(name, broken_vector_orders.SILENT[name], "", "", "", ())
    assert [str(report) for report in checked.run(case, case.text, **schedule)] == []
