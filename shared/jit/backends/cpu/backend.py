"""Backend `cpu`: the host compiler and the emulator (deep_jit.md section 20)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ...._component import include_dirs, shared_root
from ....emulator.context import attach_runtime, current_options
from ...device import cpu_device
from ...env import Env, EnvSettings
from ...errors import ConfigError, LaunchError
from ...key import compat_hash
from ...log import Log
from ...options import CompilerOptions, CpuCompilerOptions, LaunchOptions
from ..base import BuildRequest, BuildResult, KernelInfo, LoadedKernel, TrackedInclude
from .build import BINARY_NAME, SOURCE_NAME, KernelBuild
from .emu_runtime import EmuRuntimeBuilder, runtime_sources_sha256
from .files import tree_sha256
from .flags import kernel_compile_flags, kernel_link_flags, library_flags, split_macros
from .host_compiler import HostCompiler, find_host_compiler
from .isa import Isa, choose_isa
from .load import load_kernel, needed_runtime
from .observed import observe_flags
from .pch import Prelude, PreludeBuilder, headers_sha256, prelude_text
from .places import Places
from .probes import ProbeCache

__all__ = ["CpuBackend"]


class CpuBackend:
    """Compiles Ascend C with the host compiler and runs it in the emulator.

    Nothing is looked for or run before the first use. The instruction set follows the emulator
    option `isa` at the time of each key, so that kernels for several of them live side by side.

    Args:
        env: live environment of the runtime.
        settings: its snapshot; taken now when None.
        device: device index.
        device_model: fields of the emulated device to replace.
    """

    name = "cpu"
    source_name = SOURCE_NAME
    binary_name = BINARY_NAME
    survives_fork = True

    def __init__(
        self,
        env: Env,
        *,
        settings: EnvSettings | None = None,
        device: int = 0,
        device_model: Mapping[str, Any] | None = None,
    ) -> None:
        self._settings = settings or env.snapshot()
        self._log = Log(self._settings.log)
        self._places = Places(env, self._settings, self._log)
        self._lock = threading.RLock()
        self.device = cpu_device(self._settings.npu_arch, device, device_model)

    def after_fork_in_child(self) -> None:
        """Replaces the lock; loaded kernels stay usable."""
        self._lock = threading.RLock()

    def default_compiler_options(self) -> CpuCompilerOptions:
        """Returns all fields, from the environment snapshot and the device."""
        return CpuCompilerOptions.defaults(
            arch=self.device.get_npu_arch(),
            debug_info=self._settings.kernel_debug_info,
            dump_asm=self._settings.dump_asm,
        )

    def default_launch_options(self) -> LaunchOptions:
        """Returns the defaults of a launch."""
        return LaunchOptions.defaults(timeout_s=self._settings.launch_timeout)

    @cached_property
    def compiler(self) -> HostCompiler:
        """The host compiler.

        Raises:
            ToolchainError: there is none, or it is too old.
        """
        with self._lock:
            return find_host_compiler(self._settings, ProbeCache(self._places.probes))

    @cached_property
    def _runtimes(self) -> EmuRuntimeBuilder:
        return EmuRuntimeBuilder(self.compiler, self._places, self._settings, self._log)

    @cached_property
    def _preludes(self) -> PreludeBuilder:
        return PreludeBuilder(self.compiler, self._places, self._settings, self._log)

    def compiler_identity(self) -> tuple[bytes, ...]:
        """Returns what decides a kernel's code besides its flags and text."""
        compiler = self.compiler
        parts = (
            compiler.version,
            compiler.triple,
            compiler.driver_sha256,
            *(runtime_sources_sha256(), headers_sha256(), _source_pass_sha256()),
        )
        return tuple(part.encode("utf-8", "surrogateescape") for part in parts)

    def compiler_hash(self) -> str:
        """Returns the digest of the tool chain in the published library's key format."""
        return compat_hash(
            self.compiler.version, self.compiler.triple, headers_sha256(), runtime_sources_sha256()
        )

    def key_flags(self, options: CompilerOptions) -> tuple[tuple[str, ...], ...]:
        """Returns instruction set, compile flags and link flags, as they are now."""
        cpu = _cpu_options(options)
        isa, flags = self._flags(cpu)
        link = kernel_link_flags(Path(self._runtimes.name(isa)))
        # NOTE: the folder of the runtime is no part of the result.
        link = tuple(flag for flag in link if not flag.startswith("-L"))
        link = (*link, *library_flags(cpu, self.compiler.family))
        return (isa.name,), (*flags, *cpu.host_flags()), (*link, *cpu.host_link_flags())

    def text_flags(self, source: bytes, tracked: Iterable[TrackedInclude]) -> tuple[str, ...]:
        """Returns what the text adds to the compile flags, with the checkers as they are now."""
        return observe_flags(source, tracked, self.compiler.family)

    def check_options(self, options: CompilerOptions) -> None:
        """Raises ConfigError for options that cannot compile."""
        _cpu_options(options).check()

    def compile(self, request: BuildRequest) -> BuildResult:
        """Fills the request's directory.

        Raises:
            CompileError, CompileTimeout: the compiler failed.
            ToolchainError: there is no usable compiler.
        """
        isa, flags = self._flags(_cpu_options(request.options))
        flags = (*flags, *self.text_flags(request.source.encode(), request.tracked))
        runtime = self._runtime(isa)
        attach_runtime(str(runtime))
        build = KernelBuild(
            compiler=self.compiler,
            flags=flags,
            runtime=runtime,
            prelude=self._prelude(request, flags),
            request=request,
            log=self._log,
        )
        return build.run()

    def load(self, directory: Path, kernels: tuple[KernelInfo, ...]) -> LoadedKernel:
        """Loads the one kernel of `kernels` from an entry, or the entry's only one.

        Raises:
            KernelCountError: neither names exactly one.
            LaunchError: it was built for a runtime that is not here, or cannot be loaded.
        """
        binary = directory / BINARY_NAME
        name = kernels[0].name if len(kernels) == 1 else ""
        return load_kernel(binary, self._runtime_of(binary), name)

    def compiler_info(self) -> dict[str, str]:
        """Returns paths and versions for meta.json and reports."""
        isa = self._isa()
        return {
            "path": " ".join(self.compiler.argv),
            "version": self.compiler.version,
            "triple": self.compiler.triple,
            "isa": isa.name,
            "runtime": self._runtimes.name(isa),
        }

    def prepare(self) -> Path:
        """Builds runtime and precompiled header ahead of use (`deep-jit warm`).

        Returns:
            The runtime's file.
        """
        options = self.default_compiler_options()
        isa, flags = self._flags(options)
        runtime = self._runtime(isa)
        with self._lock:
            self._preludes.get(flags)
        return runtime

    def _isa(self) -> Isa:
        return choose_isa(current_options().isa)

    def _flags(self, options: CpuCompilerOptions) -> tuple[Isa, tuple[str, ...]]:
        emulator_options = current_options()
        isa = choose_isa(emulator_options.isa)
        source_map = emulator_options.source_map == "on"
        return isa, kernel_compile_flags(options, isa, source_map=source_map)

    def _runtime(self, isa: Isa) -> Path:
        with self._lock:
            return self._runtimes.path(isa)

    def _runtime_of(self, binary: Path) -> Path:
        needed = needed_runtime(binary)
        for name in (current_options().isa, "best", "avx512", "avx2", "neon", "generic"):
            try:
                isa = choose_isa(name)
            except ConfigError:
                continue
            if self._runtimes.name(isa) == needed:
                return self._runtime(isa)
        raise LaunchError(
            f"cannot load {binary}: it was built for the runtime {needed}, and this installation "
            f"has {self._runtimes.name(self._isa())}; compile the kernel again"
        )

    def _prelude(self, request: BuildRequest, flags: tuple[str, ...]) -> Prelude | None:
        if _shadows_own_headers(request) or not _fits_prelude(request):
            return None
        with self._lock:
            return self._preludes.get(flags)


def _cpu_options(options: CompilerOptions) -> CpuCompilerOptions:
    if isinstance(options, CpuCompilerOptions):
        return options
    return CpuCompilerOptions.from_ascend(options)


def _fits_prelude(request: BuildRequest) -> bool:
    """Whether the user's flags leave the precompiled header valid."""
    _, words = split_macros(_cpu_options(request.options).host_flags())
    return all(word.startswith(("-I", "-W")) for word in words)


def _shadows_own_headers(request: BuildRequest) -> bool:
    own = {path.resolve() for path in include_dirs()}
    folders = {
        line.split("<")[1].split("/")[0] for line in prelude_text().splitlines() if "/" in line
    }
    return any(
        (path / folder).is_dir() and path.resolve() not in own
        for path in request.include_dirs
        for folder in folders
    )


@cache
def _source_pass_sha256() -> str:
    return tree_sha256([shared_root() / "jit" / "source_pass"])
