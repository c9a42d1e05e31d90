"""Process-wide settings: core count, architecture (deep_gemm.md section 1.13).

Held as one immutable tuple that is replaced as a whole, so that a reader in another thread never
sees half a change.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

__all__ = ["Settings", "current", "update"]


class Settings(NamedTuple):
    """0 means: ask the device."""

    num_sms: int = 0
    npu_arch: int = 0
    deterministic: bool = False


_lock = threading.Lock()
_current = Settings()


def current() -> Settings:
    """Settings in force."""
    return _current


def update(
    *,
    num_sms: int | None = None,
    npu_arch: int | None = None,
    deterministic: bool | None = None,
) -> Settings:
    """Replaces the fields that are given and returns the settings before."""
    global _current
    with _lock:
        before = _current
        _current = Settings(
            before.num_sms if num_sms is None else num_sms,
            before.npu_arch if npu_arch is None else npu_arch,
            before.deterministic if deterministic is None else deterministic,
        )
        return before
