"""Launches the kernels of kernels/ and reads the emulated memories afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit import Config, Runtime
from deep_jit._shared.tests.emulator.mmad_native import Isa, Numerics

_KERNELS = Path(__file__).parent / "kernels"


class Space(IntEnum):
    """asc_emu::Space."""

    L1 = 1
    L0A = 2
    L0B = 3
    L0A_MX = 4
    L0B_MX = 5
    L0C = 6
    BT = 7
    FB = 8
    UB = 9
    SSB = 10


SIZES = {
    Space.L1: 512 << 10,
    Space.L0A: 64 << 10,
    Space.L0B: 64 << 10,
    Space.L0A_MX: 4 << 10,
    Space.L0B_MX: 4 << 10,
    Space.L0C: 256 << 10,
    Space.BT: 4 << 10,
    Space.FB: 4 << 10,
    Space.UB: 256 << 10,
    Space.SSB: 3 << 10,
}


def kernel_text(name: str) -> str:
    """Text of kernels/<name>.hpp."""
    return (_KERNELS / f"{name}.hpp").read_text()


class Emulator:
    """Compiles kernel texts once a session, launches them and reads on-chip memories."""

    def __init__(self) -> None:
        config = Config(Path(__file__).parent, "TEST", include_dirs=include_dirs())
        self.runtime = Runtime(config, backend="cpu")
        self._library: ctypes.CDLL | None = None

    def kernel(
        self, name: str, more: str = "", suffix: str = "", **compiled_with: Any
    ) -> Callable[..., None]:
        """`launch(*args, blocks=1, memory=None, **emulator options)` of kernels/<name>.hpp.

        Args:
            name: file in kernels/.
            more: text behind the file's.
            suffix: makes the tags of several such texts differ.
            compiled_with: emulator options while it compiles.
        """
        text = kernel_text("common") + kernel_text(name) + more
        with emulator(**compiled_with):
            kernel = self.runtime.compile(f"emulator_{name}{suffix}", text)

        def launch(*args: Any, blocks: int = 1, memory: Any = None, **options: Any) -> None:
            with emulator(**{"uninitialized": "zero", **options}):
                kernel.launch({"num_blocks": blocks}, *args, memory=memory)

        return launch

    def read(
        self, space: Space, core: int = 0, offset: int = 0, size: int | None = None
    ) -> np.ndarray:
        """Bytes of a memory of the last block; core 0 is the cube core, 1 and 2 vector cores."""
        if self._library is None:
            self._library = ctypes.CDLL(str(self.runtime.backend.prepare()))
        count = SIZES[space] - offset if size is None else size
        out = np.empty(count, np.uint8)
        read = self._library.asc_emu_debug_read
        read.argtypes = [
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_uint64,
            ctypes.c_void_p,
            ctypes.c_uint64,
        ]
        assert read(int(space), core, offset, out.ctypes.data, count) == 0
        return out


@pytest.fixture(scope="session")
def emu() -> Emulator:
    """The emulator of this session."""
    return Emulator()


def params(*values: int) -> np.ndarray:
    """Arguments for a kernel's `params` pointer; 64-bit patterns may be unsigned numbers."""
    return np.array([int(v) - (1 << 64) if int(v) >= 1 << 63 else int(v) for v in values], np.int64)


def same_bytes(got: np.ndarray, want: np.ndarray, case: object) -> None:
    """Asserts equal bytes and names the first difference."""
    wrong = np.flatnonzero(got != want)
    assert wrong.size == 0, (
        f"{case}: {wrong.size} bytes differ, first at {wrong[0]}: got {got[wrong[0]]:#x}, "
        f"want {want[wrong[0]]:#x}"
    )


def random_bytes(count: int, seed: int = 0) -> np.ndarray:
    """Reproducible bytes."""
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def ids(cases: Sequence[object]) -> list[str]:
    """Short test ids of dict cases."""
    return ["-".join(str(v) for v in c.values()) if isinstance(c, dict) else str(c) for c in cases]


@pytest.fixture(scope="session")
def numerics_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Isa], Numerics]:
    """The mmad kernels of an instruction set, built once; skips on a CPU without it."""
    built: dict[str, Numerics] = {}
    folder = tmp_path_factory.mktemp("mmad")

    def get(isa: Isa) -> Numerics:
        if isa.missing():
            pytest.skip(f"needs a CPU with {', '.join(sorted(isa.missing()))}")
        if isa.name not in built:
            built[isa.name] = Numerics(isa, folder)
        return built[isa.name]

    return get
