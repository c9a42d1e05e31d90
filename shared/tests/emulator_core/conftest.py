"""Kernels of the synchronisation tests: one text, a scenario number chooses what the cores do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit import Config, Runtime
from deep_jit._shared.jit.kernel import Kernel

Launch = Callable[..., None]
_KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    """A runtime of the cpu backend on the session's cache."""
    config = Config(Path(__file__).parent, "TEST", include_dirs=include_dirs())
    return Runtime(config, backend="cpu")


def _launcher(kernel: Kernel) -> Launch:
    def launch(out: np.ndarray, scenario: int, num: int = 0, blocks: int = 1, **options) -> None:
        with emulator(**options):
            kernel.launch({"num_blocks": blocks}, out, np.int32(scenario), np.int32(num))

    return launch


@pytest.fixture(scope="session")
def mix(runtime: Runtime) -> Launch:
    """`launch(out, scenario, num, blocks, **options)` on blocks of one AIC and two AIVs."""
    return _launcher(runtime.compile("sync_mix", (_KERNELS / "mix.hpp").read_text()))


@pytest.fixture(scope="session")
def cube(runtime: Runtime) -> Launch:
    """The same on cube cores alone."""
    return _launcher(runtime.compile("sync_cube", (_KERNELS / "cube.hpp").read_text()))


@pytest.fixture(scope="session")
def vector(runtime: Runtime) -> Launch:
    """The same on blocks of one vector core each."""
    return _launcher(runtime.compile("sync_vector", (_KERNELS / "vector.hpp").read_text()))
