"""The public names of deep_jit: all of the shared JIT and emulator, loaded on first use."""

import subprocess
import sys

import pytest

import deep_jit
from deep_jit._shared import emulator, jit
from deep_jit._shared.jit import tilelang

TILELANG = ["TileLangBridge", "TileLangFunction", "TileLangKernel"]
NAMES = [name for name in deep_jit.__all__ if name != "__version__"]


def test_every_public_name_of_the_shared_code_is_exported():
    assert set(NAMES) == {*jit.__all__, *emulator.__all__, *TILELANG, "tilelang"}
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tilelang"])
def test_a_name_is_the_object_of_the_shared_code(name):
    home = tilelang if name in TILELANG else jit if name in jit.__all__ else emulator
    assert getattr(deep_jit, name) is getattr(home, name)
    assert name in dir(deep_jit)


def test_the_bridge_is_one_object_and_needs_no_tilelang_yet():
    assert deep_jit.tilelang is deep_jit.tilelang
    assert isinstance(deep_jit.tilelang, deep_jit.TileLangBridge)
    assert "tilelang" in dir(deep_jit)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Runtimes'"):
        _ = deep_jit.Runtimes


def test_import_is_light():
    """No torch, no numpy, no compiled module, and none of the JIT."""
    script = "import sys, deep_jit; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    heavy = {"torch", "numpy", "click", "rich", "deep_jit._native", "deep_jit._shared.jit"}
    assert heavy.isdisjoint(loaded)
