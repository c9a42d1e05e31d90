"""Keys of TileLang functions: what they tell apart, what has none, and what they save."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from random import random

import pytest

from deep_jit._shared.jit.tilelang.front_key import call_form, function_key

torch = pytest.importorskip("torch")

_numbers = itertools.count()

BASE = """
import math
import front_key_settings as settings
SIZE = 4
TABLE = {"a": [1, 2.5], "b": (None, True)}
def helper(x, shift=2):
    return (x << shift) + SIZE
def outer(captured):
    def function(a, b: "SIZE" = 3):
        c: settings.KIND = a
        return helper(a) + captured + settings.LIMIT + math.floor(TABLE["a"][1])
    return function
function = outer(7)
"""


@pytest.fixture
def key_of(tmp_path, monkeypatch):
    """The key of `function` in a module with this text, and its settings module."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key(text: str = BASE, settings: str = "LIMIT = 1\nKIND = int\n") -> str | None:
        n = next(_numbers)
        (tmp_path / "front_key_settings.py").write_text(settings)
        monkeypatch.delitem(sys.modules, "front_key_settings", raising=False)
        importlib.invalidate_caches()
        path = tmp_path / f"keyed_{n}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return function_key(module.function, ("ascend",), ("1",))

    return key


def test_equal_functions_have_one_key(key_of):
    assert key_of() is not None
    assert key_of() == key_of()
    # What the function does not read does not count.
    assert key_of(BASE + "OTHER = object()\n", "LIMIT = 1\nKIND = int\nOTHER = 2\n") == key_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE = 4", "SIZE = 5"),
        ("2.5", "3.5"),
        ("outer(7)", "outer(8)"),
        ("shift=2", "shift=3"),
        ("x << shift", "x >> shift"),
        (" = 3", " = 4"),
        ("+ captured", "- captured"),
        ("math.floor", "math.ceil"),
        ("None, True", "None, 1"),
    ],
)
def test_every_value_counts(key_of, old, new):
    assert old in BASE
    assert key_of(BASE.replace(old, new)) not in (None, key_of())


@pytest.mark.parametrize("settings", ["LIMIT = 2\nKIND = int\n", "LIMIT = 1\nKIND = float\n"])
def test_attributes_of_modules_count(key_of, settings):
    assert key_of(settings=settings) not in (None, key_of())


def test_options_versions_and_environment_count(monkeypatch):
    keys = {
        function_key(itertools_free, ("ascend",), ("1",)),
        function_key(itertools_free, ("cuda",), ("1",)),
        function_key(itertools_free, ("ascend",), ("2",)),
    }
    monkeypatch.setenv("TILELANG_TEST_SWITCH", "1")
    keys.add(function_key(itertools_free, ("ascend",), ("1",)))
    assert len(keys) == 4
    assert None not in keys


def itertools_free(a):
    """A function that reads nothing."""
    return a + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE = 4", "SIZE = object()"),
        ("import math", "import math, random"),  # together with the use below
        ("settings.LIMIT", "len(vars(settings))"),
        ("settings.LIMIT", "eval('settings.LIMIT')"),
        ("c: settings.KIND = a", "import os"),
        ("TABLE = {", "class Table(dict): pass\nTABLE = Table() or {"),
    ],
)
def test_what_has_no_key(key_of, old, new):
    text = BASE.replace(old, new)
    if "random" in new:
        text = text.replace("math.floor(", "random.randint(1, ")
    if "Table" in new:
        text = (
            text.replace("Table() or {", "Table(")
            .replace("True)}", "True))")
            .replace('"a": [1, 2.5], "b": (None', "a=[1, 2.5], b=(None")
        )
    assert text != BASE
    assert key_of(text) is None


def test_forms_of_calls():
    x = torch.zeros(4, 6)
    runtime = {"x", "s"}
    form = call_form({"x": x, "n": 1}, runtime)
    assert form == call_form({"n": 1, "x": torch.ones(4, 6)}, runtime)
    others = [
        {"x": x.t().contiguous(), "n": 1},
        {"x": torch.zeros(6, 4).t(), "n": 1},
        {"x": x.double(), "n": 1},
        {"x": x, "n": 1.0},
        {"x": x, "n": True},
        {"x": x, "n": 2},
        {"x": x, "m": 1},
        {"x": x, "n": (1,)},
        {"x": x, "n": torch.float16},
    ]
    forms = [form, *(call_form(other, runtime) for other in others)]
    assert None not in forms
    assert len(set(forms)) == len(forms)
    assert call_form({"x": x, "s": 1.0}, runtime) == call_form({"x": x, "s": 2.0}, runtime)
    assert call_form({"n": object()}, runtime) is None


PROGRAM = """
import importlib.util, sys, torch, deep_jit
spec = importlib.util.spec_from_file_location("traced", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from tilelang.language.eager.builder import JITFunc
calls = []
original = JITFunc.get_tir
JITFunc.get_tir = lambda *args, **kwargs: calls.append(1) or original(*args, **kwargs)
x = torch.randn(256)
for _ in range(2):
    torch.testing.assert_close(module.scaled(x, 3.0), x * 3 + module.OFFSET)
y = torch.randn(512)
torch.testing.assert_close(module.scaled(x=y, factor=2.0), y * 2 + module.OFFSET)
torch.testing.assert_close(module.added(256)(x), x + module.OFFSET)
print(len(calls))
"""

MODULE = """
import deep_jit, tilelang
import tilelang.ascend.language as T
OFFSET = 1
def offset(value):
    return value + OFFSET
@T.macro
def store(y, i, value):
    y[i] = offset(value)
@deep_jit.tilelang
@tilelang.jit(target="ascend")
def scaled(x, factor: T.float32):
    n = T.const("n")
    x: T.Tensor((n,), T.float32)
    y = T.empty((n,), T.float32)
    with T.Kernel(n // 128) as bx:
        with T.SimtVF(threads=128):
            for i in T.Parallel(128):
                store(y, bx * 128 + i, x[bx * 128 + i] * factor)
    return y
@deep_jit.tilelang
@tilelang.jit(target="ascend", out_idx=[-1])
def added(N):
    @T.prim_func
    def main(x: T.Tensor((N,), "float32"), y: T.Tensor((N,), "float32")):
        with T.Kernel(N // 128) as bx:
            with T.SimtVF(threads=128):
                for i in T.Parallel(128):
                    y[bx * 128 + i] = offset(x[bx * 128 + i])
    return main
"""


@pytest.mark.needs_tilelang
@pytest.mark.timeout(300)
def test_a_second_process_traces_nothing_it_knows(tmp_path):
    path = tmp_path / "traced.py"

    def traced() -> int:
        command = [sys.executable, "-c", PROGRAM, str(path)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return int(done.stdout)

    module = MODULE.replace("OFFSET = 1", f"OFFSET = {random()}")  # not in any cache
    path.write_text(module)
    assert traced() == 3  # two sizes, and the lazy function
    assert traced() == 0
    path.write_text(MODULE.replace("OFFSET = 1", f"OFFSET = {random()}"))
    assert traced() == 3
    assert traced() == 0
