"""Run external tools: argument vectors, own process group, timeout (deep_jit.md section 9).

No shell takes part, so any byte may stand in a path or a flag. Waiting happens outside the GIL and
can be interrupted; whatever ends the wait early kills the whole process group of the tool.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import CompileError, CompileTimeout, ToolchainError

if TYPE_CHECKING:
    import subprocess

__all__ = ["SCRUBBED_VARIABLES", "CompletedTool", "check_tool", "kill_tools_of", "run_tool"]

SCRUBBED_VARIABLES = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "SOURCE_DATE_EPOCH",
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "LANGUAGE",
)
"""Variables that change what a compiler produces; tools never see them."""

_TERMINATE_GRACE_S = 2.0

_running: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
"""pid -> (thread that started it, process)."""


@dataclass(frozen=True)
class CompletedTool:
    """What a tool left behind: exit status (128 + signal if killed) and merged output."""

    returncode: int
    output: str
    command: tuple[str, ...] = ()
    duration_s: float = 0.0


def tool_environment(env_extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a tool: ours without `SCRUBBED_VARIABLES`, messages in English."""
    environ = {k: v for k, v in os.environ.items() if k not in SCRUBBED_VARIABLES}
    environ["LC_ALL"] = "C"
    environ.update(env_extra or {})
    return environ


def run_tool(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    env_extra: Mapping[str, str] | None = None,
) -> CompletedTool:
    """Run one tool to its end and return its status and output.

    Args:
        argv: program and arguments; no shell is used.
        cwd: working directory.
        timeout: seconds; None or 0 = no limit.
        env_extra: variables set on top of the scrubbed environment.

    Raises:
        ConfigError: never; an empty `argv` is a ToolchainError ``command must not be empty``.
        ToolchainError: the program does not exist or is not executable.
        CompileTimeout: the limit passed; the process group was killed.
    """
    import subprocess

    command = tuple(os.fspath(word) for word in argv)
    if not command or not command[0]:
        raise ToolchainError("command must not be empty")
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=tool_environment(env_extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolchainError(
            f"failed to run {command[0]}: {error.strerror or error}; install the tool or name "
            "another one"
        ) from error
    _running[process.pid] = (threading.get_ident(), process)
    try:
        raw, _ = process.communicate(timeout=timeout or None)
    except subprocess.TimeoutExpired as error:
        output = _decode(_kill_group(process))
        raise CompileTimeout(
            f"command exceeded the compile timeout of {timeout} s and was killed:\n"
            f"{' '.join(command)}\n{output}",
            command=command,
            output=output,
        ) from error
    except BaseException:
        _kill_group(process)
        raise
    finally:
        _running.pop(process.pid, None)
    status = process.returncode
    return CompletedTool(
        returncode=status if status >= 0 else 128 - status,
        output=_decode(raw),
        command=command,
        duration_s=time.monotonic() - start,
    )


def check_tool(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    env_extra: Mapping[str, str] | None = None,
    announce: Callable[[Sequence[str]], None] | None = None,
) -> CompletedTool:
    """`run_tool`, with a CompileError when the exit status is not zero.

    Args:
        announce: called with the argument vector before the tool starts (prints the command).
    """
    command = tuple(os.fspath(word) for word in argv)
    if announce is not None:
        announce(command)
    done = run_tool(command, cwd=cwd, timeout=timeout, env_extra=env_extra)
    if done.returncode != 0:
        raise CompileError(
            f"command failed with exit code {done.returncode}:\n{' '.join(command)}\n{done.output}",
            returncode=done.returncode,
            command=command,
            output=done.output,
        )
    return done


def kill_tools_of(threads: Iterable[int]) -> int:
    """Kill the tools that the given threads (`threading.get_ident`) are waiting for."""
    wanted = set(threads)
    victims = [process for owner, process in list(_running.values()) if owner in wanted]
    for process in victims:
        _signal_group(process, signal.SIGTERM)
    return len(victims)


def _kill_group(process: subprocess.Popen[bytes]) -> bytes:
    """SIGTERM, then SIGKILL, to the group; returns what the tool had written."""
    import subprocess

    for number, grace in ((signal.SIGTERM, _TERMINATE_GRACE_S), (signal.SIGKILL, 5.0)):
        _signal_group(process, number)
        with contextlib.suppress(subprocess.TimeoutExpired, OSError, ValueError):
            return process.communicate(timeout=grace)[0] or b""
    return b""


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "backslashreplace")


def is_executable(path: str | os.PathLike[str]) -> bool:
    """A regular file that this user may execute."""
    return Path(path).is_file() and os.access(path, os.X_OK)


def _forget_in_child() -> None:
    _running.clear()


os.register_at_fork(after_in_child=_forget_in_child)
