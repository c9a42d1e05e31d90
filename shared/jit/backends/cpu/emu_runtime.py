"""Builds `libasc_emu-<hash>.so`, the emulator's runtime, at first use (architecture.md section 3).

The hash covers the sources, the headers both sides share, compiler, instruction set and flags. It
is the SONAME too: components of one process with equal sources share one runtime, others live side
by side.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from ...._component import include_dirs, shared_root
from ... import fs
from ...env import EnvSettings
from ...errors import ToolchainError
from ...log import Log
from ...process import check_tool
from .files import tree_sha256
from .flags import RUNTIME_FLAGS, UNIT_FLAGS
from .host_compiler import HostCompiler
from .isa import Isa
from .places import Places

__all__ = ["EmuRuntimeBuilder", "runtime_sources_sha256"]

_KIND = "runtime"
_MANIFEST = "build.json"


@cache
def runtime_sources_sha256(folder: Path | None = None) -> str:
    """Returns the hash of everything a runtime is compiled from, read once per process.

    Args:
        folder: the runtime's sources; None for those of this component.
    """
    headers = shared_root() / "include" / "ascend_emu" / "asc_emu"
    return tree_sha256([folder or runtime_folder(), headers])


def runtime_folder() -> Path:
    """Returns the folder of the runtime's sources."""
    return shared_root() / "native" / "runtime"


class EmuRuntimeBuilder:
    """Finds or builds the runtime of one compiler.

    Args:
        compiler: the host compiler.
        places: where runtimes are kept.
        settings: environment snapshot (timeout, verification, print switches).
        log: progress.
        folder: sources; None for the emulator's own.
    """

    def __init__(
        self,
        compiler: HostCompiler,
        places: Places,
        settings: EnvSettings,
        log: Log,
        folder: Path | None = None,
    ) -> None:
        self._folder = folder or runtime_folder()
        self._compiler = compiler
        self._places = places
        self._settings = settings
        self._log = log
        self._ready: dict[Isa, Path] = {}

    def name(self, isa: Isa) -> str:
        """Returns the file name of the runtime, which is also its SONAME."""
        return f"libasc_emu-{self._hash(isa)}.so"

    def path(self, isa: Isa) -> Path:
        """Returns the runtime's file; the first call checks it, and builds it if needed.

        Raises:
            ToolchainError, CompileError, CompileTimeout: it could not be built.
            CacheError: there is no place to build it.
        """
        known = self._ready.get(isa)
        if known is not None:
            return known
        digest = self._hash(isa)
        found = self._places.find(_KIND, digest)
        if found is None or not self._is_whole(found, isa):
            found = self._places.publish(
                _KIND,
                digest,
                lambda folder: self._build(folder, isa),
                lambda folder: self._is_whole(folder, isa),
            )
        self._ready[isa] = found / self.name(isa)
        return self._ready[isa]

    def _hash(self, isa: Isa) -> str:
        parts = [
            runtime_sources_sha256(self._folder),
            self._compiler.identity,
            isa.name,
            *isa.flags,
            *RUNTIME_FLAGS,
            repr(UNIT_FLAGS),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]

    def _is_whole(self, folder: Path, isa: Isa) -> bool:
        """Whether the library is what its builder wrote: a damaged one would kill the process."""
        library = folder / self.name(isa)
        try:
            manifest = json.loads((folder / _MANIFEST).read_bytes())
            if library.stat().st_size != manifest["size"]:
                return False
            if self._settings.cache_verify != "hash":
                return True
            return bool(fs.sha256_file(library) == manifest["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _build(self, folder: Path, isa: Isa) -> None:
        start = time.monotonic()
        units = self._write_units(folder)
        if not units:
            raise ToolchainError(f"no runtime sources in {self._folder}; reinstall the component")
        self._log.info(
            f"building the emulator runtime for {isa.name}, once for this machine "
            f"({self._compiler.argv[0]}) ..."
        )
        self._compile_all(units, isa)
        objects = [unit.with_suffix(".o") for unit in units]
        self._link(objects, folder, isa)
        for leftover in (*units, *objects):
            leftover.unlink()
        self._write_manifest(folder, isa, time.monotonic() - start)
        self._log.info(f"the emulator runtime is built: {time.monotonic() - start:.1f} s")

    def _write_units(self, folder: Path) -> list[Path]:
        """Writes one translation unit per source folder, those with most text first.

        The files of a folder share headers and template instances, which take most of the time of
        compiling each alone; unnamed namespaces of one folder must not repeat a name.
        """
        by_folder: dict[Path, list[Path]] = {}
        for source in sorted(self._folder.rglob("*.cpp")):
            by_folder.setdefault(source.parent.relative_to(self._folder), []).append(source)
        units: dict[Path, int] = {}
        for group, sources in by_folder.items():
            unit = folder / f"{'_'.join(group.parts) or 'core'}.cpp"
            unit.write_text("".join(f'#include "{source}"\n' for source in sources))
            units[unit] = sum(source.stat().st_size for source in sources)
        return sorted(units, key=lambda unit: -units[unit])

    def _compile_all(self, units: Sequence[Path], isa: Isa) -> None:
        from concurrent.futures import ThreadPoolExecutor

        workers = min(len(units), _num_cpus())
        with ThreadPoolExecutor(workers, thread_name_prefix="asc-emu-build") as pool:
            futures = [pool.submit(self._compile, unit, isa) for unit in units]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _compile(self, unit: Path, isa: Isa) -> None:
        flags = UNIT_FLAGS.get(unit.stem, ())
        self._run([*self._argv(isa), *flags, "-c", unit, "-o", unit.with_suffix(".o")])

    def _argv(self, isa: Isa) -> list[str | Path]:
        includes = [f"-I{path}" for path in (self._folder, *include_dirs())]
        prefix_map = f"-ffile-prefix-map={shared_root()}=shared"
        return [*self._compiler.argv, *RUNTIME_FLAGS, *isa.flags, prefix_map, *includes]

    def _link(self, objects: Sequence[Path], folder: Path, isa: Isa) -> None:
        name = self.name(isa)
        flags = ("-shared", "-pthread", f"-Wl,-soname,{name}", "-Wl,-z,defs", "-Wl,-Bsymbolic")
        self._run([*self._compiler.argv, *flags, *objects, "-o", folder / name, "-ldl"])

    def _run(self, argv: Sequence[str | Path]) -> None:
        announce: Callable[[Sequence[str]], None] | None = None
        if self._settings.debug or self._settings.print_compiler_command:
            announce = lambda words: self._log.info(f"Running command: {' '.join(words)}")  # noqa: E731
        check_tool(argv, timeout=self._settings.compile_timeout, announce=announce)

    def _write_manifest(self, folder: Path, isa: Isa, seconds: float) -> None:
        library = folder / self.name(isa)
        manifest = {
            "size": library.stat().st_size,
            "sha256": fs.sha256_file(library),
            "isa": isa.name,
            "flags": [*RUNTIME_FLAGS, *isa.flags],
            "compiler": self._compiler.version.splitlines()[0],
            "duration_s": round(seconds, 2),
        }
        (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1))


def _num_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
