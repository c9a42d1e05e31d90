"""Command lines of the Ascend tools as pure functions (deep_jit.md sections 4.1 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...options import AscendCompilerOptions
from .toolkit import AscendToolkit

__all__ = [
    "AICORE_BINARY",
    "AICPU_BINARY",
    "ASM_DIRECTORY",
    "OBJECT_NAME",
    "asm_argv",
    "asm_output",
    "binary_name",
    "compile_argv",
    "link_argv",
]

SOURCE_NAME = "kernel.asc"
OBJECT_NAME = "kernel.rel.o"
AICORE_BINARY = "kernel.o"
AICPU_BINARY = "kernel.aicpu.so"
ASM_DIRECTORY = "asm"


def binary_name(options: AscendCompilerOptions) -> str:
    """Returns the file that the link writes in this mode."""
    return AICPU_BINARY if options.aicpu else AICORE_BINARY


def compile_argv(
    toolkit: AscendToolkit,
    options: AscendCompilerOptions,
    include_dirs: Sequence[Path],
    directory: Path,
) -> list[str]:
    """Returns the command that compiles `kernel.asc` of a build directory to `kernel.rel.o`."""
    inputs = [*_include_flags(toolkit, include_dirs), str(directory / SOURCE_NAME)]
    return [
        str(toolkit.bisheng),
        *options.compile_flags(),
        *inputs,
        "-o",
        str(directory / OBJECT_NAME),
    ]


def link_argv(toolkit: AscendToolkit, options: AscendCompilerOptions, directory: Path) -> list[str]:
    """Returns the command that links `kernel.rel.o` to the binary of the mode."""
    output = directory / binary_name(options)
    return [
        str(toolkit.linker),
        *options.link_flags(),
        str(directory / OBJECT_NAME),
        "-o",
        str(output),
    ]


def asm_argv(
    toolkit: AscendToolkit,
    options: AscendCompilerOptions,
    include_dirs: Sequence[Path],
    directory: Path,
) -> list[str]:
    """Returns the command, run inside `asm/`, that writes `*.asci`, or `kernel.s` for AICPU."""
    mode = "-S" if options.aicpu else "-save-temps"
    inputs = [*_include_flags(toolkit, include_dirs), str(directory / SOURCE_NAME)]
    output = asm_output(options, directory)
    return [str(toolkit.bisheng), *options.compile_flags(), mode, *inputs, "-o", str(output)]


def asm_output(options: AscendCompilerOptions, directory: Path) -> Path:
    """Returns the file that `asm_argv` names as its output."""
    return directory / ASM_DIRECTORY / ("kernel.s" if options.aicpu else OBJECT_NAME)


def _include_flags(toolkit: AscendToolkit, include_dirs: Sequence[Path]) -> list[str]:
    return [f"-I{folder}" for folder in (*include_dirs, toolkit.adv_api)]
