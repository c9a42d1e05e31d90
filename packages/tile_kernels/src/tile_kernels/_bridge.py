"""The package's one TileLang bridge, made at first use.

The target follows the tensors of each call: CPU tensors run in the emulator, tensors on `npu` go
to TileLang itself. `<op>_asc.py` modules hold the TileLang functions; importing one imports
TileLang, so the wrappers import them when they are called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tile_kernels._shared.jit.tilelang import TileLangBridge
    from tile_kernels._shared.jit.tilelang.together import Call

__all__ = ["ENV_PREFIX", "TEXTS", "asc_kernel", "bridge", "launched_together"]

ENV_PREFIX = "TK"
TEXTS = Path(__file__).parent / "_texts"  # lowered kernels of common calls, by tools/gen_texts.py
# NOTE: kernels guard their accesses themselves; TileLang's own guards around each access repeat
# them, and proving them takes up to two thirds of the time of lowering.
PASS_CONFIGS = {"tl.disable_safe_memory_legalize": True}


@cache
def bridge() -> TileLangBridge:
    """Returns the bridge; its runtime reads the environment variables ``TK_JIT_*``."""
    from tile_kernels._shared.jit.tilelang import TileLangBridge

    return TileLangBridge(ENV_PREFIX, TEXTS)


def asc_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: makes a TileLang function for Ascend a kernel of this package.

    Args:
        options: further arguments of ``tilelang.jit``, such as ``pass_configs``.

    Returns:
        A decorator; what it returns is called with tensors, scalars and compile-time options.
    """
    import tilelang

    options["pass_configs"] = {**PASS_CONFIGS, **options.get("pass_configs", {})}

    def wrap(function: Callable[..., Any]) -> Any:
        return _PrintingKernel(bridge()(tilelang.jit(target="ascend", **options)(function)))

    return wrap


@contextmanager
def launched_together() -> Iterator[None]:
    """Kernels that are called inside run when the block ends, in their order.

    Those that are not compiled yet are compiled at the same time, and when that fails none runs.
    So nothing inside may look at what they write; allocating and viewing tensors is fine. A block
    inside another one runs all that was called in both so far.
    """
    outer = _queue.calls
    calls = _queue.calls = [] if outer is None else outer
    try:
        yield
        waiting = calls.copy()
        calls.clear()
        if waiting:
            from tile_kernels._shared.jit.tilelang.together import run_together

            run_together(waiting)
    finally:
        calls.clear()
        _queue.calls = outer


class _Queue(threading.local):
    """Calls of this thread that wait for the end of a block; None outside."""

    calls: list[Call] | None = None


_queue = _Queue()


class _PrintingKernel:
    """A kernel that prints its text at each call while ``TK_PRINT_KERNEL_SOURCE`` is set."""

    def __init__(self, function: Any) -> None:
        from tile_kernels._shared.jit.env import Env

        self._function = function
        self._env = Env(ENV_PREFIX)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._env.get_bool("PRINT_KERNEL_SOURCE"):
            print(self._function.compile(*args, **kwargs).source, flush=True)
        if _queue.calls is not None:
            _queue.calls.append((self._function, args, kwargs))
            return None
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)
