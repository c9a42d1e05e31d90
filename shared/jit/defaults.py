"""Default options of a runtime and their merge with overrides (deep_jit.md sections 4 to 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .backends.base import Backend
from .options import (
    CompilerOptions,
    LaunchOptions,
    OptionsLike,
    coerce_compiler_options,
    coerce_launch_options,
)

__all__ = ["Defaults"]

_MAX_REMEMBERED = 256


class Defaults:
    """Defaults that are replaced whole, never changed in place, so readers need no lock.

    Args:
        backend: gives the first defaults and checks compiler options.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.compiler: CompilerOptions = backend.default_compiler_options()
        self.launch: LaunchOptions = backend.default_launch_options()
        self._launches: dict[LaunchOptions, LaunchOptions] = {}
        cpu = backend.name == "cpu"
        self._ubuf_limit = backend.device.get_num_ubuf_bytes_per_vec_core() if cpu else None

    def set_compiler(self, options: OptionsLike) -> None:
        """Replace the compiler defaults."""
        self.compiler = coerce_compiler_options(type(self.compiler), options)

    def set_launch(self, options: LaunchOptions | Mapping[str, Any]) -> None:
        """Replace the launch defaults."""
        self.launch = coerce_launch_options(options)
        self._launches = {}

    def effective_compiler(self, options: OptionsLike) -> CompilerOptions:
        """Defaults overridden by `options`, checked by the backend."""
        defaults: Any = self.compiler
        given = coerce_compiler_options(type(defaults), options)
        effective: CompilerOptions = defaults.override_with(given)
        self._backend.check_options(effective)
        return effective

    def effective_launch(self, options: LaunchOptions | Mapping[str, Any] | None) -> LaunchOptions:
        """Defaults overridden by `options`, checked; remembered for repeated launches."""
        remembered = self._launches
        given = coerce_launch_options(options)
        found = remembered.get(given)
        if found is None:
            found = self.launch.override_with(given)
            found.check(ubuf_limit=self._ubuf_limit)
            if len(remembered) >= _MAX_REMEMBERED:
                remembered.clear()
            remembered[given] = found
        return found
