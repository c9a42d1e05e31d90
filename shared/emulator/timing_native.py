"""Calls of the runtime's timing functions, `asc_emu_timing_*` in core_api.h (emulator.md 5)."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..jit.errors import ConfigError, LaunchError

__all__ = ["TimingLibrary"]


class TimingLibrary:
    """The timing functions of one loaded runtime library.

    Args:
        path: the library; it is loaded in this process already.
    """

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        text, number = ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)
        self._profile = _function(library, "profile", text, number)
        self._constants = _function(library, "constants", text)
        self._save = _function(library, "save", ctypes.c_int, text)
        self._replay = _function(library, "replay", text, text, ctypes.c_int, text, text)
        self._problem = _function(library, "problem", text)

    @staticmethod
    @cache
    def find(path: str) -> TimingLibrary | None:
        """Returns the functions of the runtime at `path`; None if it has no timing model."""
        try:
            return TimingLibrary(path)
        except AttributeError:
            return None

    def profile(self) -> tuple[int, dict[str, Any] | None]:
        """Returns a number that grows with every timed launch, and the last one's numbers."""
        number = ctypes.c_uint64()
        text = self._profile(ctypes.byref(number))
        return number.value, json.loads(text) if text else None

    def constants(self) -> list[dict[str, Any]]:
        """Returns the table of constants."""
        table: list[dict[str, Any]] = json.loads(self._constants())
        return table

    def save(self, path: Path) -> None:
        """Writes the trace of the last timed launch.

        Raises:
            LaunchError: there is none, or the file cannot be written.
        """
        if self._save(os.fsencode(path)) != 0:
            raise LaunchError(self._problem().decode())

    def replay(
        self, trace: Path | None, mode: str, constants: Mapping[str, float], spans: Path | None
    ) -> dict[str, Any]:
        """Simulates a trace again; None = that of the last timed launch.

        Raises:
            ConfigError: an unknown constant, or a trace that cannot be read.
        """
        overrides = ",".join(f"{name}={value!r}" for name, value in constants.items())
        text = self._replay(
            os.fsencode(trace or ""),
            int(mode == "replay"),
            overrides.encode(),
            os.fsencode(spans or ""),
        )
        if text is None:
            raise ConfigError(f"replay: {self._problem().decode()}")
        numbers: dict[str, Any] = json.loads(text)
        return numbers


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = library[f"asc_emu_timing_{name}"]
    function.restype = result
    function.argtypes = arguments
    return function
