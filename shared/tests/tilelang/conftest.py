"""Tests of the bridge need TileLang, which is an optional dependency."""

from __future__ import annotations

import importlib.util

import pytest

HAS_TILELANG = importlib.util.find_spec("tilelang") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests of this folder that need TileLang, with the reason."""
    skip = pytest.mark.skip(reason="needs tilelang==0.1.15: pip install deep-jit[tilelang]")
    for item in items:
        if "needs_tilelang" in item.keywords and not HAS_TILELANG:
            item.add_marker(skip)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", "needs_tilelang: needs the package tilelang")
