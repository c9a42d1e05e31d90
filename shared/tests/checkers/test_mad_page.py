"""The kernels of the MAD page are silent; every deleted synchronisation is seen."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from types import ModuleType

import numpy as np
import pytest

from deep_jit._shared.emulator import gm_range, record
from deep_jit._shared.jit import u32

from .conftest import PAGE, Checked

_SYNC = re.compile(r"^\s*mad::(notify|wait)\w*(<[^>]*>)?\(.*\);$")
_EXAMPLES = ["tile_matmul", "pipelined_matmul", "handover", "staged_operand", "ub_round_trip"]


def _reference() -> ModuleType:
    path = PAGE.parents[3] / "shared" / "tests" / "mad" / "test_reference.py"
    spec = importlib.util.spec_from_file_location("mad_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()
schedules = pytest.mark.parametrize(
    "options",
    [{"schedule": "immediate"}, {"schedule": "deferred", "seed": 5, "uninitialized": "nan"}],
    ids=["immediate", "deferred"],
)


def _silent(test, *args, options) -> None:
    with record() as reports:
        test(*args, {"checks": "all", **options})
    assert [str(report) for report in reports] == []


@schedules
@pytest.mark.parametrize("size", [(64, 64, 64), (1, 1, 1), (17, 30, 50)], ids=str)
@pytest.mark.parametrize("name", ["tile_matmul", "pipelined_matmul", "handover"])
def test_matmuls_are_silent(name, size, options):
    _silent(reference.test_matmul, name, size, options=options)


@schedules
@pytest.mark.parametrize("size", [(64, 64, 64), (5, 63, 64)], ids=str)
def test_transposed_matmul_is_silent(size, options):
    _silent(reference.test_transposed_matmul, size, options=options)


@schedules
@pytest.mark.parametrize("size", [(32, 64), (7, 33)], ids=str)
def test_ub_round_trip_is_silent(size, options):
    _silent(reference.test_ub_round_trip, *size, options=options)


@schedules
@pytest.mark.parametrize("size", [(64, 64), (3, 17)], ids=str)
def test_staged_operand_is_silent(size, options):
    _silent(reference.test_staged_operand, *size, options=options)


@schedules
@pytest.mark.parametrize("fp4", [False, True], ids=["fp8", "fp4"])
@pytest.mark.parametrize("size", [(64, 64, 256), (17, 30, 100)], ids=str)
def test_mx_matmul_is_silent(size, fp4, options):
    _silent(reference.test_mx_matmul, size, fp4, options=options)


def _gm(array: np.ndarray) -> ctypes.Structure:
    return reference._gm(array)


def _run(checked: Checked, name: str, text: str) -> list:
    rng = np.random.default_rng(0)
    bf16 = reference._BF16
    m, n, k = (
        (32, 64, 64)
        if name == "staged_operand"
        else (64, 64, 256 if name == "pipelined_matmul" else 64)
    )
    a, b = rng.standard_normal((m, k)).astype(bf16), rng.standard_normal((n, k)).astype(bf16)
    d = np.zeros((m, n), np.float32 if name in ("tile_matmul", "staged_operand") else bf16)
    if name == "ub_round_trip":
        d = np.zeros((32, 64), bf16)
        args = [_gm(a[:32]), _gm(d), u32(32), u32(64)]
    elif name == "staged_operand":
        args = [_gm(a.reshape(-1, 16)), _gm(b), _gm(d), u32(n), u32(k)]
    else:
        args = [_gm(a), _gm(b), _gm(d), u32(m), u32(n), u32(k)]
    memory = [gm_range(a, "a", read_only=True), gm_range(b, "b", read_only=True), gm_range(d, "d")]
    return checked.launch(text, args, name=name, memory=memory)


def _sync_lines(name: str) -> list[int]:
    lines = reference._examples()[name].splitlines()
    return [i for i, line in enumerate(lines) if _SYNC.match(line)]


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name in _EXAMPLES for line in _sync_lines(name)]
)
def test_a_deleted_synchronisation_is_reported(checked, name, line):
    lines = reference._examples()[name].splitlines()
    deleted = lines[line]
    lines[line] = ""
    assert _run(checked, name, "\n".join(lines)), f"nothing seen without: {deleted.strip()}"


@pytest.mark.parametrize(
    ("deleted", "role"),
    [
        ("mad::copy_l1_to_l0a(l0_a, l1_a, 0, 0, m, k);", "mad::mad"),
        ("mad::copy_gm_to_l1(l1_b, b, n, k, hint);", "mad::mad"),
    ],
    ids=["l0a", "l1"],
)
def test_a_product_of_undefined_operands_is_reported_where_it_leaves(
    checked, named_lines, deleted, role
):
    text = reference._examples()["tile_matmul"].replace(deleted, "")
    found = [r for r in _run(checked, "tile_matmul", text) if r.checker == "initcheck"]
    assert len(found) == 1, found
    lines = named_lines(found[0], text)
    assert "mad::copy_l0c_to_gm" in lines[0]
    assert role in lines[1]


def test_a_drain_that_ignores_the_unit_flag_races(checked, named_lines):
    text = reference._examples()["handover"].replace(
        "copy_l0c_to_ub<asc_unit_flag_mode::ENABLE_UPDATE>",
        "copy_l0c_to_ub<asc_unit_flag_mode::DISABLE>",
    )
    reports = _run(checked, "handover", text)
    races = [r for r in reports if r.checker == "racecheck" and r.memory == "L0C"]
    assert races
    assert [line.split("<")[0] for line in named_lines(races[0], text)] == [
        "mad::mad",
        "mad::copy_l0c_to_ub",
    ]
    assert any("unit flags of L0C are still set" in r.message for r in reports)
