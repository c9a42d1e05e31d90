"""Fixtures of the JIT core's tests: a cache root and a compiler log of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit import private
from deep_jit._shared.tests.jit.fake_backend import HERE

Starter = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's shell decides a test."""
    for name in list(os.environ):
        if name.startswith(("DJ_", "FK_", "FAKE_CC")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def own_private_root(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Each test has a private cache root of its own, below this directory."""
    place = tmp_path_factory.mktemp("private")
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(private._root, "path", None)
    return place


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache root; its path has a blank and a non-ASCII letter."""
    path = tmp_path / "cache räum"
    monkeypatch.setenv("FK_JIT_CACHE_DIR", str(path))
    return path


@pytest.fixture
def compiler_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Number of compiler runs so far, in all processes."""
    path = tmp_path / "compiler.log"
    monkeypatch.setenv("FAKE_CC_LOG", str(path))
    return lambda: len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def start_program() -> Starter:
    """Start one of `programs/` with arguments; stdout and stderr are pipes."""
    running: list[subprocess.Popen[str]] = []

    def start(name: str, *args: object, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "programs" / name), *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        running.append(process)
        return process

    yield start  # type: ignore[misc]
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()
