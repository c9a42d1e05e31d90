"""Runs one kernel of a file on arrays that live in files (deep_jit.md section 7).

One word per kernel parameter, in order:

    in.npy  in.npy:bfloat16  in.pt      an input array; `:dtype` reinterprets raw bytes
    inout:acc.npy                       the same, written back after the run
    out:out.npy:float32:16x64           a new array of zeros, written after the run
    f32:1.5  i32:7  u64:0x10  bool:1    a scalar
    null                                a null pointer
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._shared.emulator.context import emulator
from ._shared.jit.config import Config
from ._shared.jit.errors import ArgumentError, ConfigError
from ._shared.jit.options import LaunchOptions
from ._shared.jit.runtime import Runtime
from ._shared.jit.scalars import bool_, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

__all__ = ["KernelFileArgument", "parse_argument", "run_kernel"]

_INTEGERS: dict[str, Callable[[int], object]] = {
    "i8": i8,
    "i16": i16,
    "i32": i32,
    "i64": i64,
    "u8": u8,
    "u16": u16,
    "u32": u32,
    "u64": u64,
}
_FLOATS: dict[str, Callable[[float], object]] = {"f32": f32, "f64": f64}
_SCALAR = re.compile(rf"({'|'.join([*_INTEGERS, *_FLOATS, 'bool'])}):(.+)")
_SHAPE = re.compile(r"\d+(?:x\d+)*")
_KERNEL = re.compile(r"[A-Za-z_][\w:]*(?:\s*<.*>)?", re.DOTALL)
_FORMS = (
    "FILE.npy[:dtype], FILE.pt, inout:FILE.npy, out:FILE.npy:dtype:RxC, "
    "i8|i16|i32|i64|u8|u16|u32|u64|f32|f64|bool:VALUE, null"
)


@dataclass(frozen=True)
class KernelFileArgument:
    """One kernel argument.

    Attributes:
        value: what the kernel receives.
        target: file that `value` is written to after the run, None for inputs.
    """

    value: Any
    target: Path | None = None


def parse_argument(word: str) -> KernelFileArgument:
    """Turns one word of the command line into an argument; reads input files.

    Args:
        word: see the module's table.

    Raises:
        ArgumentError: the word has no known form, a file cannot be read, or a value does not fit.
    """
    if word == "null":
        return KernelFileArgument(None)
    scalar = _SCALAR.fullmatch(word)
    if scalar:
        return KernelFileArgument(_scalar(scalar.group(1), scalar.group(2), word))
    if word.startswith("out:"):
        return _output(word)
    if word.startswith("inout:"):
        path, dtype = _split_dtype(word.removeprefix("inout:"))
        return KernelFileArgument(_load(path, dtype), path)
    path, dtype = _split_dtype(word)
    return KernelFileArgument(_load(path, dtype))


def run_kernel(
    path: str | os.PathLike[str],
    kernel: str,
    arguments: Sequence[str | KernelFileArgument],
    *,
    num_blocks: int = 1,
    num_ubuf_bytes: int = 0,
    defines: Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    options: Mapping[str, object] | None = None,
    backend: str = "cpu",
) -> list[Path]:
    """Compiles one kernel of a file through the JIT and runs it on files.

    Args:
        path: file that defines the kernel.
        kernel: its name, with template arguments if it has any: ``scale`` or ``gemm<128, 64>``.
        arguments: one per kernel parameter; words as `parse_argument` takes them.
        num_blocks: blocks to launch.
        num_ubuf_bytes: dynamic Unified Buffer bytes per block.
        defines: macros, ``NAME`` or ``NAME=VALUE``.
        include_dirs: further folders for its includes.
        options: emulator options (`EmulatorOptions` fields) for this run.
        backend: JIT backend.

    Returns:
        The files written, in order of the arguments.

    Raises:
        ConfigError: the file or the kernel's name is not usable. ArgumentError: an argument is not.
        CompileError, LaunchError: see `Runtime.compile` and `Kernel.__call__`.

    Example:
        >>> words = ["x.npy", "f32:2", "out:y.npy:float32:64"]
        >>> run_kernel("scale.hpp", "scale", words)  # doctest: +SKIP
        [PosixPath('y.npy')]
    """
    source_path = Path(os.path.abspath(path))
    if not source_path.is_file():
        raise ConfigError(f"cannot read {path}; pass the path of the file that defines the kernel")
    if not _KERNEL.fullmatch(kernel):
        raise ConfigError(
            f"kernel {kernel!r} is no function name; allowed: name, ns::name, name<arguments>"
        )
    parsed = [parse_argument(a) if isinstance(a, str) else a for a in arguments]
    folders = [source_path.parent, *(os.path.abspath(folder) for folder in include_dirs)]
    config = Config.with_global_prefix(Path(__file__).parent, include_dirs=folders)
    source = _entry_source(source_path.name, kernel, defines)
    with emulator(**dict(options or {})):
        runtime = Runtime(config, backend)
        compiled = runtime.compile("run", source)
        launch = LaunchOptions(num_blocks=num_blocks, num_ubuf_bytes=num_ubuf_bytes)
        compiled(launch, *(argument.value for argument in parsed))
    written = [argument for argument in parsed if argument.target is not None]
    for argument in written:
        _save(argument)
    return [argument.target for argument in written if argument.target is not None]


def _entry_source(header: str, kernel: str, defines: Sequence[str]) -> str:
    lines = []
    for define in defines:
        name, _, value = define.partition("=")
        lines.append(f"#define {name} {value or '1'}")
    lines += [
        f'#include "{header}"',
        "static void deep_jit_run_entry() {",
        f"    [[maybe_unused]] void* entry = reinterpret_cast<void*>(&{kernel});",
        "}",
        "",
    ]
    return "\n".join(lines)


def _scalar(kind: str, text: str, word: str) -> object:
    try:
        if kind == "bool":
            return bool_({"0": False, "false": False, "1": True, "true": True}[text.lower()])
        if kind in _FLOATS:
            return _FLOATS[kind](float(text))
        return _INTEGERS[kind](int(text, 0))
    except (KeyError, ValueError, OverflowError) as error:
        raise ArgumentError(f"argument {word!r} holds no {kind} value ({error})") from error


def _split_dtype(word: str) -> tuple[Path, np.dtype[Any] | None]:
    path, separator, dtype = word.rpartition(":")
    if separator and not dtype.endswith((".npy", ".pt")):
        return Path(path), _dtype(dtype, word)
    return Path(word), None


def _output(word: str) -> KernelFileArgument:
    parts = word.split(":")
    if len(parts) < 4 or not _SHAPE.fullmatch(parts[-1]):
        raise ArgumentError(f"argument {word!r} has no known form; allowed: {_FORMS}")
    path = Path(":".join(parts[1:-2]))
    shape = tuple(int(size) for size in parts[-1].split("x"))
    if path.suffix == ".pt":
        torch = _torch(word)
        dtype = getattr(torch, parts[-2], None)
        if not isinstance(dtype, torch.dtype):
            raise ArgumentError(f"argument {word!r}: torch has no dtype {parts[-2]!r}")
        return KernelFileArgument(torch.zeros(shape, dtype=dtype), path)
    _check_suffix(path, word)
    return KernelFileArgument(np.zeros(shape, dtype=_dtype(parts[-2], word)), path)


def _dtype(name: str, word: str) -> np.dtype[Any]:
    with contextlib.suppress(TypeError):
        return np.dtype(name)
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    except ImportError as error:
        raise ArgumentError(
            f"argument {word!r}: dtype {name!r} needs the package ml_dtypes; install it"
        ) from error
    except (AttributeError, TypeError) as error:
        raise ArgumentError(
            f"argument {word!r}: {name!r} is no dtype of NumPy or ml_dtypes; "
            "allowed: float32, bfloat16, float8_e4m3fn, int8, ..."
        ) from error


def _load(path: Path, dtype: np.dtype[Any] | None) -> Any:
    _check_suffix(path, str(path))
    try:
        if path.suffix == ".pt":
            return _torch(str(path)).load(path, weights_only=True).contiguous()
        array = np.ascontiguousarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"cannot read the array file {path}: {error}") from error
    return array if dtype is None else array.view(dtype)


def _save(argument: KernelFileArgument) -> None:
    assert argument.target is not None
    if argument.target.suffix == ".pt":
        _torch(str(argument.target)).save(argument.value, argument.target)
    else:
        np.save(argument.target, argument.value, allow_pickle=False)


def _check_suffix(path: Path, word: str) -> None:
    if path.suffix not in (".npy", ".pt"):
        raise ArgumentError(f"argument {word!r} has no known form; allowed: {_FORMS}")


def _torch(word: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ArgumentError(f"argument {word!r} needs torch; install it or use .npy") from error
    return torch
