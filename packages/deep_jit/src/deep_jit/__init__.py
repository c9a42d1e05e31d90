"""Run-time compiler, cache and launcher for Ascend C kernels, with an emulator for CPUs.

The public face of `_shared.jit` and `_shared.emulator` (deep_jit.md section 19). Importing it
touches no device, runs no compiler and needs no torch; names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deep_jit import _shared
from deep_jit._version import __version__

if TYPE_CHECKING:
    from deep_jit._shared.emulator import (
        CHECKS,
        EmulatorOptions,
        Finding,
        GmRange,
        SanitizerError,
        SanitizerWarning,
        Timeline,
        TimingConstant,
        TimingProfile,
        bank_conflict_lines,
        current_options,
        emulator,
        gm_range,
        last_profile,
        load_timeline,
        plot_roofline,
        plot_timeline,
        print_profile,
        record,
        replay_trace,
        save_trace,
        timed_launches,
        timing_constants,
        write_chrome_trace,
    )
    from deep_jit._shared.jit import (
        UNSET,
        ArgumentError,
        AscendCompilerOptions,
        ByValue,
        CacheError,
        CompileError,
        CompileManyError,
        CompileTimeout,
        Config,
        ConfigError,
        CpuCompilerOptions,
        Device,
        DeviceProperties,
        Env,
        EnvSettings,
        Error,
        IncludeError,
        Kernel,
        KernelCountError,
        KernelInfo,
        KeyExplanation,
        LaunchError,
        LaunchOptionError,
        LaunchOptions,
        LaunchTimeout,
        LazyInit,
        LazyJit,
        ParamInfo,
        PayloadLayout,
        Report,
        Runtime,
        Stats,
        Stream,
        ToolchainError,
        bool_,
        create_lazy_jit,
        dry_run,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        is_dry_run,
        pack_arguments,
        register_python_api,
        set_dry_run,
        u8,
        u16,
        u32,
        u64,
    )
    from deep_jit._shared.jit.tilelang import (
        TileLangBridge,
        TileLangFunction,
        TileLangKernel,
    )

    tilelang: TileLangBridge

# fmt: off
__all__ = [
    # Runtime
    "Config", "Runtime", "Kernel", "KernelInfo", "ParamInfo", "Stream", "Stats", "Report",
    "KeyExplanation", "Device", "DeviceProperties", "Env", "EnvSettings",
    # Shared between Python and an extension module
    "LazyInit", "LazyJit", "create_lazy_jit", "register_python_api",
    # Options
    "AscendCompilerOptions", "CpuCompilerOptions", "LaunchOptions", "UNSET",
    # Kernel arguments with a C++ type
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bool_", "ByValue",
    "PayloadLayout", "pack_arguments",
    # TileLang
    "tilelang", "TileLangBridge", "TileLangFunction", "TileLangKernel",
    # Dry run
    "dry_run", "is_dry_run", "set_dry_run",
    # Emulator
    "emulator", "current_options", "EmulatorOptions", "CHECKS",
    # Checkers
    "record", "Finding", "SanitizerError", "SanitizerWarning", "gm_range", "GmRange",
    # Modelled time
    "last_profile", "timed_launches", "replay_trace", "save_trace", "timing_constants",
    "TimingProfile", "TimingConstant", "Timeline", "load_timeline", "write_chrome_trace",
    "print_profile", "bank_conflict_lines", "plot_timeline", "plot_roofline",
    # Errors
    "Error", "ArgumentError", "CacheError", "CompileError", "CompileManyError", "CompileTimeout",
    "ConfigError", "IncludeError", "KernelCountError", "LaunchError", "LaunchOptionError",
    "LaunchTimeout", "ToolchainError",
    # Package
    "__version__",
]
# fmt: on

_TILELANG = ("tilelang", "TileLangBridge", "TileLangFunction", "TileLangKernel")
_EMULATOR = (
    "emulator", "current_options", "EmulatorOptions", "CHECKS", "TimingConstant", "TimingProfile",
    "last_profile", "timed_launches", "replay_trace", "save_trace", "timing_constants",
    "Timeline", "load_timeline", "write_chrome_trace",
    "print_profile", "bank_conflict_lines", "plot_timeline", "plot_roofline",
    "record", "Finding", "SanitizerError", "SanitizerWarning", "gm_range", "GmRange",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    part = "jit.tilelang" if name in _TILELANG else "emulator" if name in _EMULATOR else "jit"
    module = import_module(f"{_shared.__name__}.{part}")
    value = module.TileLangBridge() if name == "tilelang" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
