"""Precompiled header of the emulated API, per compiler and flags (emulator.md sections 2 and 6)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...._component import include_dirs, shared_root
from ... import fs
from ...env import EnvSettings
from ...errors import CompileError
from ...log import Log
from ...process import check_tool
from .files import parse_dependencies, tree_sha256
from .host_compiler import HostCompiler
from .places import Places

__all__ = ["Prelude", "PreludeBuilder", "headers_sha256", "prelude_text"]

_KIND = "pch"
_HEADER = "prelude.hpp"
_LIST = "headers.json"
# NOTE: guard of libstdc++'s file with the special functions of <cmath>. Kernels have no use for
# them, and g++ instantiates them in each, which takes as long as the code of a small one.
_NO_SPECIAL = "#define _GLIBCXX_BITS_SPECFUN_H 1\n"


@dataclass(frozen=True)
class Prelude:
    """What is included before a kernel's text.

    Attributes:
        header: the file to give to `-include`; the compiler finds the compiled form beside it.
        compiled: whether there is one.
        headers: headers inside it, which no dependency list of a kernel names.
    """

    header: Path
    compiled: bool
    headers: tuple[Path, ...]


@cache
def headers_sha256() -> str:
    """Returns the hash of the whole emulated API with `mad`, read once per process."""
    return tree_sha256([shared_root() / "include"])


@cache
def prelude_text() -> str:
    """Returns the text before every kernel: keywords, emulated API, `mad`, the kernel table."""
    include, emulated = include_dirs()
    fixed = (
        "c_api/asc_simd.h",
        "asc_emu/source_pass.hpp",
        "asc_emu/entry.hpp",
        "asc_emu/assertion.hpp",
        "asc_emu/simt/prelude.hpp",
    )
    names = [name for name in fixed if (emulated / name).is_file()]
    names += sorted(
        path.relative_to(include).as_posix() for path in (include / "mad").glob("*.hpp")
    )
    return "#pragma once\n" + _NO_SPECIAL + "".join(f"#include <{name}>\n" for name in names)


class PreludeBuilder:
    """Finds or builds preludes.

    Args:
        compiler: the host compiler.
        places: where they are kept.
        settings: environment snapshot.
        log: progress and warnings.
    """

    def __init__(
        self, compiler: HostCompiler, places: Places, settings: EnvSettings, log: Log
    ) -> None:
        self._compiler = compiler
        self._places = places
        self._settings = settings
        self._log = log
        self._ready: dict[str, Prelude] = {}

    def get(self, flags: Sequence[str]) -> Prelude | None:
        """Returns the compiled prelude for these compile flags; None if it does not compile."""
        digest = self._hash(flags)
        prelude = self._ready.get(digest)
        if prelude is None:
            prelude = self._find_or_build(digest, flags)
            if prelude is not None:
                self._ready[digest] = prelude
        return prelude

    def _hash(self, flags: Sequence[str]) -> str:
        # NOTE: the driver file counts here: a precompiled header fits one build of a compiler only.
        # So do the folders: it names its headers, and two installed components have two copies.
        parts = [
            *(str(path) for path in include_dirs()),
            headers_sha256(),
            prelude_text(),
            self._compiler.identity,
            self._compiler.driver_sha256,
            *flags,
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]

    def _find_or_build(self, digest: str, flags: Sequence[str]) -> Prelude | None:
        folder = self._places.find(_KIND, digest)
        prelude = _read(folder) if folder is not None else None
        if prelude is not None:
            return prelude
        try:
            folder = self._places.publish(
                _KIND,
                digest,
                lambda private: self._build(private, flags),
                lambda found: _read(found) is not None,
            )
        except CompileError as error:
            self._log.warn_once(
                "pch", f"no precompiled header, kernels compile slower: {str(error)[:2000]}"
            )
            return None
        return _read(folder)

    def _build(self, folder: Path, flags: Sequence[str]) -> None:
        header = folder / _HEADER
        header.write_text(prelude_text())
        dependencies = folder / "prelude.d"
        compiled = folder / (_HEADER + (".pch" if self._compiler.family == "clang" else ".gch"))
        includes = [f"-I{path}" for path in reversed(include_dirs())]
        argv: list[str | Path] = [
            *self._compiler.argv,
            *flags,
            *includes,
            "-x",
            "c++-header",
            header,
        ]
        check_tool(
            [*argv, "-MD", "-MF", dependencies, "-o", compiled],
            timeout=self._settings.compile_timeout,
        )
        names = parse_dependencies(dependencies.read_text(errors="surrogateescape"))
        outside = [name for name in names if Path(name) != header]
        listed = {"sha256": fs.sha256_file(compiled), "headers": outside}
        (folder / _LIST).write_text(json.dumps(listed))
        dependencies.unlink()


def _read(folder: Path) -> Prelude | None:
    header = folder / _HEADER
    try:
        listed = json.loads((folder / _LIST).read_bytes())
        hashes = [fs.sha256_file(path) for path in folder.glob(f"{_HEADER}.?ch")]
        if hashes != [listed["sha256"]] or header.read_text() != prelude_text():
            return None
        return Prelude(header, True, tuple(Path(name) for name in listed["headers"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
