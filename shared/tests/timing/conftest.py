"""Kernels with known time, and the profile of a run of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import TimingProfile, emulator, last_profile, replay_trace
from deep_jit._shared.jit import Config, Runtime
from deep_jit._shared.jit.kernel import Kernel

Profile = Callable[..., TimingProfile]
_KERNELS = Path(__file__).parent / "kernels"
# Byte 64 KiB * 32 blocks * 64 loads: large enough for every scenario; its pages stay untouched.
_ROOM = 1 << 28


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    """A runtime of the cpu backend on the session's cache."""
    config = Config(Path(__file__).parent, "TEST", include_dirs=include_dirs())
    return Runtime(config, backend="cpu")


@pytest.fixture(scope="session")
def data() -> np.ndarray:
    """Global memory that nobody reads: `data="skip"`."""
    return np.empty(_ROOM, np.uint8)


@pytest.fixture(scope="session")
def closed_forms_kernel(runtime: Runtime) -> Kernel:
    return runtime.compile("closed_forms", (_KERNELS / "closed_forms.hpp").read_text())


@pytest.fixture(scope="session")
def closed_form(closed_forms_kernel: Kernel, data: np.ndarray) -> Profile:
    """`closed_form(scenario, num=1, blocks=1, mode="replay", **options)` -> profile."""

    def run(
        scenario: int, num: int = 1, blocks: int = 1, mode: str = "replay", **options
    ) -> TimingProfile:
        with emulator(timing=mode, data="skip", **options):
            closed_forms_kernel.launch(
                {"num_blocks": blocks}, data, np.int32(scenario), np.int32(num)
            )
        return last_profile()

    return run


@pytest.fixture(scope="session")
def vector_copy(runtime: Runtime, data: np.ndarray) -> Profile:
    """`vector_copy(num, blocks)` -> profile of a copy of num * 64 KiB a block."""
    kernel = runtime.compile("vector_copy", (_KERNELS / "vector_copy.hpp").read_text())

    def run(num: int, blocks: int) -> TimingProfile:
        half = data.size // 2
        with emulator(timing="replay", data="skip"):
            kernel.launch({"num_blocks": blocks}, data[half:], data[:half], np.int32(num))
        return last_profile()

    return run


@pytest.fixture(scope="session")
def vector_function(runtime: Runtime) -> Profile:
    """`vector_function(num, loads=0, calls=1, mode="replay", **options)` -> profile of calls."""
    with emulator(timing="replay"):
        kernel = runtime.compile("vector_function", (_KERNELS / "vector_function.hpp").read_text())

    def run(
        num: int, loads: int = 0, calls: int = 1, mode: str = "replay", **options
    ) -> TimingProfile:
        with emulator(timing=mode, **options):
            kernel.launch({"num_blocks": 1}, np.int32(num), np.int32(loads), np.int32(calls))
        return last_profile()

    return run


@pytest.fixture(scope="session")
def vector_arithmetic(runtime: Runtime) -> Profile:
    """`vector_arithmetic(kind, num)` -> profile of `num` instructions in one function."""
    with emulator(timing="replay"):
        kernel = runtime.compile(
            "vector_arithmetic", (_KERNELS / "vector_arithmetic.hpp").read_text()
        )

    def run(kind: int, num: int) -> TimingProfile:
        with emulator(timing="replay"):
            kernel.launch({"num_blocks": 1}, np.int32(kind), np.int32(num))
        return last_profile()

    return run


@pytest.fixture(scope="session")
def simt_work(runtime: Runtime) -> Profile:
    """`simt_work(threads, turns, loads, busy=threads, **options)` -> profile of a SIMT function."""
    text = (_KERNELS / "simt_work.hpp").read_text()
    data = np.zeros(2048, np.int32)

    def run(
        threads: int, turns: int, loads: int, busy: int | None = None, **options
    ) -> TimingProfile:
        with emulator(timing="replay", **options):
            kernel = runtime.compile("simt_work", text)
            numbers = (threads, turns, loads, threads if busy is None else busy)
            kernel.launch({"num_blocks": 1}, data, *map(np.int32, numbers))
        return last_profile()

    return run


@pytest.fixture(scope="session")
def ub_streams(runtime: Runtime) -> Profile:
    """`ub_streams(kind, num, step, from_=0, to=0)` -> profile of `num` accesses of a kind.

    The profile is of the schedule alone: without the least time that a function takes by [P].
    """
    with emulator(timing="replay"):
        kernel = runtime.compile("ub_streams", (_KERNELS / "ub_streams.hpp").read_text())

    def run(kind: int, num: int, step: int, from_: int = 0, to: int = 0) -> TimingProfile:
        with emulator(timing="replay"):
            kernel.launch({"num_blocks": 1}, *map(np.int32, (from_, to, kind, num, step)))
        return replay_trace(constants={"vf_fixed": 0, "vf_vector": 0})

    return run


@pytest.fixture(scope="session")
def simt_banks(runtime: Runtime) -> Callable[..., tuple[float, float]]:
    """`simt_banks(threads, step, share=1)` -> cycles of 100 loads and additions, conflicts."""
    with emulator(timing="replay"):
        kernel = runtime.compile("simt_banks", (_KERNELS / "simt_banks.hpp").read_text())

    def profile(threads: int, on: int, step: int, share: int) -> TimingProfile:
        with emulator(timing="replay", checks="none"):  # it loads what nothing has written
            kernel.launch({"num_blocks": 1}, *map(np.int32, (threads, on, step, share)))
        return last_profile()

    def run(threads: int, step: int, share: int = 1) -> tuple[float, float]:
        on, off = profile(threads, 1, step, share), profile(threads, 0, step, share)
        return on.cycles - off.cycles, on.bank_conflicts * on.cycles

    return run


@pytest.fixture(scope="session")
def simt_ragged(runtime: Runtime) -> Profile:
    """`simt_ragged(threads)` -> profile of lanes that take as many turns as their number."""
    with emulator(timing="replay"):
        kernel = runtime.compile("simt_ragged", (_KERNELS / "simt_ragged.hpp").read_text())

    def run(threads: int) -> TimingProfile:
        with emulator(timing="replay", checks="none"):  # it loads what nothing has written
            kernel.launch({"num_blocks": 1}, np.int32(threads))
        return last_profile()

    return run
