"""Lowered kernels that come with a package: what finds them, what does not, and what they save."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import random

import pytest

import deep_jit
import deep_jit._shared.jit.tilelang.bridge as bridge_module
from deep_jit._shared.jit.log import Log
from deep_jit._shared.jit.store import DiskCache
from deep_jit._shared.jit.tilelang import lower as lower_module
from deep_jit._shared.jit.tilelang.lowered import Lowered, Parameter
from deep_jit._shared.jit.tilelang.shipped_texts import ShippedTexts, parse, text_of
from deep_jit._shared.jit.tilelang.text_cache import TextCache

torch = pytest.importorskip("torch")
KERNELS = Path(__file__).parent / "kernels.py"
needs_tilelang = pytest.mark.needs_tilelang

LOWERED = Lowered(
    name="f",
    kernel="f_kernel",
    source='#include "a"\n// }\n\ttext "ü"\n\n',
    grid=["FloorDiv", ["Add", "n", 3], 4],
    parameters=(Parameter("x", "float32", ("n", 8), ("s", 1)), Parameter("k", "int32")),
    outputs=(0,),
    kernel_parameters=("x", "k", "n"),
)


@pytest.fixture(scope="module")
def kernels():
    """The functions of kernels.py."""
    spec = importlib.util.spec_from_file_location("shipped_test_kernels", KERNELS)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """Caches that hold nothing; nothing is compiled in them."""
    monkeypatch.setenv("DJ_JIT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def lowered_by_tilelang(monkeypatch):
    """Names of the functions that TileLang lowers."""
    names = []
    original = bridge_module.lower

    def counted(function, *rest):
        names.append(lower_module.function_name(function))
        return original(function, *rest)

    monkeypatch.setattr(bridge_module, "lower", counted)
    return names


def ship(function, folder: Path) -> Path:
    """Lowers a function with one output and puts its text into a folder."""
    bridge = deep_jit.TileLangBridge()
    lowered = bridge.lowered(function, out_idx=1)
    folder.mkdir()
    key = lower_module.lowering_keys(function, {}, (1,))[1]
    path = ShippedTexts(folder).path(lowered.name, key)
    path.write_text(text_of(lowered, "A test wrote this."))
    return path


def found_in(folder: Path, function, cache: Path, monkeypatch) -> Lowered:
    """The text of a function with one output, in a process whose cache is empty."""
    monkeypatch.setenv("DJ_JIT_CACHE_DIR", str(cache))
    return deep_jit.TileLangBridge(texts=folder).lowered(function, out_idx=1)


def test_a_file_holds_everything_and_can_be_read():
    text = text_of(LOWERED, "A title.")
    assert text.startswith("// A title.\n// {\n")
    assert text.endswith(LOWERED.source)
    assert parse(text).to_json() == LOWERED.to_json()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 3],
        lambda text: text[:-1],
        lambda text: text.replace("text", "test"),
        lambda text: text.replace('"float32"', '"int32"'),
        lambda text: text.replace('"schema": 1', '"schema": 0'),
        lambda text: text.replace("// }", "// ]", 1),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "",
    ],
)
def test_a_damaged_file_counts_as_missing(tmp_path, damage):
    texts = ShippedTexts(tmp_path)
    path = texts.path("f", "0")
    assert texts.find("f", "0") is None
    text = text_of(LOWERED, "A title.")
    path.write_bytes(text.encode())
    assert texts.find("f", "0") is not None
    path.write_bytes(damage(text).encode())
    assert texts.find("f", "0") is None
    path.write_bytes(b"\xff" + text.encode())
    assert texts.find("f", "0") is None


@needs_tilelang
@pytest.mark.usefixtures("empty_cache")
def test_a_shipped_text_is_not_lowered(kernels, tmp_path, monkeypatch, lowered_by_tilelang):
    function = kernels.square.get_tir(256)
    ship(function, tmp_path / "texts")
    wanted = deep_jit.TileLangBridge().lowered(function, out_idx=1)
    lowered_by_tilelang.clear()
    assert found_in(tmp_path / "texts", function, tmp_path / "other", monkeypatch) == wanted
    assert lowered_by_tilelang == []
    # The cache has it now, for processes that know the call.
    assert found_in(tmp_path / "none", function, tmp_path / "other", monkeypatch) == wanted
    assert lowered_by_tilelang == []


@needs_tilelang
@pytest.mark.usefixtures("empty_cache")
def test_what_is_lowered_in_spite_of_shipped_texts(
    kernels, tmp_path, monkeypatch, lowered_by_tilelang
):
    function = kernels.square.get_tir(256)
    path = ship(function, tmp_path / "texts")

    def is_lowered(name: str, function=function) -> bool:
        lowered_by_tilelang.clear()
        found_in(tmp_path / "texts", function, tmp_path / name, monkeypatch)
        return lowered_by_tilelang == ["main"]

    assert not is_lowered("same")
    assert is_lowered("another function", kernels.square.get_tir(256, value=1))
    with monkeypatch.context() as patch:
        patch.setenv("DJ_JIT_SHIPPED_TEXTS", "0")
        assert is_lowered("switched off")
    with monkeypatch.context() as patch:
        tilelang = lower_module._tilelang()
        patch.setattr(lower_module, "_tilelang", lambda: replace(tilelang, version="0.0"))
        assert is_lowered("another TileLang")
    path.write_text(path.read_text()[:-9])
    assert is_lowered("damaged")


KEYS = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("keyed", {str(KERNELS)!r})
module = importlib.util.module_from_spec(spec)
sys.modules["keyed"] = module
spec.loader.exec_module(module)
import torch
from deep_jit._shared.jit.tilelang.lower import lower, lowering_keys
x = torch.zeros(2, 5, dtype=torch.int32)
makers = [
    lambda: module.counts.get_tir(x, 3),
    lambda: module.square.get_tir(256),
    lambda: module.scaled_sum.get_tir(torch.zeros(4), torch.zeros(4), 1.0),
]
order = range(3) if sys.argv[1] == "forward" else (2, 1, 0, 1)
found = {{}}
for index in order:
    function = makers[index]()
    keys = lowering_keys(function, {{"b": True, "a": 1}}, ())
    found[index] = [*keys, lower(function, {{}}, ()).to_json().hex()]
print([found[index] for index in range(3)])
"""


@needs_tilelang
@pytest.mark.timeout(300)
def test_keys_and_texts_are_those_of_any_process():
    answers = set()
    for order, seed in (("forward", "1"), ("backward", "2")):
        command = [sys.executable, "-c", KEYS, order]
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=_environment(seed)
        )
        answers.add(done.stdout)
    assert len(answers) == 1
    assert answers.pop().count("[") == 4


def _environment(seed: str) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONHASHSEED": seed}


PROGRAM = """
import importlib.util, pathlib, sys, torch, deep_jit
import deep_jit._shared.jit.tilelang.bridge as bridge
mode, path, folder = sys.argv[1:]
tilelang = deep_jit.TileLangBridge(texts=pathlib.Path(folder))
spec = importlib.util.spec_from_file_location("shipped", path)
module = importlib.util.module_from_spec(spec)
module.tilelang_bridge = tilelang
spec.loader.exec_module(module)
from tilelang.language.eager.builder import JITFunc
traced = []
get_tir = JITFunc.get_tir
JITFunc.get_tir = lambda *args, **kwargs: traced.append(1) or get_tir(*args, **kwargs)
x = torch.randn(256)
if mode == "ship":
    from deep_jit._shared.jit.tilelang.shipped_texts import ShippedTexts, text_of
    original = module.moved.original
    request = tilelang.request(original.get_tir(x), original.out_idx, original.pass_configs)
    lowered = bridge.lower(request.function, request.pass_configs, request.outputs)
    file = ShippedTexts(pathlib.Path(folder)).path(request.name, request.portable_key)
    file.write_text(text_of(lowered, "A test wrote this."))
else:
    def refuse(*_):
        raise AssertionError("lowered")
    bridge.lower = refuse
    torch.testing.assert_close(module.moved(x), x + module.OFFSET)
    print(len(traced))
"""

MODULE = """
import tilelang
import tilelang.ascend.language as T
OFFSET = 1
@tilelang_bridge
@tilelang.jit(target="ascend")
def moved(x):
    n = T.dynamic("n")
    x: T.Tensor((n,), T.float32)
    y = T.empty((n,), T.float32)
    with T.Kernel(T.ceildiv(n, 128)) as bx:
        with T.SimtVF(threads=128):
            for i in T.Parallel(128):
                if bx * 128 + i < n:
                    y[bx * 128 + i] = x[bx * 128 + i] + OFFSET
    return y
"""


@needs_tilelang
@pytest.mark.timeout(300)
def test_a_second_process_needs_neither_trace_nor_folder(tmp_path):
    path, folder = tmp_path / "shipped.py", tmp_path / "texts"
    path.write_text(MODULE.replace("OFFSET = 1", f"OFFSET = {random()}"))  # not in any cache
    folder.mkdir()

    def run(mode: str, folder: Path) -> str:
        command = [sys.executable, "-c", PROGRAM, mode, str(path), str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    run("ship", folder)
    assert run("use", folder) == "1"
    assert run("use", tmp_path / "none") == "0"


def test_a_text_that_cannot_be_kept_is_reported_once(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "tilelang").write_text("a file where a folder should be")
    told: list[tuple[str, str]] = []
    log = Log(str(tmp_path / "log"))
    log.add_hook(lambda level, message: told.append((level, message)))
    disk = DiskCache((tmp_path / "root",), source_name="k.cpp", binary_names=("k.so",), log=log)
    texts = TextCache(disk, log)
    for key in ("1", "2"):
        texts.store(key, LOWERED)
        assert texts.find(key) is None
    assert len(told) == 1
    assert told[0][0] == "warning"
    assert "lowered kernels cannot be kept in" in told[0][1]
