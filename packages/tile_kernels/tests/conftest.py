"""Fixtures of tile_kernels' tests: few emulated cores, so that every loop of a kernel turns."""

import pytest
import torch

from tile_kernels.testing.pytest.device import few_cores, fresh_settings

__all__ = ["few_cores", "fresh_settings", "small_device"]


@pytest.fixture(autouse=True)
def small_device(seed, fresh_settings, few_cores):
    """Four AI cores, default settings and a seed that depends on the test alone."""
    torch.manual_seed(seed)
