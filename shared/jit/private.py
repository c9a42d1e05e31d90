"""This process's private cache root, used when no shared root can be written (section 15)."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path

from . import fork, fs
from .errors import CacheError

__all__ = ["existing_private_root", "private_root"]


class _PrivateRoot:
    """``$TMPDIR/deep_jit-<uid>-<random>``, mode 0700, removed when the creating process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.path: Path | None = None
        fork.register(self)

    def get(self) -> Path:
        """The directory, created on first use."""
        with self._lock:
            if self.path is None:
                self.path = self._create()
            return self.path

    def _create(self) -> Path:
        import tempfile

        try:
            path = Path(tempfile.mkdtemp(prefix=f"deep_jit-{os.getuid()}-"))
        except OSError as error:
            raise CacheError(
                "no cache root and no temporary directory can be written "
                f"({error}); set JIT_CACHE_DIR or TMPDIR to a writable directory"
            ) from error
        atexit.register(_remove_if_ours, path, os.getpid())
        return path

    def after_fork_in_child(self) -> None:
        """The parent removes its directory when it likes: a child makes its own."""
        self._lock = threading.Lock()
        self.path = None


def _remove_if_ours(path: Path, pid: int) -> None:
    if os.getpid() == pid:
        fs.remove_tree(path)


_root = _PrivateRoot()


def private_root() -> Path:
    """The private root, created if need be.

    Raises:
        CacheError: even the temporary directory is not writable.
    """
    return _root.get()


def existing_private_root() -> Path | None:
    """The private root if something was put there."""
    return _root.path
