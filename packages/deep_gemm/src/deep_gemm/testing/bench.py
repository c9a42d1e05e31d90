"""`bench_msprof` on the emulator: upstream's interface with modelled times (deep_gemm.md 1.14).

Upstream runs the device profiler; here the timing model of the emulator predicts every kernel
(emulator.md section 5). A `KernelProfile` therefore says ``modelled=True``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

from deep_gemm._shared.emulator.context import emulator
from deep_gemm._shared.emulator.timing import timed_launches
from deep_gemm.errors import DeepGemmValueError

if TYPE_CHECKING:
    from deep_gemm._shared.emulator.timing import TimingProfile

__all__ = ["KernelProfile", "bench_msprof", "close_persistent_profiler"]

BACKENDS = ("slow", "fast", "persistent")


@dataclass(frozen=True)
class KernelProfile:
    """Time of one kernel, per launch.

    Attributes:
        dur_ns: duration in nanoseconds, launch overhead included.
        aic_total_cycles: core cycles from the first block's start to the last one's end.
        aic_mad: busy share of the matrix unit, 0..1; the other ``aic_*`` and ``aiv_*`` are the
            shares of the pipes of cube and vector cores. The scalar units are not modelled: 0.
        aiv_total_cycles: the same for the vector cores; 0 when there are none.
        name: symbol of the kernel.
        modelled: True: predicted by the emulator, not measured.
    """

    dur_ns: float
    aic_total_cycles: float
    aic_mad: float
    aic_scalar: float
    aic_mte1: float
    aic_mte2: float
    aic_mte3: float
    aic_fixpipe: float
    aiv_total_cycles: float
    aiv_vec: float
    aiv_scalar: float
    aiv_mte2: float
    aiv_mte3: float
    name: str = ""
    verdict: str = ""
    modelled: bool = True

    @property
    def dur_us(self) -> float:
        """Duration in microseconds."""
        return self.dur_ns / 1000

    def tflops(self, flops: float) -> float:
        """TFLOP/s of a kernel that does `flops` operations."""
        return flops / self.dur_ns / 1000

    def gbps(self, num_bytes: float) -> float:
        """GB/s of a kernel that moves `num_bytes`."""
        return num_bytes / self.dur_ns


@overload
def bench_msprof(
    fn: Callable[[], object],
    kernel_names: str,
    num_warmups: int = ...,
    num_tests: int = ...,
    flush_l2: bool = ...,
    barrier_comm_profiling: bool = ...,
    barrier: Callable[[], object] | None = ...,
    return_all_kernels: Literal[False] = ...,
    suppress_verbose_output: bool = ...,
    backend: str = ...,
) -> KernelProfile: ...
@overload
def bench_msprof(
    fn: Callable[[], object],
    kernel_names: list[str],
    num_warmups: int = ...,
    num_tests: int = ...,
    flush_l2: bool = ...,
    barrier_comm_profiling: bool = ...,
    barrier: Callable[[], object] | None = ...,
    return_all_kernels: Literal[False] = ...,
    suppress_verbose_output: bool = ...,
    backend: str = ...,
) -> list[KernelProfile | None]: ...
@overload
def bench_msprof(
    fn: Callable[[], object],
    kernel_names: str | list[str] | None = ...,
    num_warmups: int = ...,
    num_tests: int = ...,
    flush_l2: bool = ...,
    barrier_comm_profiling: bool = ...,
    barrier: Callable[[], object] | None = ...,
    *,
    return_all_kernels: Literal[True],
    suppress_verbose_output: bool = ...,
    backend: str = ...,
) -> dict[str, KernelProfile]: ...
def bench_msprof(
    fn: Callable[[], object],
    kernel_names: str | list[str] | None = None,
    num_warmups: int = 10,
    num_tests: int = 30,
    flush_l2: bool = True,
    barrier_comm_profiling: bool = False,
    barrier: Callable[[], object] | None = None,
    return_all_kernels: bool = False,
    suppress_verbose_output: bool = True,
    backend: str = "persistent",
) -> KernelProfile | list[KernelProfile | None] | dict[str, KernelProfile]:
    """Runs `fn` and returns the modelled time of its kernels, per pipe.

    The model is deterministic and starts with a cold L2, so `fn` runs once: `num_warmups`,
    `num_tests` and `flush_l2` are accepted and checked, but change nothing. Kernels run with the
    emulator options in force plus ``timing="replay"``; use ``emulator(data="skip")`` around the
    call for shapes that are too large to compute.

    Args:
        fn: launches kernels on cpu tensors.
        kernel_names: substring of a kernel's name -> its `KernelProfile`; a list -> a list with
            the first match of each, None for misses.
        num_warmups: at least 0; `num_tests` at least 1.
        flush_l2: see above.
        barrier_comm_profiling: calls `barrier` before `fn`.
        barrier: synchronises ranks.
        return_all_kernels: all kernels by name instead.
        suppress_verbose_output: nothing is printed either way.
        backend: slow, fast or persistent; all the same here.

    Returns:
        See `kernel_names` and `return_all_kernels`. Launches of one name are averaged.

    Raises:
        DeepGemmValueError: neither names nor `return_all_kernels`, an unknown backend, or a count
            out of range.
        RuntimeError: a name that matches no kernel, or several.

    Example:
        >>> profile = bench_msprof(lambda: deep_gemm.bf16_gemm_nt(a, b, d), "gemm_impl")
        >>> profile.dur_us, profile.aic_mad
        (18.8, 0.41)
    """
    _check(kernel_names, num_warmups, num_tests, return_all_kernels, backend)
    if barrier_comm_profiling and barrier is not None:
        barrier()
    with emulator(timing="replay"), timed_launches() as launches:
        fn()
    profiles = {name: _mean(name, group) for name, group in _by_name(launches).items()}
    if return_all_kernels:
        return profiles
    if isinstance(kernel_names, str):
        return _only_match(kernel_names, profiles)
    return [_first_match(name, profiles) for name in kernel_names or ()]


def close_persistent_profiler() -> None:
    """Ends the resident profiling session; the emulator has none, so this does nothing."""


def _check(
    names: str | list[str] | None, warmups: int, tests: int, everything: bool, backend: str
) -> None:
    if not names and not everything:
        raise DeepGemmValueError(
            f"kernel_names is {names!r} and return_all_kernels is False; allowed: one of them; "
            "pass kernel_names='gemm_impl' or return_all_kernels=True"
        )
    if backend not in BACKENDS:
        raise DeepGemmValueError(f"backend is {backend!r}; allowed: {', '.join(BACKENDS)}")
    if warmups < 0 or tests <= 0:
        raise DeepGemmValueError(
            f"num_warmups is {warmups}, num_tests is {tests}; allowed: at least 0 and at least 1"
        )


def _by_name(launches: Sequence[TimingProfile]) -> dict[str, list[TimingProfile]]:
    groups: dict[str, list[TimingProfile]] = {}
    for launch in launches:
        groups.setdefault(launch.kernel, []).append(launch)
    return groups


def _mean(name: str, launches: Sequence[TimingProfile]) -> KernelProfile:
    """Average over launches of one kernel."""

    def mean(value: Callable[[TimingProfile], float]) -> float:
        return sum(value(launch) for launch in launches) / len(launches)

    return KernelProfile(
        dur_ns=mean(lambda p: p.duration_us * 1000),
        aic_total_cycles=mean(lambda p: p.cycles if p.cube_cores_used else 0.0),
        aic_mad=mean(lambda p: p.cube_busy["M"]),
        aic_scalar=0.0,
        aic_mte1=mean(lambda p: p.cube_busy["MTE1"]),
        aic_mte2=mean(lambda p: p.cube_busy["MTE2"]),
        aic_mte3=mean(lambda p: p.cube_busy["MTE3"]),
        aic_fixpipe=mean(lambda p: p.cube_busy["FIX"]),
        aiv_total_cycles=mean(lambda p: p.cycles if p.vector_cores_used else 0.0),
        aiv_vec=mean(lambda p: p.vector_busy["V"]),
        aiv_scalar=0.0,
        aiv_mte2=mean(lambda p: p.vector_busy["MTE2"]),
        aiv_mte3=mean(lambda p: p.vector_busy["MTE3"]),
        name=name,
        verdict=launches[-1].verdict,
    )


def _only_match(name: str, profiles: dict[str, KernelProfile]) -> KernelProfile:
    matches = [kernel for kernel in profiles if name in kernel]
    if len(matches) != 1:
        seen = ", ".join(profiles) or "none"
        raise RuntimeError(
            f"{len(matches)} kernels match {name!r}, allowed: exactly one; kernels that ran: {seen}"
        )
    return profiles[matches[0]]


def _first_match(name: str, profiles: dict[str, KernelProfile]) -> KernelProfile | None:
    return next((profile for kernel, profile in profiles.items() if name in kernel), None)
