"""JIT compiler, cache and launcher shared by all components (deep_jit.md).

Importing this package runs no compiler and touches no device or cache; names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# NOTE: not lazy, because the function has its module's name: a later import of the module would
# bind the module here.
from .dry_run import dry_run, is_dry_run, set_dry_run

if TYPE_CHECKING:
    from .args import (
        ByValue,
        PayloadLayout,
        bool_,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        pack_arguments,
        u8,
        u16,
        u32,
        u64,
    )
    from .backends.base import KernelInfo, ParamInfo
    from .config import Config
    from .device import Device, DeviceProperties
    from .env import Env, EnvSettings
    from .errors import (
        ArgumentError,
        CacheError,
        CompileError,
        CompileManyError,
        CompileTimeout,
        ConfigError,
        Error,
        IncludeError,
        KernelCountError,
        LaunchError,
        LaunchOptionError,
        LaunchTimeout,
        ToolchainError,
    )
    from .kernel import Kernel
    from .key import KeyExplanation
    from .lazy import LazyInit, LazyJit, create_lazy_jit, register_python_api
    from .options import UNSET, AscendCompilerOptions, CpuCompilerOptions, LaunchOptions
    from .runtime import Runtime
    from .stats import Stats
    from .stream import Stream
    from .warm_up import Report

_MODULES = {
    "args": (
        "ByValue", "PayloadLayout", "bool_", "f32", "f64", "i8", "i16", "i32", "i64",
        "pack_arguments", "u8", "u16", "u32", "u64",
    ),
    "backends.base": ("KernelInfo", "ParamInfo"),
    "config": ("Config",),
    "device": ("Device", "DeviceProperties"),
    "env": ("Env", "EnvSettings"),
    "errors": (
        "ArgumentError", "CacheError", "CompileError", "CompileManyError", "CompileTimeout",
        "ConfigError", "Error", "IncludeError", "KernelCountError", "LaunchError",
        "LaunchOptionError", "LaunchTimeout", "ToolchainError",
    ),
    "kernel": ("Kernel",),
    "key": ("KeyExplanation",),
    "lazy": ("LazyInit", "LazyJit", "create_lazy_jit", "register_python_api"),
    "options": ("UNSET", "AscendCompilerOptions", "CpuCompilerOptions", "LaunchOptions"),
    "runtime": ("Runtime",),
    "stats": ("Stats",),
    "stream": ("Stream",),
    "warm_up": ("Report",),
}  # fmt: skip
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "UNSET", "ArgumentError", "AscendCompilerOptions", "ByValue", "CacheError", "CompileError",
    "CompileManyError", "CompileTimeout", "Config", "ConfigError", "CpuCompilerOptions", "Device",
    "DeviceProperties", "Env", "EnvSettings", "Error", "IncludeError", "Kernel",
    "KernelCountError", "KernelInfo", "KeyExplanation", "LaunchError", "LaunchOptionError",
    "LaunchOptions", "LaunchTimeout", "LazyInit", "LazyJit", "ParamInfo", "PayloadLayout",
    "Report", "Runtime", "Stats", "Stream", "ToolchainError", "bool_", "create_lazy_jit",
    "dry_run", "f32", "f64", "i8", "i16", "i32", "i64", "is_dry_run", "pack_arguments",
    "register_python_api", "set_dry_run", "u8", "u16", "u32", "u64",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
