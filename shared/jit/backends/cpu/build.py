"""Compiles one kernel with the host compiler (deep_jit.md section 20, emulator.md section 2)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...._component import include_dirs, native
from ... import fs
from ...errors import CompileError
from ...log import Log
from ...options import CpuCompilerOptions
from ..base import BuildRequest, BuildResult, KernelInfo, ParamInfo, TrackedInclude
from .files import parse_dependencies
from .flags import kernel_link_flags, library_flags, split_macros
from .host_compiler import HostCompiler
from .observed import OBSERVE, TIMED
from .pch import Prelude, prelude_text

__all__ = ["BINARY_NAME", "SOURCE_NAME", "KernelBuild", "read_kernels"]

SOURCE_NAME = "kernel.asc"
BINARY_NAME = "kernel.so"

_REWRITTEN = "rewritten"
_MACROS = "macros.hpp"
_DEPENDENCIES = "kernel.d"
_PCH_REFUSED = "-Winvalid-pch"


@dataclass(frozen=True)
class KernelBuild:
    """The build of one request, once everything it needs exists.

    Attributes:
        compiler: the host compiler.
        flags: flags that decide the code (`kernel_compile_flags`).
        runtime: the runtime to link to; loaded in this process.
        prelude: the compiled prelude, None to include its text.
        request: what to build, with `CpuCompilerOptions`.
        log: warnings.
    """

    compiler: HostCompiler
    flags: tuple[str, ...]
    runtime: Path
    prelude: Prelude | None
    request: BuildRequest
    log: Log

    def run(self) -> BuildResult:
        """Fills the directory.

        Raises:
            CompileError: the compiler failed; its whole output is in the error.
        """
        generated = self.request.directory / _REWRITTEN
        try:
            root = self._write_rewritten(generated)
            commands: list[tuple[str, ...]] = []
            log = ""
            if not self.request.dumps_only:
                log = self._compile(root, commands)
            if self._options.dump_asm:
                self._dump(root, commands)
        finally:
            if not self.request.settings.debug:
                fs.remove_tree(generated)
        if self.request.dumps_only:
            return BuildResult(tuple(commands), (), None, log)
        kernels = read_kernels(self.request.directory / BINARY_NAME)
        return BuildResult(tuple(commands), kernels, self._used_headers(generated), log)

    @property
    def _options(self) -> CpuCompilerOptions:
        assert isinstance(self.request.options, CpuCompilerOptions)
        return self.request.options

    def _write_rewritten(self, folder: Path) -> Path:
        """Writes what the compiler sees: the rewritten text and headers, and the prelude."""
        from ...source_pass import rewrite, rewrite_headers, rewrite_work  # slow to import

        folder.mkdir()
        headers = {item.name: _read_text(item.path) for item in self._user_headers()}
        source = self.request.source
        if TIMED in self.flags:
            headers = {name: rewrite_work(text, name) for name, text in headers.items()}
            source = rewrite_work(source, SOURCE_NAME)
        root = rewrite(source, path=SOURCE_NAME, header_texts=headers)
        for note in root.notes:
            self.log.warning(f"{self.request.tag}: {note}")
        for name, text in rewrite_headers(headers).items():
            target = folder / "include" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_text(target, text)
        if self.prelude is None:
            _write_text(folder / "prelude.hpp", prelude_text())
        macros, _ = split_macros(self._options.host_flags())
        if macros:
            _write_text(folder / _MACROS, macros)
        path = folder / "kernel.cpu.cpp"
        _write_text(path, root.text)
        return path

    def _user_headers(self) -> list[TrackedInclude]:
        """Headers that may need rewriting: all but the emulated API and `mad`."""
        own = tuple(f"{path}{os.sep}" for path in include_dirs())
        return [
            item
            for item in self.request.tracked
            if _inside(item.name) and not os.path.realpath(item.path).startswith(own)
        ]

    def _argv(self, root: Path) -> list[str | Path]:
        folder = root.parent
        prelude = self.prelude.header if self.prelude is not None else folder / "prelude.hpp"
        shared, emulated = include_dirs()
        own = [folder / "include"] if (folder / "include").is_dir() else []
        searched = [*own, *self.request.include_dirs, emulated, shared]
        return [
            *self.compiler.argv,
            *self.flags,
            f"-ffile-prefix-map={self.request.directory}=.",
            "-Winvalid-pch",
            "-include",
            prelude,
            *(("-include", folder / _MACROS) if (folder / _MACROS).is_file() else ()),
            *split_macros(self._options.host_flags())[1],
            *(f"-I{path}" for path in searched),
            "-x",
            "c++",
            root,
        ]

    def _compile(self, root: Path, commands: list[tuple[str, ...]]) -> str:
        directory = self.request.directory
        binary = directory / BINARY_NAME
        libraries = library_flags(self._options, self.compiler.family)
        user = self._options.host_link_flags()
        link = (*kernel_link_flags(self.runtime), *libraries, *user)
        argv = [*self._argv(root), *("-MD", "-MF", directory / _DEPENDENCIES)]
        steps: list[list[str | Path]] = [[*argv, "-o", binary, *link]]
        if OBSERVE in self.flags:
            # NOTE: in two steps, or the compiler links its own sanitizer library.
            unit = root.with_suffix(".o")
            steps = [[*argv, "-c", "-o", unit], [*self.compiler.argv, unit, "-o", binary, *link]]
        log = ""
        for argv in steps:
            log += self.request.run(argv).output
            commands.append(_words(argv))
        if not binary.is_file() or binary.stat().st_size == 0:
            raise CompileError(
                "the host compiler did not produce a valid kernel object: "
                f"{binary} is missing or empty",
                returncode=0,
                command=_words(argv),
                output=log,
            )
        if _PCH_REFUSED in log:
            self.log.warn_once("pch", f"the precompiled header was refused:\n{log}")
        return log

    def _dump(self, root: Path, commands: list[tuple[str, ...]]) -> None:
        folder = self.request.directory / "asm"
        folder.mkdir(exist_ok=True)
        argv = [*self._argv(root), "-S", "-o", folder / "kernel.s"]
        self.request.run(argv)
        commands.append(_words(argv))

    def _used_headers(self, generated: Path) -> tuple[Path, ...]:
        """The compiler's list, with rewritten copies named as the user's files.

        Headers of the emulated API and `mad` are left out: all of them are in every key.
        """
        text = (self.request.directory / _DEPENDENCIES).read_text(errors="surrogateescape")
        names = [Path(self.request.directory, name) for name in parse_dependencies(text)]
        if self.prelude is not None:
            names += self.prelude.headers
        originals = {generated / "include" / item.name: item.path for item in self.request.tracked}
        skipped = (f"{generated}{os.sep}", *(f"{path}{os.sep}" for path in include_dirs()))
        if self.prelude is not None:
            skipped = (*skipped, f"{self.prelude.header.parent}{os.sep}")
        mapped = [originals.get(name, name) for name in dict.fromkeys(names)]
        return tuple(name for name in mapped if not os.fspath(name).startswith(skipped))


def read_kernels(binary: Path) -> tuple[KernelInfo, ...]:
    """Returns the kernels that an object exports; its runtime must be loaded.

    Raises:
        CompileError: the object has no kernel table or cannot be loaded.
    """
    try:
        found = native().inspect(binary)
    except RuntimeError as error:
        if "asc_emu_kernels_v1" in str(error):
            return ()
        raise CompileError(f"the compiled kernel object cannot be loaded: {error}") from error
    return tuple(kernel_info(item) for item in found)


def kernel_info(item: dict[str, object]) -> KernelInfo:
    """Returns the description of one kernel as the native module gives it."""
    params = item["params"]
    assert isinstance(params, list)
    return KernelInfo(
        name=str(item["symbol"] or item["name"]),
        demangled=str(item["demangled"]),
        params=tuple(ParamInfo(**param) for param in params),
        num_aic=int(str(item["num_aic"])),
        num_aiv=int(str(item["num_aiv"])),
    )


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _words(argv: Sequence[str | Path]) -> tuple[str, ...]:
    return tuple(os.fspath(word) for word in argv)
