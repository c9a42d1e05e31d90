"""Helper modules of this folder and the core-count fixture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deep_gemm import _settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# NOTE: --import-mode=importlib puts no test folder on the path
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def num_sms() -> Iterator[Any]:
    """A function that sets the core count until the test ends."""
    before = _settings.current()
    yield lambda number: _settings.update(num_sms=number)
    _settings.update(num_sms=before.num_sms)
