"""Modelled time of kernels: the last profile, traces and their replay (emulator.md section 5).

Everything here is a prediction of the model in `ascend950_model.md`, never a measurement.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..jit.errors import ConfigError, LaunchError
from .context import launch_listeners, loaded_runtimes
from .timing_native import TimingLibrary

__all__ = [
    "TimingConstant",
    "TimingProfile",
    "last_profile",
    "replay_trace",
    "save_trace",
    "timed_launches",
    "timing_constants",
]

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_MEMORY_PIPES = ("MTE2", "MTE3")
# A pipe to global memory waits for the memory system, not for its own port, above this share of it.
_SATURATED = 0.8
_LAUNCH_BOUND = 0.5


@dataclass(frozen=True)
class TimingConstant:
    """One number of the model: `source` is a tag of ascend950_model.md, "[open]" is our choice."""

    name: str
    value: float
    unit: str
    source: str
    meaning: str


@dataclass(frozen=True)
class TimingProfile:
    """Modelled time of one launch.

    Attributes:
        kernel: its name.
        mode: ``fast`` or ``replay``.
        num_blocks: blocks of the launch; `num_aic` and `num_aiv` are the cores of one.
        num_cores: AI cores of the modelled device.
        complete: False when some instruction waits for what never comes; times are too short then.
        cycles: core cycles from the start of the first block to the end of the last.
        clock_mhz: cycles in a microsecond.
        launch_us: launch overhead, part of `duration_us`.
        duration_us: what a profiler would show, in microseconds.
        flops: useful floating-point operations.
        gm_read_bytes: loaded from global memory; gm_write_bytes likewise.
        hbm_read_bytes: of the loads, what missed L2; `l2_read_bytes` hit it (replay only).
        hbm_share: time share of the memory system spent on HBM, 0..1; `l2_share` likewise.
        cube_busy: pipe -> mean busy share of the cube cores in use, 0..1.
        vector_busy: the same for the vector cores in use.
        object: file of the kernel, for source lines.
        bank_conflict_sites: place of a vector function's call in `object` -> mean share of the
            vector cores' time that UB lost to bank conflicts of its loads and stores, 0..1.
        cube_cores_used: cube cores that ran; `vector_cores_used` likewise.
    """

    kernel: str
    mode: str
    num_blocks: int
    num_aic: int
    num_aiv: int
    num_cores: int
    complete: bool
    cycles: float
    clock_mhz: float
    launch_us: float
    duration_us: float
    flops: float
    gm_read_bytes: float
    gm_write_bytes: float
    hbm_read_bytes: float
    l2_read_bytes: float
    hbm_share: float
    l2_share: float
    cube_busy: Mapping[str, float]
    vector_busy: Mapping[str, float]
    object: str
    bank_conflict_sites: Mapping[int, float]
    cube_cores_used: int
    vector_cores_used: int

    @property
    def short_name(self) -> str:
        """The kernel's name without namespace and template arguments."""
        return self.kernel.partition("<")[0].rpartition("::")[2].strip()

    @property
    def bank_conflicts(self) -> float:
        """Mean share of the vector cores' time that UB lost to bank conflicts, 0..1."""
        return sum(self.bank_conflict_sites.values())

    @property
    def tflops(self) -> float:
        """Achieved TFLOP/s over the whole duration."""
        return self.flops / self.duration_us / 1e6

    @property
    def gbps(self) -> float:
        """Loaded and stored GB/s over the whole duration."""
        return (self.gm_read_bytes + self.gm_write_bytes) / self.duration_us / 1e3

    @property
    def bound(self) -> tuple[str, float]:
        """What limits the kernel, and how busy that is, 0..1.

        A pipe, "HBM" or "L2" when loads wait for the memory all cores share, or "launch".
        """
        if self.launch_us > _LAUNCH_BOUND * self.duration_us:
            return "launch", self.launch_us / self.duration_us
        shares = [(share, pipe) for pipe, share in self.cube_busy.items()]
        shares += [(share, pipe) for pipe, share in self.vector_busy.items()]
        share, pipe = max(shares)
        memory = self.hbm_share + self.l2_share
        if pipe in _MEMORY_PIPES and memory > _SATURATED * share:
            return ("HBM" if self.hbm_share > self.l2_share else "L2"), memory
        return pipe, share

    @property
    def verdict(self) -> str:
        """`bound` as text, for example "FIX-bound 99 %"."""
        name, share = self.bound
        return f"{name}-bound {share * 100:.0f} %"

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> TimingProfile:
        """Makes a profile of what the runtime reports."""
        cycles = float(numbers["cycles"]) or 1.0
        cube, vector = int(numbers["cube_cores_used"]), int(numbers["vector_cores_used"])

        def shares(busy: Mapping[str, float], cores: int) -> dict[str, float]:
            return {pipe: float(busy[pipe]) / cycles / max(cores, 1) for pipe in PIPES}

        same = (
            "kernel object mode complete cycles clock_mhz launch_us duration_us flops "
            "gm_read_bytes gm_write_bytes hbm_read_bytes l2_read_bytes"
        )
        counts = "num_blocks num_aic num_aiv num_cores"
        values: dict[str, Any] = {name: numbers[name] for name in same.split()}
        values |= {name: int(numbers[name]) for name in counts.split()}
        return cls(
            **values,
            hbm_share=numbers["hbm_cycles"] / cycles,
            l2_share=numbers["l2_cycles"] / cycles,
            cube_busy=shares(numbers["cube_busy"], cube),
            vector_busy=shares(numbers["vector_busy"], vector),
            bank_conflict_sites={
                int(site): float(lost) / cycles / max(vector, 1)
                for site, lost in numbers["bank_conflict_cycles"].items()
            },
            cube_cores_used=cube,
            vector_cores_used=vector,
        )


def last_profile() -> TimingProfile:
    """Returns the modelled time of the last kernel that ran with `timing` on, in this process.

    Raises:
        LaunchError: no kernel ran with `timing` on.

    Example:
        >>> with deep_jit.emulator(timing="replay"):
        ...     deep_gemm.bf16_gemm_nt(a, b, d)
        >>> deep_jit.last_profile().verdict
        'MTE2-bound 85 %'
    """
    _, numbers = _last_library().profile()
    if numbers is None:
        raise _nothing_timed()
    return TimingProfile.from_numbers(numbers)


@contextmanager
def timed_launches() -> Iterator[list[TimingProfile]]:
    """Collects the modelled time of every kernel that runs until the block ends.

    Yields:
        A list that grows by one with each launch; the option `timing` must be on.
    """
    profiles: list[TimingProfile] = []

    def note() -> None:
        profiles.append(last_profile())

    launch_listeners().append(note)
    try:
        yield profiles
    finally:
        launch_listeners().remove(note)


def save_trace(path: str | os.PathLike[str]) -> None:
    """Writes the trace of the last timed kernel, for `replay_trace` (format: trace_file.cpp).

    Raises:
        LaunchError: no kernel ran with `timing` on, or the file cannot be written.
    """
    _last_library().save(Path(path))


def replay_trace(
    path: str | os.PathLike[str] | None = None,
    *,
    mode: str = "replay",
    constants: Mapping[str, float] | None = None,
    spans: str | os.PathLike[str] | None = None,
) -> TimingProfile:
    """Models a recorded kernel again without running it.

    Args:
        path: a file of `save_trace`; None for the last timed kernel.
        mode: ``replay`` (cores share HBM and L2) or ``fast`` (each core by itself).
        constants: values to use in place of those of `timing_constants`.
        spans: file to receive start and end of every instruction (see `timeline`).

    Raises:
        ConfigError: an unknown mode or constant, or a file that is no trace.
        LaunchError: no runtime is loaded.

    Example:
        >>> replay_trace("gemm.trace", constants={"hbm_read_gbps": 4000}).duration_us
        2105.2
    """
    if mode not in ("fast", "replay"):
        raise ConfigError(f"mode got {mode!r}; allowed: 'fast', 'replay'")
    library = _last_library()
    numbers = library.replay(
        None if path is None else Path(path),
        mode,
        constants or {},
        None if spans is None else Path(spans),
    )
    return TimingProfile.from_numbers(numbers)


def timing_constants() -> tuple[TimingConstant, ...]:
    """Returns the model's table of constants.

    Raises:
        LaunchError: no runtime is loaded; run or compile a kernel first.
    """
    return tuple(TimingConstant(**row) for row in _last_library().constants())


def _last_library() -> TimingLibrary:
    """The runtime that timed a kernel last, else any."""
    # NOTE: a process may hold runtimes of other versions, also some without a timing model.
    libraries = [lib for path in loaded_runtimes() if (lib := TimingLibrary.find(path)) is not None]
    if not libraries:
        raise LaunchError("no emulator runtime is loaded in this process; run a kernel first")
    return max(libraries, key=lambda library: library.profile()[0])


def _nothing_timed() -> LaunchError:
    return LaunchError(
        "no kernel was timed in this process; run one inside emulator(timing='replay') "
        "or with DJ_EMU_TIMING=replay"
    )
