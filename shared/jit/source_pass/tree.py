"""Root text plus the headers it includes with quotes: everything rewritten into one flat folder.

A header found next to its includer is copied there under a unique name and the directive points to
the copy, so relative paths and `#pragma once` keep their meaning. Other includes stay as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .kernels import KernelDecl
from .rewrite import rewrite, rewrite_headers
from .scan import Edits, Source
from .simt import rewrite_work

__all__ = ["RewrittenTree", "rewrite_tree"]

_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"')


@dataclass(frozen=True)
class RewrittenTree:
    """What to write into a build folder.

    Attributes:
        files: file name -> text; the root is `root_name`, the others are header copies.
        root_name: name of the root file.
        originals: file name of a header copy -> the user's file.
        kernels: kernels of the root text.
        notes: things that could not be rewritten.
    """

    files: dict[str, str]
    root_name: str
    originals: dict[str, Path]
    kernels: tuple[KernelDecl, ...]
    notes: tuple[str, ...]

    def write(self, directory: Path) -> Path:
        """Writes all files; returns the path of the root."""
        for name, text in self.files.items():
            (directory / name).write_text(text, encoding="utf-8", errors="surrogateescape")
        return directory / self.root_name


def rewrite_tree(
    path: Path,
    *,
    root_name: str = "program.cpp",
    program: bool = True,
    include_dirs: Sequence[Path] = (),
    timed: bool = False,
) -> RewrittenTree:
    """Rewrites a file and, transitively, the headers it includes with quotes.

    Args:
        path: the root file.
        root_name: its name in the build folder.
        program: the root has its own `main` (see `rewrite`).
        include_dirs: further folders to look quoted headers up in, after the includer's own.
        timed: SIMT functions count their work for the timing model.
    """
    root = Path(os.path.abspath(path))
    collector = _Collector([Path(os.path.abspath(d)) for d in include_dirs])
    text = collector.redirect(root)
    copies = {name: collector.texts[name] for name in collector.names.values()}
    if timed:
        text = rewrite_work(text, str(path))
        copies = {name: rewrite_work(copy, name) for name, copy in copies.items()}
    shown = {str(original): copies[name] for original, name in collector.names.items()}
    result = rewrite(text, path=str(path), header_texts=shown, program=program)
    headers = rewrite_headers(shown, always=True)
    files = {name: headers[str(original)] for original, name in collector.names.items()}
    files[root_name] = result.text
    originals = {name: original for original, name in collector.names.items()}
    return RewrittenTree(files, root_name, originals, result.kernels, result.notes)


class _Collector:
    """Reads headers once each and redirects the directives that include them."""

    def __init__(self, include_dirs: Sequence[Path]) -> None:
        self.include_dirs = include_dirs
        self.names: dict[Path, str] = {}
        self.texts: dict[str, str] = {}

    def redirect(self, path: Path) -> str:
        """Returns the text of a file whose quoted includes name the copies."""
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        edits = Edits()
        for start, directive in Source(text, str(path)).directives():
            match = _QUOTED.match(directive)
            found = self._find(match.group(1), path.parent) if match else None
            if match and found:
                edits.replace(start + match.start(1), start + match.end(1), self._copy(found))
        return edits.apply(text)

    def _find(self, name: str, directory: Path) -> Path | None:
        for folder in (directory, *self.include_dirs):
            candidate = Path(os.path.normpath(folder / name))
            if candidate.is_file():
                return candidate
        return None

    def _copy(self, header: Path) -> str:
        if header not in self.names:
            self.names[header] = name = f"{len(self.names)}_{header.name}"
            self.texts[name] = self.redirect(header)
        return self.names[header]
