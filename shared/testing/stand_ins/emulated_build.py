"""Compiles for the emulator what a bisheng command line asks (architecture.md section 7)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._component import native
from ...jit.backends.cpu import CpuBackend
from ...jit.config import Config
from ...jit.env import Env
from ...jit.options import CpuCompilerOptions
from ...jit.runtime import Runtime

__all__ = ["EmulatedBuild", "build_for_emulator", "cpu_options", "tracked_prefixes"]


@dataclass(frozen=True)
class EmulatedKernel:
    """A kernel as a device binary names it: by its mangled name."""

    symbol: str
    num_aic: int
    num_aiv: int


@dataclass(frozen=True)
class EmulatedBuild:
    """A kernel object of target cpu, its kernels in table order, and the runtime it needs."""

    object: Path
    runtime: Path
    kernels: tuple[EmulatedKernel, ...]


def build_for_emulator(text: str, argv: Sequence[str], cache_dir: Path) -> EmulatedBuild:
    """Compiles a source as the command line of bisheng asks.

    Args:
        text: the source.
        argv: bisheng's arguments; `-I`, `-D`, `-O` and `--npu-arch` count.
        cache_dir: JIT cache root of the build.
    """
    os.environ["DJ_JIT_CACHE_DIR"] = str(cache_dir)  # this is the tool's own process
    include_dirs = [Path(word[2:]) for word in argv if word.startswith("-I")]
    config = Config.with_global_prefix(
        cache_dir, include_dirs=include_dirs, include_prefixes=tracked_prefixes(include_dirs)
    )
    backend = CpuBackend(Env("DJ"))
    folder = Runtime(config, backend).compile_without_load("stand_in", text, cpu_options(argv))
    binary, library = folder / backend.binary_name, backend.prepare()
    native().load_runtime(str(library))
    kernels = tuple(_kernel(entry) for entry in native().inspect(str(binary)))
    return EmulatedBuild(binary, library, kernels)


def _kernel(entry: Mapping[str, Any]) -> EmulatedKernel:
    symbol = entry["symbol"] or re.sub(r"\W+", "_", entry["name"])
    return EmulatedKernel(symbol, entry["num_aic"], entry["num_aiv"])


def cpu_options(argv: Sequence[str]) -> CpuCompilerOptions:
    """Returns the host compiler's options for a bisheng command line."""
    level = next(word[2:] for word in argv if word.startswith("-O"))
    arch = next(word for word in argv if word.startswith("--npu-arch=dav-"))
    defines = tuple(word for word in argv if word.startswith(("-D", "-U")))
    return CpuCompilerOptions(
        optimize_level=level, arch=int(arch.rpartition("-")[2]), extra_cxx_flags=defines
    )


def tracked_prefixes(include_dirs: Sequence[Path]) -> tuple[str, ...]:
    """Returns the first part of every header name that these folders can resolve."""
    names = (entry for folder in include_dirs if folder.is_dir() for entry in folder.iterdir())
    return tuple(sorted({f"{name.name}/" if name.is_dir() else name.name for name in names}))
