"""Builds programs with their own `main()`, once per content (emulator.md section 1)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ._shared._component import include_dirs as shared_include_dirs
from ._shared.emulator.context import current_options
from ._shared.jit import fs
from ._shared.jit.backends.cpu.emu_runtime import EmuRuntimeBuilder
from ._shared.jit.backends.cpu.files import parse_dependencies
from ._shared.jit.backends.cpu.flags import kernel_compile_flags
from ._shared.jit.backends.cpu.host_compiler import find_host_compiler
from ._shared.jit.backends.cpu.isa import choose_isa
from ._shared.jit.backends.cpu.observed import OBSERVE, observe_flags_of_texts
from ._shared.jit.backends.cpu.pch import PreludeBuilder, headers_sha256, prelude_text
from ._shared.jit.backends.cpu.places import Places
from ._shared.jit.backends.cpu.probes import ProbeCache
from ._shared.jit.env import Env
from ._shared.jit.errors import ConfigError
from ._shared.jit.log import Log
from ._shared.jit.options import CpuCompilerOptions
from ._shared.jit.process import check_tool
from ._shared.jit.source_pass import RewrittenTree, rewrite_tree

__all__ = ["ProgramBuilder"]

_KIND = "programs"
# Part of every key; count it up when the command line below changes
_FORMAT = "2"
_BINARY = "program"
_ROOT = "program.cpp"
_MANIFEST = "build.json"


@dataclass(frozen=True)
class _Plan:
    """Everything that decides one build."""

    tree: RewrittenTree
    runtime: Path
    argv: tuple[str, ...]
    prelude: Path | None
    digest: str


class ProgramBuilder:
    """Rewrites, compiles and caches programs.

    Args:
        env: environment; prefix ``DJ`` when None.
    """

    def __init__(self, env: Env | None = None) -> None:
        env = env or Env("DJ")
        self._settings = env.snapshot()
        self._log = Log(self._settings.log)
        self._places = Places(env, self._settings, self._log)

    def build(
        self, path: Path, *, defines: Sequence[str] = (), include_dirs: Sequence[Path] = ()
    ) -> Path:
        """Returns the executable of a program; compiles it when the cache has none.

        Args:
            path: the ``.asc`` file.
            defines: macros, ``NAME`` or ``NAME=VALUE``.
            include_dirs: further folders for its includes.

        Raises:
            ConfigError: the file cannot be read, or a macro has no name.
            CompileError: the compiler failed; the message names the user's file and line.
        """
        plan = self._plan(path, defines, include_dirs)
        folder = self._places.find(_KIND, plan.digest)
        if folder is None or not _is_current(folder):
            folder = self._places.publish(
                _KIND, plan.digest, lambda private: self._compile(plan, private), _is_current
            )
        return folder / _BINARY

    def runtime(self) -> Path:
        """Returns the emulator runtime that programs are linked to; builds it when there is none.

        Raises:
            ToolchainError: there is no usable host compiler.
        """
        compiler = find_host_compiler(self._settings, ProbeCache(self._places.probes))
        isa = choose_isa(current_options().isa)
        return EmuRuntimeBuilder(compiler, self._places, self._settings, self._log).path(isa)

    def _plan(self, path: Path, defines: Sequence[str], include_dirs: Sequence[Path]) -> _Plan:
        folders = tuple(Path(os.path.abspath(folder)) for folder in include_dirs)
        tree = _rewrite(path, folders)
        for note in tree.notes:
            self._log.warning(note)
        compiler = find_host_compiler(self._settings, ProbeCache(self._places.probes))
        isa = choose_isa(current_options().isa)
        source_map = current_options().source_map == "on"
        options = CpuCompilerOptions.defaults(
            arch=self._settings.npu_arch, debug_info=self._settings.kernel_debug_info
        )
        flags = (
            *kernel_compile_flags(options, isa, source_map=source_map),
            *observe_flags_of_texts(tree.files.values(), compiler.family),
        )
        runtime = EmuRuntimeBuilder(compiler, self._places, self._settings, self._log).path(isa)
        prelude = PreludeBuilder(compiler, self._places, self._settings, self._log).get(flags)
        argv = (
            *compiler.argv,
            *flags,
            *(f"-D{define}" for define in _checked_defines(defines)),
            *(f"-I{folder}" for folder in folders),
            *(f"-I{folder}" for folder in reversed(shared_include_dirs())),
        )
        parts = [
            *(
                _FORMAT,
                compiler.identity,
                compiler.driver_sha256,
                headers_sha256(),
                str(runtime),
                *argv,
            ),
            *(f"{name}\n{text}" for name, text in sorted(tree.files.items())),
        ]
        joined = "\0".join(parts).encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(joined).hexdigest()[:32]
        return _Plan(tree, runtime, argv, prelude.header if prelude else None, digest)

    def _compile(self, plan: _Plan, folder: Path) -> None:
        sources = folder / "src"
        sources.mkdir()
        root = plan.tree.write(sources)
        prelude = plan.prelude
        if prelude is None:
            prelude = sources / "prelude.hpp"
            prelude.write_text(prelude_text())
        dependencies = sources / "program.d"
        unit = sources / "program.o"
        compile_only: tuple[str | Path, ...] = (
            *plan.argv,
            f"-ffile-prefix-map={sources}=.",
            *("-include", prelude),
            *("-MD", "-MF", dependencies),
            *("-x", "c++", "-c", root, "-o", unit),
        )
        # NOTE: in two steps, or the compiler links its own sanitizer library to observed programs.
        link: tuple[str | Path, ...] = (
            *(word for word in plan.argv if word != OBSERVE),
            *(unit, "-o", folder / _BINARY),
            *("-pthread", f"-L{plan.runtime.parent}", f"-l:{plan.runtime.name}"),
            f"-Wl,-rpath,{plan.runtime.parent}",
        )
        for words in (compile_only, link):
            done = check_tool(
                list(words),
                cwd=sources,
                timeout=self._settings.compile_timeout,
                announce=self._announce,
            )
            if done.output.strip():
                self._log.warning(done.output.rstrip())
        names = parse_dependencies(dependencies.read_text(errors="surrogateescape"))
        used = [Path(sources, name) for name in names]
        _write_manifest(folder, [name for name in used if _is_foreign(name, folder)])
        if not self._settings.debug:
            fs.remove_tree(sources)

    def _announce(self, words: Sequence[str]) -> None:
        if self._settings.debug or self._settings.print_compiler_command:
            self._log.info(f"Running command: {' '.join(words)}")


def _rewrite(path: Path, include_dirs: Sequence[Path]) -> RewrittenTree:
    try:
        timed = current_options().timing != "off"
        return rewrite_tree(path, root_name=_ROOT, include_dirs=include_dirs, timed=timed)
    except OSError as error:
        raise ConfigError(
            f"cannot read the program {path}: {error.strerror}; pass the path of a readable file"
        ) from error


def _checked_defines(defines: Sequence[str]) -> list[str]:
    for define in defines:
        name = define.split("=", 1)[0]
        if not name.isidentifier() or not name.isascii():
            raise ConfigError(
                f"macro {define!r} has no usable name; allowed: NAME or NAME=VALUE, "
                "for example SCENARIO_NUM=1"
            )
    return list(defines)


def _is_foreign(name: Path, folder: Path) -> bool:
    """Whether a header is the user's: not a copy in the build, not ours, not the system's."""
    text = os.path.normpath(name)
    ours = (folder, *shared_include_dirs(), Path("/usr"))
    return not any(text.startswith(f"{place}{os.sep}") for place in ours)


def _write_manifest(folder: Path, headers: Sequence[Path]) -> None:
    hashes = {os.path.normpath(name): fs.sha256_file(name) for name in headers}
    manifest = {"size": (folder / _BINARY).stat().st_size, "headers": hashes}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1))


def _is_current(folder: Path) -> bool:
    """Whether the program is whole and every header it read outside the key is as it was."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        if (folder / _BINARY).stat().st_size != manifest["size"]:
            return False
        headers: dict[str, str] = manifest["headers"]
        return all(fs.sha256_file(Path(name)) == digest for name, digest in headers.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False
