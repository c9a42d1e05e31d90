"""Plug-in for pytest: fixtures for the settings and the device that a test sees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tile_kernels import config, emulator

__all__ = ["few_cores", "fresh_settings"]

CORES = 4


@pytest.fixture
def fresh_settings() -> Iterator[None]:
    """Default settings of tile_kernels at the start of a test, and again behind it."""
    config.reset_runtime_config()
    yield
    config.reset_runtime_config()


@pytest.fixture
def few_cores() -> Iterator[None]:
    """Four AI cores in the emulator, so that every loop of a kernel turns on small inputs."""
    with emulator(num_cores=CORES):
        yield
