"""Objects built on first use (deep_jit.md section 16)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import fork
from .errors import ConfigError

if TYPE_CHECKING:
    from .config import Config
    from .runtime import Runtime

__all__ = ["LazyInit", "LazyJit", "create_lazy_jit", "register_python_api"]

T = TypeVar("T")


class LazyInit(Generic[T]):
    """A factory and, after the first `get`, its object. Thread-safe and fork-safe.

    Args:
        factory: builds the object; None = not initialised yet.
    """

    def __init__(self, factory: Callable[[], T] | None = None) -> None:
        self._lock = threading.RLock()
        self._factory = factory
        self._value: T | None = None
        fork.register(self)

    def reset(self, factory: Callable[[], T] | None) -> None:
        """Assign a new factory; objects already handed out stay valid."""
        with self._lock:
            self._factory = factory
            self._value = None

    @property
    def initialized(self) -> bool:
        """Whether the object exists."""
        return self._value is not None

    def get(self) -> T:
        """The object, built now if need be; a factory that raised may be tried again."""
        value = self._value
        if value is not None:
            return value
        with self._lock:
            if self._value is None:
                self._value = self._build()
            return self._value

    def _build(self) -> T:
        if self._factory is None:
            raise ConfigError("lazy object must be initialized before use; assign a factory first")
        value = self._factory()
        if value is None:
            raise ConfigError("lazy factory must not return nullptr (None)")
        return value

    def after_fork_in_child(self) -> None:
        """Another thread may have held the lock."""
        self._lock = threading.RLock()


class LazyJit(LazyInit["Runtime"]):
    """`LazyInit` of a runtime."""


def create_lazy_jit(config: Config, backend: str = "auto", **arguments: Any) -> LazyJit:
    """A runtime that is built on first `get`.

    Only `config` is captured: environment, device, tool chain and cache directory are touched at
    the first use, not here.

    Args:
        config: configuration of the component.
        backend: see `Runtime`.
        arguments: further keyword arguments of `Runtime`.
    """

    def build() -> Runtime:
        from .runtime import Runtime

        return Runtime(config, backend, **arguments)

    return LazyJit(build)


def register_python_api(module: ModuleType, lazy_jit: LazyInit[Any]) -> None:
    """Give `module` a function ``get_jit()`` that follows `lazy_jit`, reassignments included."""

    def get_jit() -> Any:
        """The runtime of this module; built on the first call."""
        return lazy_jit.get()

    module.get_jit = get_jit  # type: ignore[attr-defined]
