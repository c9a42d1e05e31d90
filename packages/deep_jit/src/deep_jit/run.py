"""`deep-jit run`: a program with its own `main()`, or one kernel on files (emulator.md section 1).

run_program("mmad.asc", defines=["SCENARIO_NUM=1"])      its exit status
run_kernel("scale.hpp", "scale", ["in.npy", "f32:2", "out:out.npy:float32:16x64"])
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ._kernel_files import run_kernel
from ._program_build import ProgramBuilder
from ._shared.emulator.context import (
    attach_runtime,
    automatic_threads,
    current_options,
    emulator,
)
from ._shared.emulator.options import runtime_option_names

__all__ = ["build_program", "load_runtime", "run_kernel", "run_program"]

_OPTIONS_VARIABLE = "ASC_EMU_OPTIONS"


def build_program(
    path: str | os.PathLike[str],
    *,
    defines: Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Path:
    """Compiles a program for the emulator and returns the executable, which the JIT cache keeps.

    Args:
        path: Ascend C source with `main()`, launches `kernel<<<...>>>(...)` and ACL host calls.
        defines: macros, ``NAME`` or ``NAME=VALUE``.
        include_dirs: further folders for its includes.

    Raises:
        ConfigError: the file cannot be read, or a macro has no name.
        CompileError: the text does not compile; the message has the compiler's output.
        ToolchainError: there is no usable host compiler.
    """
    builder = ProgramBuilder()
    folders = [Path(folder) for folder in include_dirs]
    return builder.build(Path(path), defines=defines, include_dirs=folders)


def run_program(
    path: str | os.PathLike[str],
    args: Sequence[str] = (),
    *,
    defines: Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    options: Mapping[str, object] | None = None,
    report_path: str | os.PathLike[str] | None = None,
    trace_folder: str | os.PathLike[str] | None = None,
) -> int:
    """Builds a program, runs it in the current folder and returns its exit status.

    The program owns stdin, stdout and stderr. A kernel that fails makes the status non-zero even
    if the program ignores the status of its calls.

    Args:
        path: Ascend C source with `main()`.
        args: the program's arguments.
        defines: macros, ``NAME`` or ``NAME=VALUE``.
        include_dirs: further folders for its includes.
        options: emulator options (`EmulatorOptions` fields) for this run.
        report_path: file that gets a line of JSON for each launch with findings of the checkers.
        trace_folder: folder that gets a trace of each launch with `timing` on, in order, for
            `replay_trace`.

    Returns:
        Exit status; 128 + signal number when a signal ended the program.

    Raises:
        ConfigError, CompileError, ToolchainError: see `build_program`.

    Example:
        >>> run_program("hello.asc", ["world"])  # doctest: +SKIP
        0
    """
    places = {"report_path": report_path, "trace_folder": trace_folder}
    with emulator(**dict(options or {})):
        program = build_program(path, defines=defines, include_dirs=include_dirs)
        environment = {**os.environ, _OPTIONS_VARIABLE: _runtime_options(places)}
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    status = subprocess.call([os.fspath(program), *args], env=environment)
    return status if status >= 0 else 128 - status


def load_runtime() -> None:
    """Loads the emulator's runtime into this process, for replays of traces that a program left."""
    attach_runtime(os.fspath(ProgramBuilder().runtime()))


def _runtime_options(places: Mapping[str, str | os.PathLike[str] | None]) -> str:
    options = current_options()
    texts = options.to_texts()
    texts["threads"] = str(options.threads or automatic_threads())
    words = [f"{name}={texts[name]}" for name in runtime_option_names()]
    words += [f"{name}={os.path.abspath(path)}" for name, path in places.items() if path]
    return ";".join(words)
