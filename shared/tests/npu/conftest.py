"""Fixtures of the npu tests: stand-in toolkits, the ACL calls, builds without a cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from deep_jit._shared.jit.backends.ascend import AscendBackend
from deep_jit._shared.jit.env import Env
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.fixtures import (
    journal,
    library_cache,
    make_toolkit,
    toolkit,
)
from deep_jit._shared.testing.stand_ins.harness import AclJournal, Builder

__all__ = ["builder", "journal", "library_cache", "make_toolkit", "toolkit"]


@pytest.fixture
def builder(toolkit: StandInToolkit, journal: AclJournal, tmp_path: Path) -> Builder:
    """Builds on the stand-in toolkit, device 0."""
    return Builder(AscendBackend(Env("T")), tmp_path)
