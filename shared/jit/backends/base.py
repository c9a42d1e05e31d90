"""What the JIT core and a compiler backend tell each other (deep_jit.md sections 1, 8 and 11).

A backend knows one tool chain and one way to load and launch. The core knows neither: it computes
keys, keeps the caches and calls these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..options import CompilerOptions, LaunchOptions

if TYPE_CHECKING:
    from ..device import Device
    from ..env import EnvSettings
    from ..process import CompletedTool

__all__ = [
    "Backend",
    "BuildRequest",
    "BuildResult",
    "KernelInfo",
    "LoadedKernel",
    "ParamInfo",
    "Payload",
    "TrackedInclude",
]

Payload = bytes | bytearray | memoryview


@dataclass(frozen=True)
class ParamInfo:
    """One kernel parameter. `kind`: pointer, int, uint, float, bool or struct."""

    kind: str
    size: int
    align: int
    type_name: str = ""


@dataclass(frozen=True)
class KernelInfo:
    """One entry kernel of a binary.

    Attributes:
        name: symbol by which the backend finds it.
        demangled: readable name.
        params: parameters in order; None when the binary does not tell.
        num_aic: cube cores per block; num_aiv: vector cores per block. Cube kernel (1, 0),
            vector kernel (0, 1), mix kernel (1, 1) or (1, 2).
    """

    name: str
    demangled: str
    params: tuple[ParamInfo, ...] | None
    num_aic: int
    num_aiv: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, as stored in meta.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> KernelInfo:
        """Inverse of `to_json`; unknown keys are ignored."""
        params = values.get("params")
        return cls(
            name=str(values["name"]),
            demangled=str(values.get("demangled", values["name"])),
            params=None if params is None else tuple(_param_from_json(p) for p in params),
            num_aic=int(values.get("num_aic", 0)),
            num_aiv=int(values.get("num_aiv", 0)),
        )


def _param_from_json(values: Mapping[str, Any]) -> ParamInfo:
    return ParamInfo(
        kind=str(values["kind"]),
        size=int(values["size"]),
        align=int(values["align"]),
        type_name=str(values.get("type_name", "")),
    )


@dataclass(frozen=True)
class TrackedInclude:
    """A header that is part of the key: logical name, path as opened, SHA-256 of the bytes."""

    name: str
    path: Path
    sha256: str


def _announce_nothing(command: Sequence[str]) -> None:
    """Default of `BuildRequest.announce`."""


@dataclass(frozen=True)
class BuildRequest:
    """One build. The backend fills `directory` and nothing else.

    Attributes:
        tag: cache tag, for messages.
        source: the user's text; the core writes it to ``directory/<source_name>`` before the call.
        directory: private, existing directory.
        options: effective options, already checked.
        include_dirs: directories of `Config`, in order.
        settings: environment snapshot (compile timeout, host compiler, ...).
        tracked: headers found by the include scan.
        announce: prints a command when the user asked for it; pass it to `check_tool`.
        dumps_only: build only the requested dumps (``asm/``); the binary exists elsewhere.
    """

    tag: str
    source: str
    directory: Path
    options: CompilerOptions
    include_dirs: tuple[Path, ...]
    settings: EnvSettings
    tracked: tuple[TrackedInclude, ...] = ()
    announce: Callable[[Sequence[str]], None] = _announce_nothing
    dumps_only: bool = False

    def run(
        self, argv: Sequence[str | Path], *, env_extra: Mapping[str, str] | None = None
    ) -> CompletedTool:
        """Run a tool in `directory`, announced, with the compile timeout; see `check_tool`."""
        from ..process import check_tool

        return check_tool(
            argv,
            cwd=self.directory,
            timeout=self.settings.compile_timeout,
            env_extra=env_extra,
            announce=self.announce,
        )


@dataclass(frozen=True)
class BuildResult:
    """What a backend reports of a build.

    Attributes:
        commands: argument vectors that were run, in order.
        kernels: entry kernels of the binary.
        used_headers: every header the compiler read (``-MD``, plus those of a precompiled
            header), or None when it cannot tell.
        log: compiler output, stored as compiler.log when not empty.
    """

    commands: tuple[tuple[str, ...], ...]
    kernels: tuple[KernelInfo, ...]
    used_headers: tuple[Path, ...] | None = None
    log: str = ""


class LoadedKernel(Protocol):
    """A kernel ready to launch. Must be safe to launch from several threads."""

    @property
    def info(self) -> KernelInfo:
        """The kernel's description, with parameters when known."""
        ...

    def launch(self, payload: Payload, options: LaunchOptions) -> None:
        """Launch with a packed payload (section 7.1) and effective, checked options."""
        ...

    def unload(self) -> None:
        """Free the kernel; idempotent, never raises."""
        ...


@runtime_checkable
class Backend(Protocol):
    """One tool chain plus loader. Constructing one may look for tools, but runs nothing.

    Optional attributes: ``survives_fork`` (bool, default: True for cpu only) and
    ``after_fork_in_child()``.
    """

    name: str
    source_name: str
    binary_name: str
    device: Device

    def default_compiler_options(self) -> CompilerOptions:
        """All fields set, from the environment snapshot and the device."""
        ...

    def default_launch_options(self) -> LaunchOptions:
        """Defaults of a launch."""
        ...

    def compiler_identity(self) -> tuple[bytes, ...]:
        """Key components of the tool chain: version text, triple, driver and runtime hashes, ISA.

        Called once per runtime, on the first key.
        """
        ...

    def compiler_hash(self) -> str:
        """Hex digest of the tool chain for ``key_format="deepjit"`` (section 11, component 2)."""
        ...

    def key_flags(self, options: CompilerOptions) -> tuple[tuple[str, ...], ...]:
        """Groups of flags that decide the binary (compile, link, ...), one string per flag."""
        ...

    def check_options(self, options: CompilerOptions) -> None:
        """Raise ConfigError for options that cannot compile."""
        ...

    def compile(self, request: BuildRequest) -> BuildResult:
        """Fill ``request.directory``; raises CompileError or ToolchainError."""
        ...

    def load(self, directory: Path, kernels: tuple[KernelInfo, ...]) -> LoadedKernel:
        """Load the one kernel of `kernels` from the entry in `directory`.

        `kernels` is what meta.json says; empty for entries written by the published library:
        then the backend looks into the binary and raises KernelCountError unless it finds one.
        """
        ...

    def compiler_info(self) -> dict[str, str]:
        """Paths and versions for meta.json and reports."""
        ...
