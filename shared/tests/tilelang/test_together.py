"""Calls in a row: compiled at the same time, run in their order, or not at all."""

from __future__ import annotations

import importlib.util
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

import deep_jit
from deep_jit import CompileError
from deep_jit._shared.jit.tilelang.front_key import call_form, means_the_same_elsewhere

torch = pytest.importorskip("torch")


@dataclass(frozen=True)
class Plan:
    """An argument of a kernel that is no plain value."""

    rows: int
    sizes: object = ()


@pytest.fixture(scope="module")
def kernels():
    """The functions of kernels.py."""
    path = Path(__file__).parent / "kernels.py"
    spec = importlib.util.spec_from_file_location("together_test_kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def meeting(monkeypatch):
    """Two compiles wait for each other: one after the other would never end."""
    from deep_jit._shared.jit.tilelang.bridge import TileLangBridge

    barrier, compiled = threading.Barrier(2, timeout=120), TileLangBridge._compiled

    def wait(self, lowered):
        barrier.wait()
        return compiled(self, lowered)

    monkeypatch.setattr(TileLangBridge, "_compiled", wait)
    return barrier


def run_together(calls):
    """Imported late: it imports what needs TileLang."""
    from deep_jit._shared.jit.tilelang.together import run_together

    run_together(calls)


@pytest.mark.needs_tilelang
@pytest.mark.timeout(300)
def test_kernels_are_compiled_at_once_and_run_in_order(kernels, meeting):
    tilelang = deep_jit.TileLangBridge()
    counts, doubled = tilelang(kernels.counts), tilelang(kernels.doubled)
    out = torch.zeros(2, 6, dtype=torch.int32)
    calls = [(counts, (out, 2), {}), (doubled, (), {"x": out}), (counts, (out, 1), {})]
    run_together(calls)
    # 1 twice, doubled, and once more 1
    assert out.tolist() == [[3, 2, 0, 0, 0, 0], [3] * 6]
    assert meeting.n_waiting == 0
    run_together(calls)  # nothing is compiled, or it would wait for a second one
    assert out.tolist() == [[9, 6, 0, 0, 0, 0], [9] * 6]


@pytest.mark.needs_tilelang
@pytest.mark.timeout(300)
def test_nothing_runs_when_one_cannot_be_compiled(kernels, monkeypatch):
    tilelang = deep_jit.TileLangBridge()
    counts, doubled = tilelang(kernels.counts), tilelang(kernels.doubled)
    out = torch.zeros(2, 6, dtype=torch.int32)
    compiled = tilelang._compiled

    def refuse(lowered):
        if lowered.name == "doubled":
            raise CompileError("refused by the test")
        return compiled(lowered)

    monkeypatch.setattr(tilelang, "_compiled", refuse)
    calls = [(counts, (out, 2), {}), (doubled, (out,), {})]
    with pytest.raises(CompileError, match="refused by the test"):
        run_together(calls)
    assert not out.any()
    monkeypatch.undo()
    run_together(calls)
    assert out[0].tolist() == [2, 2, 0, 0, 0, 0]


def test_forms_with_frozen_objects():
    form = call_form({"plan": Plan(2), "n": 1}, ())
    assert form == call_form({"plan": Plan(2), "n": 1}, ())
    assert form != call_form({"plan": Plan(3), "n": 1}, ())
    assert not means_the_same_elsewhere(form)
    assert not means_the_same_elsewhere(call_form({"plans": (1, (Plan(2),))}, ()))
    assert means_the_same_elsewhere(call_form({"n": 1, "sizes": (1, (2.0, "a"))}, ()))
    assert call_form({"plan": Plan(2, [])}, ()) is None
    assert call_form({"plan": Plan(2)}, ("plan",)) is None
