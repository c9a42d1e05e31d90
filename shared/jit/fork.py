"""Reset of locks and in-flight work in a forked child (deep_jit.md section 16).

Objects register once and are told in the child only; nothing is locked before a fork, so a fork in
one thread never waits for a compile in another.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import Protocol

__all__ = ["ForkAware", "register"]


class ForkAware(Protocol):
    """An object with state that must not cross a fork."""

    def after_fork_in_child(self) -> None:
        """Replace locks, drop in-flight work; must not raise or block."""
        ...


_objects: weakref.WeakSet[ForkAware] = weakref.WeakSet()


def register(target: ForkAware) -> None:
    """Call ``target.after_fork_in_child()`` in every child forked while `target` lives."""
    _objects.add(target)


def _reset_all() -> None:
    for target in list(_objects):
        with contextlib.suppress(Exception):
            target.after_fork_in_child()


os.register_at_fork(after_in_child=_reset_all)
