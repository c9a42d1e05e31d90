"""Several calls in a row: kernels that are not compiled yet are compiled at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from .jit_function import PreparedCall, TileLangFunction, is_on_cpu

__all__ = ["Call", "run_together"]

Call = tuple[TileLangFunction, Sequence[Any], Mapping[str, Any]]


def run_together(calls: Sequence[Call]) -> None:
    """Makes calls in their order, after all of them are compiled.

    TileLang works in the calling thread; compilers, which are child processes, run beside it. The
    threads end before anything is launched. Nothing runs when a kernel cannot be compiled.

    Args:
        calls: (function, positional arguments, keyword arguments); results are dropped.

    Raises:
        The errors of the calls; of several compile errors that of the first call.
    """
    prepared: list[PreparedCall] = []
    compiling: list[Future[object]] = []
    with ExitStack() as stack:
        pool = None
        for function, args, kwargs in calls:
            if not is_on_cpu(args, kwargs):
                break
            call = function.prepare(*args, **kwargs)
            prepared.append(call)
            if not call.is_compiled:
                pool = pool or stack.enter_context(ThreadPoolExecutor(thread_name_prefix="compile"))
                compiling.append(pool.submit(call.compile))
        for future in compiling:
            future.result()
    for call in prepared:
        call.run()
    for function, args, kwargs in calls[len(prepared) :]:
        function(*args, **kwargs)
