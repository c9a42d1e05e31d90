"""Answers of tools that were asked before, kept in one JSON file (deep_jit.md section 10).

A disk hit in a new process runs no compiler: its version is looked up by the driver's path, size
and time.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .files import write_atomically

__all__ = ["ProbeCache"]

_MAX_ENTRIES = 64


class ProbeCache:
    """A JSON file of answers. Every failure to read or write it only means asking again.

    Args:
        path: the file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def get(self, driver: Path, words: Sequence[str]) -> dict[str, Any] | None:
        """Returns what was stored for this state of the driver file, or None."""
        key = _key(driver, words)
        found = self._read().get(key) if key is not None else None
        return found if isinstance(found, dict) else None

    def put(self, driver: Path, words: Sequence[str], answer: dict[str, Any]) -> None:
        """Stores an answer."""
        key = _key(driver, words)
        if key is None or self._path is None:
            return
        entries = self._read()
        entries.pop(key, None)
        kept = dict(list(entries.items())[-_MAX_ENTRIES + 1 :])
        kept[key] = answer
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, json.dumps(kept, indent=1).encode())

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            entries = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return entries if isinstance(entries, dict) else {}


def _key(driver: Path, words: Sequence[str]) -> str | None:
    try:
        real = driver.resolve(strict=True)
        status = real.stat()
    except OSError:
        return None
    return json.dumps(
        [os.fspath(driver), os.fspath(real), *words, status.st_size, status.st_mtime_ns]
    )
