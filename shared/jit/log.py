"""Messages to the user: one write per line, stderr by default (deep_jit.md section 17)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

__all__ = ["Log", "LogHook"]

LogHook = Callable[[str, str], None]
"""Called with (level, message); level is ``info`` or ``warning``."""

_PREFIX = "[deep_jit]"


class Log:
    """Writes messages to stderr, stdout or a file, and to hooks.

    Args:
        target: ``stderr``, ``stdout`` or the path of a file to append to (``JIT_LOG``).
    """

    def __init__(self, target: str = "stderr") -> None:
        self._target = target
        self._hooks: list[LogHook] = []
        self._warned: set[str] = set()

    def add_hook(self, hook: LogHook) -> Callable[[], None]:
        """Send every message to `hook` too; returns a function that removes it."""
        self._hooks.append(hook)
        return lambda: self._hooks.remove(hook) if hook in self._hooks else None

    def info(self, message: str) -> None:
        """A message the user asked for."""
        self._emit("info", message)

    def warning(self, message: str) -> None:
        """Something went wrong, and work goes on."""
        self._emit("warning", message)

    def warn_once(self, topic: str, message: str) -> None:
        """`warning`, but once per topic."""
        if topic not in self._warned:
            self._warned.add(topic)
            self.warning(message)

    def _emit(self, level: str, message: str) -> None:
        for hook in list(self._hooks):
            hook(level, message)
        mark = "warning: " if level == "warning" else ""
        text = "".join(f"{_PREFIX} {mark}{line}\n" for line in message.splitlines() or [""])
        with contextlib.suppress(OSError, ValueError):  # a closed stream must not stop a compile
            self._write(text)

    def _write(self, text: str) -> None:
        if self._target in ("stderr", "stdout"):
            stream = sys.stderr if self._target == "stderr" else sys.stdout
            stream.write(text)
            stream.flush()
            return
        with open(self._target, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
