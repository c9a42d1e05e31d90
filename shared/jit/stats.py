"""Counters of a runtime (deep_jit.md section 17)."""

from __future__ import annotations

import threading
from typing import Any

from . import fork

__all__ = ["Stats"]

_COUNTERS = (
    "memory_hits",
    "disk_hits",
    "builds",
    "build_failures",
    "waits",
    "loads",
    "launches",
    "verify_failures",
    "publish_failures",
)
_SECONDS = ("build_s", "load_s", "wait_s")


class Stats:
    """Thread-safe counters; read them as attributes or all at once with `snapshot`.

    Attributes:
        disk_hits_per_root: root directory -> hits.
    """

    memory_hits: int
    disk_hits: int
    builds: int
    build_failures: int
    waits: int
    loads: int
    launches: int
    verify_failures: int
    publish_failures: int
    build_s: float
    load_s: float
    wait_s: float

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.disk_hits_per_root: dict[str, int] = {}
        self.reset()
        fork.register(self)

    def reset(self) -> None:
        """Set every counter to zero."""
        for name in _COUNTERS:
            setattr(self, name, 0)
        for name in _SECONDS:
            setattr(self, name, 0.0)
        self.disk_hits_per_root.clear()

    def add(self, name: str, amount: float = 1) -> None:
        """Add to one counter."""
        with self._lock:
            setattr(self, name, getattr(self, name) + amount)

    def add_disk_hit(self, root: str) -> None:
        """Count a hit in one root."""
        with self._lock:
            self.disk_hits += 1
            self.disk_hits_per_root[root] = self.disk_hits_per_root.get(root, 0) + 1

    def snapshot(self) -> dict[str, Any]:
        """All counters as plain values."""
        with self._lock:
            values: dict[str, Any] = {n: getattr(self, n) for n in (*_COUNTERS, *_SECONDS)}
            values["disk_hits_per_root"] = dict(self.disk_hits_per_root)
        return values

    def after_fork_in_child(self) -> None:
        """Another thread may have held the lock."""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Stats({self.snapshot()})"
