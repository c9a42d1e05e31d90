"""Fixtures of tile_kernels' tests: few emulated cores, so that every loop of a kernel turns."""

import pytest
import torch

import tile_kernels
from tile_kernels import config


@pytest.fixture(autouse=True)
def small_device(seed):
    """Four AI cores, default settings and a seed that depends on the test alone."""
    torch.manual_seed(seed)
    config.reset_runtime_config()
    with tile_kernels.emulator(num_cores=4):
        yield
    config.reset_runtime_config()
