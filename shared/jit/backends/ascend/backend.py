"""Backend `ascend`: bisheng, ld.lld and ACL (deep_jit.md sections 1, 4.1, 8, 9 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from ...elf import aicore_kernels, aicpu_kernels
from ...env import Env, EnvSettings
from ...errors import CompileError, ConfigError, KernelCountError, LaunchError
from ...key import compat_hash
from ...options import AscendCompilerOptions, CompilerOptions, LaunchOptions
from ...process import CompletedTool, check_tool
from ..base import BuildRequest, BuildResult, KernelInfo
from . import commands
from .acl import Acl, load_acl
from .demangle import demangle
from .device import read_device
from .kernel import AscendKernel, load_aicore_kernel, load_aicpu_kernel
from .toolkit import AscendToolkit, find_toolkit

__all__ = ["AscendBackend"]


class AscendBackend:
    """The npu target of one device.

    Args:
        env: live environment of the runtime.
        settings: its snapshot; taken now when None.
        device: device index.
        toolkit: the toolkit to use; found by the environment when None.

    Raises:
        ToolchainError: no usable toolkit, or no ACL.
        LaunchError: ACL does not know the device.
    """

    name = "ascend"
    source_name = commands.SOURCE_NAME
    binary_name = commands.AICORE_BINARY
    other_binaries = (commands.AICPU_BINARY,)
    survives_fork = False

    def __init__(
        self,
        env: Env,
        *,
        settings: EnvSettings | None = None,
        device: int = 0,
        toolkit: AscendToolkit | None = None,
    ) -> None:
        self._env = env
        self._settings = settings or env.snapshot()
        self.toolkit = toolkit or find_toolkit(self._settings.standard)
        self._acl: Acl = load_acl(self.toolkit.library_dirs())
        self.device = read_device(self._acl, device)

    def default_compiler_options(self) -> AscendCompilerOptions:
        """All fields set, from the environment snapshot and the device."""
        return AscendCompilerOptions.defaults(
            arch=self.device.get_npu_arch(),
            debug_info=self._settings.kernel_debug_info,
            dump_asm=self._settings.dump_asm,
        )

    def default_launch_options(self) -> LaunchOptions:
        """No dynamic UB, the timeout of the environment snapshot; stream and block count unset."""
        return LaunchOptions.defaults(timeout_s=self._settings.launch_timeout)

    def compiler_identity(self) -> tuple[bytes, ...]:
        """Version texts of compiler and linker, and the sizes of their programs; no paths."""
        tools = (self.toolkit.bisheng, self.toolkit.linker)
        sizes = [str(tool.stat().st_size).encode() for tool in tools]
        return (*(version.encode() for version in self._versions), *sizes)

    def compiler_hash(self) -> str:
        """The published library's digest of the two version texts."""
        return compat_hash(*self._versions)

    def key_flags(self, options: CompilerOptions) -> tuple[tuple[str, ...], ...]:
        """The mode's marker, compile flags and link flags."""
        return _ascend(options).key_flags()

    def check_options(self, options: CompilerOptions) -> None:
        """Raises ConfigError for options that cannot compile."""
        _ascend(options).check()

    def compiler_info(self) -> dict[str, str]:
        """Paths and versions in the order of meta.json."""
        version, linker_version = self._versions
        return {
            "path": str(self.toolkit.bisheng),
            "version": version,
            "linker_path": str(self.toolkit.linker),
            "linker_version": linker_version,
        }

    def compile(self, request: BuildRequest) -> BuildResult:
        """Compiles and links `kernel.asc`, then dumps the assembly if that was asked for.

        Raises:
            CompileError: a tool failed or left no binary.
            BinaryFormatError: the binary is not an Ascend binary.
        """
        options = _ascend(request.options)
        build: list[CompletedTool] = []
        kernels: tuple[KernelInfo, ...] = ()
        if not request.dumps_only:
            build = self._build(request, options)
            kernels = discover(request.directory)
        dumps = [self._dump_asm(request, options)] if options.dump_asm else []
        return BuildResult(
            commands=tuple(tool.command for tool in build or dumps),
            kernels=kernels,
            log="".join(tool.output for tool in (*build, *dumps)),
        )

    def load(self, directory: Path, kernels: tuple[KernelInfo, ...]) -> AscendKernel:
        """Loads the one kernel of an entry on this backend's device.

        Raises:
            KernelCountError: the binary holds none or several.
            LaunchError: ACL cannot load it, or another device is current.
        """
        found = kernels or discover(directory)
        path, aicpu = _binary_of(directory)
        if len(found) != 1:
            names = [kernel.demangled for kernel in found]
            raise KernelCountError(
                f"expected exactly one kernel in {path}, found {len(found)}: "
                f"{', '.join(names) or 'none'}; "
                "mark one function with __global__ or take the address of one template instance",
                names=names,
            )
        self._check_current_device()
        load = load_aicpu_kernel if aicpu else load_aicore_kernel
        return load(self._acl, self._env, self.device.index, found[0], path)

    @cached_property
    def _versions(self) -> tuple[str, str]:
        return self.toolkit.versions()

    def _build(self, request: BuildRequest, options: AscendCompilerOptions) -> list[CompletedTool]:
        directory = request.directory
        steps = (
            commands.compile_argv(self.toolkit, options, request.include_dirs, directory),
            commands.link_argv(self.toolkit, options, directory),
        )
        results = [request.run(argv) for argv in steps]
        (directory / commands.OBJECT_NAME).unlink(missing_ok=True)
        binary = directory / commands.binary_name(options)
        if not binary.is_file() or binary.stat().st_size == 0:
            state = "is empty" if binary.is_file() else "is not a regular file"
            raise CompileError(
                f"Bisheng did not produce a valid Ascend binary: {binary} {state}",
                returncode=0,
                command=results[-1].command,
                output="".join(result.output for result in results),
                source=request.source,
            )
        return results

    def _dump_asm(self, request: BuildRequest, options: AscendCompilerOptions) -> CompletedTool:
        directory = request.directory
        (directory / commands.ASM_DIRECTORY).mkdir(exist_ok=True)
        result = check_tool(
            commands.asm_argv(self.toolkit, options, request.include_dirs, directory),
            cwd=directory / commands.ASM_DIRECTORY,
            timeout=request.settings.compile_timeout,
            announce=request.announce,
        )
        if not options.aicpu:
            commands.asm_output(options, directory).unlink(missing_ok=True)
        return result

    def _check_current_device(self) -> None:
        current = self._acl.current_device()
        if current != self.device.index:
            raise LaunchError(
                f"kernel of device {self.device.index} cannot be loaded while device {current} is "
                "current; "
                f"call torch.npu.set_device({self.device.index}) first, or create a runtime with "
                f"device={current}"
            )


def discover(directory: Path) -> tuple[KernelInfo, ...]:
    """Returns the kernels of the binary in an entry; their parameters are unknown."""
    path, aicpu = _binary_of(directory)
    counts: Mapping[str, tuple[int, int]]
    counts = dict.fromkeys(aicpu_kernels(path), (0, 0)) if aicpu else aicore_kernels(path)
    return tuple(KernelInfo(name, demangle(name), None, *cores) for name, cores in counts.items())


def _binary_of(directory: Path) -> tuple[Path, bool]:
    """Returns the binary of an entry and whether it is an AICPU one."""
    aicpu = directory / commands.AICPU_BINARY
    return (aicpu, True) if aicpu.is_file() else (directory / commands.AICORE_BINARY, False)


def _ascend(options: CompilerOptions) -> AscendCompilerOptions:
    if not isinstance(options, AscendCompilerOptions):
        raise ConfigError(
            f"backend ascend takes AscendCompilerOptions, got {type(options).__name__}"
        )
    return options
