"""Upstream's include scanner, for ``strict_includes=True`` and its key format (section 12).

A line scanner without comments or conditions: quoted includes and cycles are errors, a header is
read once in the lifetime of the parser.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from .backends.base import TrackedInclude
from .errors import IncludeError
from .include_lexer import scan_lines
from .includes import IncludeTree

__all__ = ["StrictIncludeParser"]

_BLANKS = " \t\f\v"

_Headers = dict[str, TrackedInclude]
"""Headers below a text, by name."""


class StrictIncludeParser:
    """Scanner with upstream's errors and digest recursion.

    Args:
        include_dirs: search list, in order.
        include_prefixes: prefixes of tracked names.
        hash_components: digest of a list of components, as hex text.
    """

    def __init__(
        self,
        include_dirs: Sequence[Path],
        include_prefixes: Sequence[str],
        hash_components: Callable[..., str],
    ) -> None:
        self._dirs = [os.fspath(path) for path in include_dirs]
        self._prefixes = tuple(include_prefixes)
        self._hash = hash_components
        self._digests: dict[str, tuple[str, _Headers]] = {}
        self._visiting: set[str] = set()
        self._lock = threading.RLock()

    def parse(self, source: bytes) -> IncludeTree:
        """Digest of the source and its tracked headers.

        Raises:
            IncludeError: ``non-standard include``, ``failed to open`` or ``circular include``.
        """
        with self._lock:
            digest, tracked = self._digest(source)
        return IncludeTree(digest, tuple(tracked[name] for name in sorted(tracked)))

    @property
    def visiting(self) -> frozenset[str]:
        """Headers being visited now; empty between calls."""
        return frozenset(self._visiting)

    def after_fork_in_child(self) -> None:
        """Another thread may have held the lock when the process forked."""
        self._lock = threading.RLock()
        self._visiting = set()

    def _digest(self, text: bytes) -> tuple[str, _Headers]:
        parts = []
        tracked: _Headers = {}
        for opener, name, closer in scan_lines(text):
            _check_standard(opener, name, closer)
            if self._prefixes and name.startswith(self._prefixes):
                digest, below = self._header(name)
                parts.append(digest.encode())
                tracked.update(below)
        return self._hash(text, *parts), tracked

    def _header(self, name: str) -> tuple[str, _Headers]:
        if name in self._visiting:
            raise IncludeError(f"circular include may occur: {name}")
        if name in self._digests:
            return self._digests[name]
        self._visiting.add(name)
        try:
            path, text = self._open(name)
            digest, below = self._digest(text)
        finally:
            self._visiting.discard(name)
        own = TrackedInclude(name, Path(path), hashlib.sha256(text).hexdigest())
        self._digests[name] = (digest, {**below, name: own})
        return self._digests[name]

    def _open(self, name: str) -> tuple[str, bytes]:
        for directory in self._dirs:
            path = os.path.join(directory, name)
            if not os.path.exists(path):
                continue
            try:
                return path, Path(path).read_bytes()
            except OSError as error:
                raise IncludeError(f"failed to open: {path}: {error.strerror}") from error
        raise IncludeError(
            f"failed to open: {name} (looked in {', '.join(self._dirs) or 'no include directory'})"
        )


def _check_standard(opener: str, name: str, closer: str) -> None:
    blank = bool(name) and (name[0] in _BLANKS or name[-1] in _BLANKS)
    if opener != "<" or closer != ">" or not name or blank:
        raise IncludeError(
            f"non-standard include: {opener}{name}{closer}; write #include <name> without blanks"
        )
