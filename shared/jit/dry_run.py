"""Process-wide dry run: compile everything, load and launch nothing (deep_jit.md section 19)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from . import fork

__all__ = ["dry_run", "is_dry_run", "set_dry_run"]


class _State:
    """Nesting depth of `dry_run` plus the switch of `set_dry_run`.

    NOTE: process-wide on purpose: pre-compilation runs callables in a pool of threads.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.switch = False
        fork.register(self)

    def enter(self, step: int) -> None:
        with self.lock:
            self.depth += step

    def after_fork_in_child(self) -> None:
        self.lock = threading.Lock()


_state = _State()


def set_dry_run(enabled: bool) -> None:
    """Switch dry run on or off for the process."""
    _state.switch = bool(enabled)


def is_dry_run() -> bool:
    """Whether dry run is on, by switch or by context manager."""
    return _state.switch or _state.depth > 0


@contextlib.contextmanager
def dry_run() -> Iterator[None]:
    """Inside: ``compile`` only makes the cache entry and returns a stub, ``launch`` does nothing.

    Example:
        >>> with dry_run():
        ...     is_dry_run()
        True
    """
    _state.enter(1)
    try:
        yield
    finally:
        _state.enter(-1)
