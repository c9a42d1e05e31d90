"""One build per key across processes: OS locks, and no lock where there are none (section 14).

`flock` on ``<root>/locks/<digest>.lock``: the kernel drops it when the holder dies, so the file is
never created as a token and never removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from . import fs

__all__ = ["WAIT_LIMIT_S", "KeyLock"]

WAIT_LIMIT_S = 900.0
"""Longest wait for another process's build before building beside it."""

_held: set[int] = set()
"""Descriptors of this process's locks; a forked child closes its copies."""


class KeyLock:
    """Context manager around one key's build.

    Entering waits until the lock is ours, or `done` says that nothing is left to do, or the limit
    passes, or the file system has no locks. Only the first case holds anything; all are fine,
    because publishing is atomic without locks.

    Args:
        directory: ``<root>/locks``.
        digest: key.
        done: polled while waiting.
        on_wait: called once if we have to wait.
        limit_s: longest wait.
    """

    def __init__(
        self,
        directory: Path,
        digest: str,
        *,
        done: Callable[[], bool],
        on_wait: Callable[[], None] | None = None,
        limit_s: float | None = None,
        shared: bool = False,
    ) -> None:
        self._path = directory / f"{digest}.lock"
        self._done = done
        self._on_wait = on_wait
        self._limit_s = WAIT_LIMIT_S if limit_s is None else limit_s
        self._shared = shared
        self._descriptor = -1

    @property
    def held(self) -> bool:
        """Whether we own the lock."""
        return self._descriptor >= 0

    def __enter__(self) -> KeyLock:
        descriptor = self._open()
        if descriptor < 0:
            return self
        acquired = False
        try:
            acquired = self._wait(descriptor)
        finally:
            if acquired:
                self._descriptor = descriptor
            else:
                _close(descriptor)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor in _held:  # not in a child forked meanwhile
            with contextlib.suppress(OSError):
                # NOTE: explicit, because a child forked meanwhile still has the description open.
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            _close(self._descriptor)
        self._descriptor = -1

    def _open(self) -> int:
        try:
            fs.make_directories(self._path.parent, self._shared)
            mode = 0o664 if self._shared else 0o644
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        except OSError:
            return -1
        if self._shared:
            fs.share(self._path)
        _held.add(descriptor)
        return descriptor

    def _wait(self, descriptor: int) -> bool:
        deadline = time.monotonic() + self._limit_s
        pause = 0.002
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                pass
            except OSError:  # ENOLCK, EOPNOTSUPP: this file system has no locks
                return False
            if self._on_wait is not None:
                self._on_wait()
                self._on_wait = None
            if self._done() or time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)


def _close(descriptor: int) -> None:
    _held.discard(descriptor)
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _close_in_child() -> None:
    for descriptor in list(_held):
        _close(descriptor)


os.register_at_fork(after_in_child=_close_in_child)
