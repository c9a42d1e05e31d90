"""A backend whose compiler is `fake_cc.sh`; kernels are lines of the source (deep_jit.md 22)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

from deep_jit._shared.jit.backends.base import (
    BuildRequest,
    BuildResult,
    KernelInfo,
    ParamInfo,
    Payload,
)
from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.device import cpu_device
from deep_jit._shared.jit.errors import LaunchError
from deep_jit._shared.jit.options import CpuCompilerOptions, LaunchOptions
from deep_jit._shared.jit.runtime import Runtime

HERE = Path(__file__).resolve().parent
COMPILER = HERE / "fake_cc.sh"
PREFIX = "FK"
SOURCE = "__global__ void run(float* x, int32_t n) { x[0] = n; }\n"

_KERNEL = re.compile(r"__global__\s+void\s+(\w+)\(([^)]*)\)")
_PARAMS = {
    "float*": ParamInfo("pointer", 8, 8, "float*"),
    "int32_t": ParamInfo("int", 4, 4, "int32_t"),
    "int64_t": ParamInfo("int", 8, 8, "int64_t"),
    "float": ParamInfo("float", 4, 4, "float"),
}


def source_of(number: int) -> str:
    """A source that differs from all others with another number."""
    return f"// {number}\n{SOURCE}"


class FakeLoaded:
    """A loaded kernel that records its launches."""

    def __init__(self, info: KernelInfo, text: bytes, hook: Callable[[], None] | None) -> None:
        self.info = info
        self.text = text
        self.launches: list[tuple[bytes, LaunchOptions]] = []
        self.unloads = 0
        self._hook = hook

    def launch(self, payload: Payload, options: LaunchOptions) -> None:
        """Record; fail when the kernel's text says so."""
        if self._hook is not None:
            self._hook()
        if b"fails_at_launch" in self.text:
            raise LaunchError("block 3 read address 0")
        self.launches.append((bytes(payload), options))

    def unload(self) -> None:
        """Count."""
        self.unloads += 1


class FakeBackend:
    """Backend cpu in all but the compiler."""

    source_name = "kernel.asc"
    binary_name = "kernel.so"

    def __init__(self, name: str = "cpu") -> None:
        self.name = name
        self.device = cpu_device()
        self.identity = (b"fake cc 1.0\n",)
        self.identity_calls = 0
        self.loads: list[Path] = []
        self.used_headers: tuple[Path, ...] | None = None
        self.before_load: Callable[[], None] | None = None
        self.on_launch: Callable[[], None] | None = None
        self.compile_threads: list[int] = []

    def default_compiler_options(self) -> CpuCompilerOptions:
        return CpuCompilerOptions.defaults()

    def default_launch_options(self) -> LaunchOptions:
        return LaunchOptions.defaults()

    def compiler_identity(self) -> tuple[bytes, ...]:
        self.identity_calls += 1
        return self.identity

    def compiler_hash(self) -> str:
        return "0" * 32

    def key_flags(self, options: CpuCompilerOptions) -> tuple[tuple[str, ...], ...]:
        return ((f"-O{options.optimize_level}", *options.host_flags()), options.host_link_flags())

    def check_options(self, options: CpuCompilerOptions) -> None:
        options.check()

    def compile(self, request: BuildRequest) -> BuildResult:
        self.compile_threads.append(threading.get_ident())
        source = request.directory / self.source_name
        if request.options.dump_asm:
            (request.directory / "asm").mkdir()
            (request.directory / "asm" / "kernel.s").write_text("nop\n")
        if request.dumps_only:
            return BuildResult((), ())
        done = request.run(
            [COMPILER, source, request.directory / self.binary_name, *request.options.host_flags()]
        )
        return BuildResult(
            (done.command,), kernels_of(request.source), self.used_headers, done.output
        )

    def load(self, directory: Path, kernels: tuple[KernelInfo, ...]) -> FakeLoaded:
        if self.before_load is not None:
            self.before_load()
        text = (directory / self.binary_name).read_bytes()
        self.loads.append(directory)
        return FakeLoaded(kernels[0], text, self.on_launch)

    def compiler_info(self) -> dict[str, str]:
        return {"path": str(COMPILER), "version": "fake cc 1.0"}


def kernels_of(source: str) -> tuple[KernelInfo, ...]:
    """Kernels of a fake source."""
    found = []
    for name, params in _KERNEL.findall(source):
        types = [param.split()[0] for param in params.split(",") if param.strip()]
        infos = tuple(_PARAMS[kind] for kind in types)
        found.append(KernelInfo(name, f"void {name}({params})", infos, 0, 1))
    return tuple(found)


def make_config(
    include_dirs: tuple[Path, ...] = (), prefixes: tuple[str, ...] = ("lib/",)
) -> Config:
    return Config(HERE, PREFIX, "test", include_dirs, prefixes)


def make_runtime(
    backend: FakeBackend | None = None, config: Config | None = None, **kw: object
) -> Runtime:
    """A runtime over a fake backend; the cache root comes from FK_JIT_CACHE_DIR."""
    return Runtime(config or make_config(), backend or FakeBackend(), **kw)  # type: ignore[arg-type]
