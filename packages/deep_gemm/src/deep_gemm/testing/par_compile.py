"""Compiling many calls at once under a dry run (deep_gemm.md section 1.14)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tqdm import tqdm

from deep_gemm._shared.jit.dry_run import dry_run
from deep_gemm.errors import DeepGemmValueError

__all__ = ["dry_run", "par_compile"]

WORKERS_VARIABLE = "DG_TEST_MAX_WORKERS"


def default_workers() -> int:
    """``DG_TEST_MAX_WORKERS``, else the CPUs of this machine.

    Raises:
        DeepGemmValueError: the variable is not a positive number.
    """
    raw = os.environ.get(WORKERS_VARIABLE)
    if raw is None:
        return os.cpu_count() or 1
    if not raw.isdecimal() or int(raw) == 0:
        raise DeepGemmValueError(
            f"{WORKERS_VARIABLE} is {raw!r}; allowed: a positive number; for example 4"
        )
    return int(raw)


def par_compile(
    callables: Sequence[Callable[[], object]],
    *,
    max_workers: int | None = None,
    progress: bool = True,
) -> None:
    """Runs `callables` in a thread pool under `dry_run`, so that their kernels are in the cache.

    Operands may be on device ``meta``: nothing reads data. The first exception propagates after the
    others finished.

    Args:
        callables: each makes GEMM calls.
        max_workers: threads; default `default_workers()`.
        progress: shows a progress bar.
    """
    workers = default_workers() if max_workers is None else max_workers
    with dry_run(), ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(function) for function in callables]
        for future in tqdm(futures, desc="compiling", disable=not progress, unit="kernel"):
            future.exception()
    for future in futures:
        future.result()
