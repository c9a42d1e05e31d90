"""Builds of one kernel for checkers and the timing model (emulator.md 4 and 5).

Both look into vector and SIMT functions, which only a build of its own lets them. A handle made
before they were switched on, or off, launches the build that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Variants"]

K = TypeVar("K")


class Variants(Generic[K]):
    """The builds of one kernel, made when a launch needs them.

    Args:
        make: compiles the kernel again, for the options in force then.
    """

    def __init__(self, make: Callable[[], K]) -> None:
        self._make = make
        self._built_for = _onlookers()
        self._others: dict[tuple[bool, bool], K] = {}

    def fitting(self, own: K) -> K:
        """The kernel for the options in force: `own` when it was compiled for them.

        Raises:
            The errors of a compile.
        """
        wanted = _onlookers()
        if wanted == self._built_for:
            return own
        found = self._others.get(wanted)
        if found is None:
            found = self._others.setdefault(wanted, self._make())
        return found


def _onlookers() -> tuple[bool, bool]:
    # NOTE: imports numpy, which asking for a key needs not.
    from ..emulator.context import onlookers

    return onlookers()
