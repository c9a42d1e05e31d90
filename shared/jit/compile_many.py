"""Parallel builds with a progress bar; errors are collected (deep_jit.md section 19)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .errors import CompileManyError, ConfigError
from .process import kill_tools_of

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["compile_all"]


def compile_all(
    runtime: Runtime,
    requests: Sequence[tuple[Any, ...]],
    workers: int | None = None,
    load: bool = False,
    progress: bool | None = None,
) -> list[Any]:
    """Compile all requests on threads; compilers are child processes, so threads are enough.

    Args:
        runtime: where to compile.
        requests: (name, source) or (name, source, options) each.
        workers: threads; None = `Runtime.worker_count`.
        load: return kernels instead of directories.
        progress: show a bar on stderr; None = when stderr is a terminal.

    Returns:
        One path (or kernel) per request, in order.

    Raises:
        CompileManyError: some failed; it holds every error and the other results.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    items = [_request(index, request) for index, request in enumerate(requests)]
    if not items:
        return []
    work: Callable[..., Any] = runtime.compile if load else runtime.compile_without_load
    threads: set[int] = set()
    results: list[Any] = [None] * len(items)
    errors: list[tuple[int, str, Exception]] = []
    pool = ThreadPoolExecutor(
        min(runtime.worker_count(workers), len(items)),
        thread_name_prefix="deep_jit-compile",
        initializer=lambda: threads.add(threading.get_ident()),
    )
    try:
        futures = {pool.submit(work, *item): index for index, item in enumerate(items)}
        bar = _bar(len(items), progress)
        for future in as_completed(futures):
            index = futures[future]
            error = future.exception()
            if isinstance(error, Exception):
                errors.append((index, items[index][0], error))
            else:
                results[index] = future.result()
            bar.update(1)
        bar.close()
    except BaseException:  # Ctrl-C: stop the compilers, do not wait for them
        pool.shutdown(wait=False, cancel_futures=True)
        kill_tools_of(threads)
        raise
    pool.shutdown()
    if errors:
        raise _summary(errors, results)
    return results


def _request(index: int, request: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(request, (tuple, list)) or len(request) not in (2, 3):
        raise ConfigError(
            f"request {index} must be (name, source) or (name, source, options), got {request!r}"
        )
    return tuple(request)


class _NoBar:
    """Stands in for a progress bar."""

    def update(self, amount: int) -> None:
        """Nothing to show."""

    def close(self) -> None:
        """Nothing to close."""


def _bar(total: int, progress: bool | None) -> Any:
    import sys

    if progress is False or (progress is None and not sys.stderr.isatty()):
        return _NoBar()
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(total=total, desc="deep_jit: compile", unit="kernel", file=sys.stderr)


def _summary(errors: list[tuple[int, str, Exception]], results: list[Any]) -> CompileManyError:
    errors.sort(key=lambda item: item[0])
    lines = [f"{len(errors)} of {len(results)} builds failed:"]
    lines += [f"  {name} (request {index}): {error}" for index, name, error in errors]
    return CompileManyError("\n".join(lines), errors=errors, results=results)
