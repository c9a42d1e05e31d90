"""Lazy objects and dry-run switch (deep_jit.md sections 16, 19)."""

from __future__ import annotations

import threading
import time
import types
from pathlib import Path

import pytest

from deep_jit._shared.jit import dry_run, is_dry_run, set_dry_run
from deep_jit._shared.jit.errors import ConfigError, Error
from deep_jit._shared.jit.lazy import LazyInit, create_lazy_jit, register_python_api
from deep_jit._shared.tests.jit.fake_backend import FakeBackend, make_config


def test_empty() -> None:
    with pytest.raises(ConfigError, match="lazy object must be initialized before use"):
        LazyInit[int]().get()


def test_none_from_the_factory() -> None:
    with pytest.raises(ConfigError, match="lazy factory must not return nullptr"):
        LazyInit(lambda: None).get()


def test_a_factory_that_raised_is_tried_again() -> None:
    values = iter([ValueError("first"), 5])

    def build() -> int:
        value = next(values)
        if isinstance(value, ValueError):
            raise value
        return value  # type: ignore[return-value]

    lazy = LazyInit(build)
    with pytest.raises(ValueError, match="first"):
        lazy.get()
    assert not lazy.initialized
    assert lazy.get() == lazy.get() == 5


def test_threads_share_one_object() -> None:
    calls: list[int] = []

    def build() -> object:
        calls.append(1)
        time.sleep(0.03)
        return object()

    lazy = LazyInit(build)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(lazy.get())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(set(map(id, found))) == 1


def test_reassigning_keeps_objects_that_were_handed_out() -> None:
    lazy = LazyInit(lambda: [1])
    old = lazy.get()
    lazy.reset(lambda: [2])
    assert lazy.get() == [2]
    assert old == [1]


def test_create_lazy_jit_touches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad settings show at the first use, not at creation; no cache directory appears."""
    monkeypatch.setenv("FK_JIT_CACHE_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("FK_JIT_BACKEND", "bogus")
    lazy = create_lazy_jit(make_config(), FakeBackend())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="invalid value for FK_JIT_BACKEND: bogus"):
        lazy.get()
    monkeypatch.delenv("FK_JIT_BACKEND")
    runtime = lazy.get()
    assert lazy.get() is runtime
    assert not (tmp_path / "none").exists()


def test_missing_backends_show_at_first_use(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = create_lazy_jit(make_config(), "cuda")
    with pytest.raises(Error, match="backend cuda is not available yet"):
        lazy.get()
    with pytest.raises(ConfigError, match="backend must be one of auto, cpu, ascend, cuda"):
        create_lazy_jit(make_config(), "tpu").get()


def test_registered_api_follows_reassignment() -> None:
    module = types.ModuleType("m")
    lazy = LazyInit(lambda: [1])
    register_python_api(module, lazy)
    assert module.get_jit() is module.get_jit()
    lazy.reset(lambda: [2])
    assert module.get_jit() == [2]


def test_dry_run_nests_and_reaches_threads() -> None:
    seen: list[bool] = []
    with dry_run():
        with dry_run():
            pass
        thread = threading.Thread(target=lambda: seen.append(is_dry_run()))
        thread.start()
        thread.join()
    set_dry_run(True)
    seen.append(is_dry_run())
    set_dry_run(False)
    assert [*seen, is_dry_run()] == [True, True, False]
