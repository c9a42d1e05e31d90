"""`shared/_component.py`: each component sees its own copy (architecture.md section 3)."""

import importlib.util
from pathlib import Path

import pytest

from deep_gemm._shared import _component as of_gemm
from deep_jit._shared import _component as of_jit


def test_each_copy_knows_its_component():
    assert of_jit.component_name() == "deep_jit"
    assert of_gemm.component_name() == "deep_gemm"


def test_each_copy_loads_its_own_native_module():
    assert of_jit.native().__name__ == "deep_jit._native"
    assert of_gemm.native().__name__ == "deep_gemm._native"
    assert of_jit.native() is not of_gemm.native()


def test_include_folders_exist_and_hold_the_headers():
    mad, emulated = of_jit.include_dirs()
    assert (mad / "mad").is_dir()
    assert (emulated / "c_api" / "asc_simd.h").is_file()
    assert of_jit.shared_root() == mad.parent


def test_shared_code_outside_a_component_says_how_to_import_it():
    path = Path(of_jit.__file__)
    spec = importlib.util.spec_from_file_location("shared._component", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(ImportError, match=r"'shared\._component'.*import deep_jit\._shared"):
        module.component_name()


def test_missing_native_module_names_the_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "deep_jit._native", None)
    of_jit.native.cache_clear()
    with pytest.raises(ImportError, match="pip install -e packages/deep_jit"):
        of_jit.native()
    of_jit.native.cache_clear()
