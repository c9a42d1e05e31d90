"""Pytest fixtures around the stand-ins; a conftest imports the ones it wants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import StandInToolkit, build_toolkit
from .harness import AclJournal
from .toolkit import StandInConfig

__all__ = ["journal", "library_cache", "make_toolkit", "toolkit"]


@pytest.fixture(scope="session")
def library_cache(jit_cache_root: Path) -> Path:
    """Where the compiled ACL stand-in of this run is kept."""
    return jit_cache_root / "stand_ins"


@pytest.fixture
def make_toolkit(tmp_path: Path, library_cache: Path) -> Callable[..., StandInToolkit]:
    """Builds toolkits; `acl=False` leaves the driver library out."""

    def make(
        name: str = "cann", *, acl: bool = True, arch: str = "aarch64", **config: Any
    ) -> StandInToolkit:
        home = tmp_path / name
        cache = library_cache if acl else None
        return build_toolkit(home, StandInConfig(**config), library_cache=cache, arch=arch)

    return make


@pytest.fixture
def toolkit(
    make_toolkit: Callable[..., StandInToolkit], monkeypatch: pytest.MonkeyPatch
) -> StandInToolkit:
    """A toolkit that only finds names, chosen by the environment."""
    toolkit = make_toolkit()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit.home))
    return toolkit


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AclJournal:
    """The calls of this test; failures that the environment asks for are off at its start."""
    path = tmp_path / "acl.jsonl"
    monkeypatch.setenv("ASC_STAND_IN_JOURNAL", str(path))
    for name in ("FAIL", "MESSAGE", "DEVICE", "DEVICE_INFO", "SOC"):
        monkeypatch.delenv(f"ASC_STAND_IN_{name}", raising=False)
    monkeypatch.delenv("ASCEND_LAUNCH_BLOCKING", raising=False)
    return AclJournal(path)
