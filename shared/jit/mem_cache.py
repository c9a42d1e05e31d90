"""Memory cache with single flight (deep_jit.md section 16).

Same key: one producer, the others wait and get the same object or the same exception. Different
keys never wait for each other. A failed factory leaves nothing behind. Waiting needs no GIL.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from . import fork

__all__ = ["MemCache"]

T = TypeVar("T")


class _Flight(Generic[T]):
    """One running factory."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.owner = threading.get_ident()
        self.value: T | None = None
        self.error: Exception | None = None
        self.interrupted = False


class MemCache(Generic[T]):
    """Key -> value, built at most once at a time.

    Args:
        keep: whether values stay after the flight; False gives pure single flight.
    """

    def __init__(self, keep: bool = True) -> None:
        self._keep = keep
        self._lock = threading.Lock()
        self._values: dict[Hashable, T] = {}
        self._flights: dict[Hashable, _Flight[T]] = {}
        fork.register(self)

    def peek(self, key: Hashable) -> T | None:
        """The finished value of `key`, or None."""
        return self._values.get(key)

    def get(
        self, key: Hashable, factory: Callable[[], T], on_wait: Callable[[], None] | None = None
    ) -> T:
        """The value of `key`, built by `factory` in one thread.

        Args:
            key: any hashable.
            factory: called without any lock held.
            on_wait: called once when this thread waits for another one.
        """
        while True:
            with self._lock:
                if key in self._values:
                    return self._values[key]
                flight = self._flights.get(key)
                mine = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight()
            if mine:
                return self._produce(key, flight, factory)
            if flight.owner == threading.get_ident():
                raise RuntimeError(f"the factory of {key!r} asked for its own value")
            if on_wait is not None:
                on_wait()
                on_wait = None
            flight.done.wait()
            if flight.interrupted:
                continue
            if flight.error is not None:
                raise flight.error
            return flight.value  # type: ignore[return-value]

    def _produce(self, key: Hashable, flight: _Flight[T], factory: Callable[[], T]) -> T:
        try:
            flight.value = factory()
            if self._keep:
                self._values[key] = flight.value
            return flight.value
        except Exception as error:
            flight.error = error
            raise
        except BaseException:  # e.g. KeyboardInterrupt: ours alone, a waiter takes over
            flight.interrupted = True
            raise
        finally:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.done.set()

    def discard(self, key: Hashable) -> None:
        """Forget a finished value."""
        with self._lock:
            self._values.pop(key, None)

    def values(self) -> list[T]:
        """All finished values."""
        with self._lock:
            return list(self._values.values())

    def clear(self) -> None:
        """Forget all finished values."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)

    def after_fork_in_child(self) -> None:
        """The builders of the parent do not exist here: drop their flights."""
        self._lock = threading.Lock()
        self._flights = {}
