"""Fixtures of the cpu backend's tests: small compiled objects, a backend with a shared runtime."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.jit.args import pack_arguments
from deep_jit._shared.jit.backends.base import BuildRequest, BuildResult, TrackedInclude
from deep_jit._shared.jit.backends.cpu import CpuBackend
from deep_jit._shared.jit.options import CpuCompilerOptions, LaunchOptions


def _load_fakes() -> ModuleType:
    path = Path(__file__).with_name("fakes.py")
    spec = importlib.util.spec_from_file_location("cpu_backend_fakes", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def fakes() -> ModuleType:
    """The module `fakes` beside this file."""
    return _load_fakes()


@pytest.fixture(scope="session")
def compile_object(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a text to a shared object in a new folder: `(name, text, *flags) -> path`."""

    def compile_one(name: str, text: str, *flags: str) -> Path:
        folder = tmp_path_factory.mktemp("object")
        source = folder / "source.cpp"
        source.write_text(text)
        includes = [f"-I{path}" for path in include_dirs()]
        fixed = ["-std=c++20", "-O0", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-shared"]
        argv = [
            "g++",
            *fixed,
            *includes,
            source,
            "-o",
            folder / name,
            f"-Wl,-soname,{name}",
            *flags,
        ]
        subprocess.run(argv, check=True)
        return folder / name

    return compile_one


@pytest.fixture(scope="session")
def fake_runtime(compile_object: Callable[..., Path], fakes: Any) -> Path:
    """A runtime `libasc_emu-fake1.so` whose kernels add 100."""
    return compile_object("libasc_emu-fake1.so", fakes.RUNTIME_SOURCE, "-DADDEND=100")


@pytest.fixture(scope="session")
def fake_kernel(
    compile_object: Callable[..., Path], fakes: Any, fake_runtime: Path
) -> Callable[..., Path]:
    """Compiles kernels for `fake_runtime`: `(*table entries, text=...) -> path`."""

    def make(*entries: str, text: str = fakes.KERNEL_SOURCE, runtime: Path = fake_runtime) -> Path:
        link = (f"-L{runtime.parent}", f"-l:{runtime.name}")
        return compile_object("kernel.so", text + fakes.table(*entries), *link)

    return make


@pytest.fixture(scope="session")
def runtime_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run keeps the emulator's runtime: its own cache, never the user's."""
    roots = os.environ.get("DJ_JIT_CACHE_DIR")
    return Path(roots.split(":")[0]) if roots else tmp_path_factory.mktemp("runtime-home")


@pytest.fixture
def make_backend(fakes: Any, runtime_home: Path, tmp_path: Path) -> Callable[..., CpuBackend]:
    """Backends that share the run's runtime: `(**JIT variables) -> backend`."""

    def make(**values: str) -> CpuBackend:
        values.setdefault("TT_JIT_RUNTIME_DIR", str(runtime_home))
        env, settings = fakes.settings_of("TT", tmp_path / "cache", **values)
        return CpuBackend(env, settings=settings)

    return make


@pytest.fixture
def build(make_backend: Callable[..., CpuBackend], tmp_path: Path) -> Callable[..., Any]:
    """Compiles a text: `(source, backend=..., directory=..., tracked=..., **options) -> Built`."""
    counter = iter(range(1000))

    def build_one(
        source: str,
        *,
        backend: CpuBackend | None = None,
        directory: Path | None = None,
        include_dirs: tuple[Path, ...] = (),
        tracked: tuple[TrackedInclude, ...] = (),
        dumps_only: bool = False,
        **options: Any,
    ) -> Built:
        backend = backend or make_backend()
        directory = directory or tmp_path / f"build-{next(counter)}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "kernel.asc").write_text(source)
        commands: list[tuple[str, ...]] = []
        request = BuildRequest(
            tag="test",
            source=source,
            directory=directory,
            options=backend.default_compiler_options().override_with(CpuCompilerOptions(**options)),
            include_dirs=include_dirs,
            settings=backend._settings,
            tracked=tracked,
            announce=lambda words: commands.append(tuple(words)),
            dumps_only=dumps_only,
        )
        return Built(backend, directory, backend.compile(request), commands)

    return build_one


@dataclass
class Built:
    """A finished build: its backend, directory, result and the commands that ran."""

    backend: CpuBackend
    directory: Path
    result: BuildResult
    commands: list[tuple[str, ...]]

    def load(self) -> Any:
        """The loaded kernel."""
        return self.backend.load(self.directory, self.result.kernels)

    def run(self, *args: object, num_blocks: int = 1, ubuf: int = 0, timeout: int = 60) -> None:
        """Loads the kernel and launches it once."""
        kernel = self.load()
        kernel.launch(
            pack_arguments(args, kernel.info.params),
            LaunchOptions(
                num_blocks=num_blocks, num_ubuf_bytes=ubuf, num_launch_timeout_secs=timeout
            ),
        )
