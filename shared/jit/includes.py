"""The include tree of a source: what it reads and one digest of it (deep_jit.md section 12).

`IncludeParser` is the default: quoted includes, cycles, absent headers and shadowing are part of
the digest, edits are noticed by stat. `StrictIncludeParser` is upstream's scanner, word for word.
"""

from __future__ import annotations

import hashlib
import os
import stat as stat_module
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .backends.base import TrackedInclude
from .errors import IncludeError
from .include_lexer import Directive, find_directives
from .key import frame

__all__ = ["IncludeParser", "IncludeTree", "check_used_headers"]

_DOUBT_NS = 2_000_000_000
"""A file changed less than this ago may change again within the clock's resolution."""


_MAX_TREES = 512


@dataclass(frozen=True)
class IncludeTree:
    """Digest of a source with all headers it can reach, and the headers."""

    digest: str
    tracked: tuple[TrackedInclude, ...]


@dataclass(frozen=True)
class _Edge:
    """How one directive resolved. `status`: found, absent, or untracked."""

    directive: Directive
    status: str
    missed: tuple[int, ...] = ()  # positions of the search list where it was not
    targets: tuple[tuple[str, str], ...] = ()  # (logical name, path)


@dataclass(frozen=True)
class _File:
    """A header as it was read: stat identity, digest, directives."""

    identity: tuple[int, ...]
    trusted: bool
    sha256: str
    directives: tuple[Directive, ...]


class IncludeParser:
    """Default parser. Keeps what it read per path and reads again on any doubt; thread-safe.

    Args:
        include_dirs: search list, in order.
        include_prefixes: prefixes of tracked ``<names>``.
    """

    def __init__(self, include_dirs: Sequence[Path], include_prefixes: Sequence[str]) -> None:
        self._dirs = [os.fspath(path) for path in include_dirs]
        self._prefixes = tuple(include_prefixes)
        self._files: dict[str, _File] = {}
        self._trees: dict[bytes, _Remembered] = {}

    def parse(self, source: bytes) -> IncludeTree:
        """Scan a source text and every tracked header it reaches.

        Raises:
            IncludeError: a tracked header is missing outside conditions, or cannot be read.
        """
        known = self._trees.get(source)
        if known is not None and known.is_current():
            return known.tree
        walk = _Walk(self._dirs, self._prefixes, self._files)
        tree = walk.run(source)
        if walk.beyond_doubt():
            if len(self._trees) >= _MAX_TREES:
                self._trees.clear()
            self._trees[source] = _Remembered(tree, walk.looked_at())
        return tree


@dataclass(frozen=True)
class _Remembered:
    """A tree and the identity of every path it depends on; None = was not there."""

    tree: IncludeTree
    looked_at: tuple[tuple[str, tuple[int, ...] | None], ...]

    def is_current(self) -> bool:
        """Whether every path looks as it did, beyond doubt."""
        recent = time.time_ns() - _DOUBT_NS
        for path, identity in self.looked_at:
            status = _regular(path)
            if status is None or identity is None:
                if status is not None or identity is not None:
                    return False
            elif _identity(status) != identity or status.st_mtime_ns > recent:
                return False
        return True


class _Walk:
    """State of one parse."""

    def __init__(
        self, dirs: Sequence[str], prefixes: tuple[str, ...], files: dict[str, _File]
    ) -> None:
        self.dirs = dirs
        self.prefixes = prefixes
        self.files = files
        self.stats: dict[str, os.stat_result | None] = {}
        self.nodes: dict[str, tuple[str, _File, tuple[_Edge, ...]]] = {}
        self.pending: list[tuple[str, str]] = []

    def run(self, source: bytes) -> IncludeTree:
        root = self._edges(find_directives(source), None, "<source>")
        while self.pending:
            logical, path = self.pending.pop()
            if path in self.nodes:
                continue
            read = self._read(path)
            self.nodes[path] = (logical, read, ())  # claimed: a cycle ends here
            self.nodes[path] = (logical, read, self._edges(read.directives, path, logical))
        digests = sorted(_node_digest(*node) for node in self.nodes.values())
        total = hashlib.sha256(frame(b"include-tree-1", source, _edge_bytes(root), *digests))
        tracked = sorted((n, p, f.sha256) for p, (n, f, _) in self.nodes.items())
        return IncludeTree(
            total.hexdigest(), tuple(TrackedInclude(n, Path(p), sha) for n, p, sha in tracked)
        )

    def beyond_doubt(self) -> bool:
        """Whether every header was old enough when it was read for its stat to prove anything."""
        return all(read.trusted for _, read, _ in self.nodes.values())

    def looked_at(self) -> tuple[tuple[str, tuple[int, ...] | None], ...]:
        """Every path of this parse with what it was when it was read."""
        return tuple(
            (
                path,
                self.nodes[path][1].identity
                if path in self.nodes
                else status and _identity(status),
            )
            for path, status in self.stats.items()
        )

    def _edges(
        self, directives: Iterable[Directive], includer: str | None, logical: str
    ) -> tuple[_Edge, ...]:
        edges = []
        for directive in directives:
            edge = self._resolve(directive, includer, logical)
            edges.append(edge)
            if directive.kind != "probe":
                self.pending.extend(edge.targets)
        return tuple(edges)

    def _resolve(self, directive: Directive, includer: str | None, logical: str) -> _Edge:
        name = directive.name
        wanted = name.startswith(self.prefixes) if self.prefixes else False
        if not directive.quoted and not wanted:
            return _Edge(directive, "untracked")
        every = directive.kind == "include_next"
        missed: list[int] = []
        targets: list[tuple[str, str]] = []
        for index, target in self._candidates(directive, includer, logical):
            if self._stat(target[1]) is None:
                missed.append(index)
                continue
            targets.append(target)
            if not every:
                break
        if targets:
            return _Edge(directive, "found", tuple(missed), tuple(targets))
        if wanted and not directive.conditional and directive.kind != "probe":
            raise IncludeError(
                f"failed to open: {name} (included by {logical}; looked in "
                f"{', '.join(self.dirs) or 'no include directory'})"
            )
        return _Edge(directive, "absent" if wanted else "untracked")

    def _candidates(
        self, directive: Directive, includer: str | None, logical: str
    ) -> Iterable[tuple[int, tuple[str, str]]]:
        name = directive.name
        if directive.quoted and includer is not None:
            beside = os.path.normpath(os.path.join(os.path.dirname(logical), name))
            path = os.path.normpath(os.path.join(os.path.dirname(includer), name))
            yield -1, (beside, path)
        for index, directory in enumerate(self.dirs):
            yield index, (name, os.path.join(directory, name))

    def _stat(self, path: str) -> os.stat_result | None:
        if path not in self.stats:
            self.stats[path] = _regular(path)
        return self.stats[path]

    def _read(self, path: str) -> _File:
        status = self._stat(path)
        known = self.files.get(path)
        if known is not None and known.trusted and status is not None:
            in_doubt = status.st_mtime_ns > time.time_ns() - _DOUBT_NS
            if known.identity == _identity(status) and not in_doubt:
                return known
        read = _read_file(path, known)
        self.files[path] = read
        return read


def _regular(path: str) -> os.stat_result | None:
    """Status of a regular file; None for everything else."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found if stat_module.S_ISREG(found.st_mode) else None


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )


def _read_file(path: str, known: _File | None) -> _File:
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            text = stream.read()
    except OSError as error:
        raise IncludeError(f"failed to open: {path}: {error.strerror}") from error
    digest = hashlib.sha256(text).hexdigest()
    same = known is not None and known.sha256 == digest
    return _File(
        identity=_identity(status),
        trusted=status.st_mtime_ns <= time.time_ns() - _DOUBT_NS,
        sha256=digest,
        directives=known.directives if same and known else tuple(find_directives(text)),
    )


def _edge_bytes(edges: tuple[_Edge, ...]) -> bytes:
    """Framed form of the edges: spelling, result, misses, logical targets; no path."""
    parts = []
    for edge in edges:
        if edge.directive.kind == "probe" or edge.status != "untracked":
            parts += [edge.directive.kind, edge.directive.name, edge.status]
            parts += [",".join(map(str, edge.missed)), *(name for name, _ in edge.targets), ""]
        elif edge.directive.quoted:
            parts += ["quoted", edge.directive.name, "outside", ""]
    return frame(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _node_digest(logical: str, read: _File, edges: tuple[_Edge, ...]) -> bytes:
    name = logical.encode("utf-8", "surrogateescape")
    return hashlib.sha256(frame(name, read.sha256.encode(), _edge_bytes(edges))).digest()


def check_used_headers(
    used: Iterable[Path],
    tracked: Sequence[TrackedInclude],
    include_dirs: Sequence[Path],
    include_prefixes: Sequence[str],
) -> None:
    """Compare the compiler's dependency list with the scan (section 12, last rule).

    Raises:
        IncludeError: the compiler read a header of a tracked prefix that the scan did not see, or
            read a tracked name from another place.
    """
    seen = {os.path.realpath(item.path) for item in tracked}
    dirs = [os.path.realpath(path) for path in include_dirs]
    names = [item.name for item in tracked if item.name.startswith(tuple(include_prefixes))]
    for path in used:
        real = os.path.realpath(path)
        if real in seen:
            continue
        inside = [os.path.relpath(real, d) for d in dirs if real.startswith(d + os.sep)]
        if any(name.startswith(tuple(include_prefixes)) for name in inside):
            raise IncludeError(
                f"the compiler read {path}, a tracked header that the include scan did not see; "
                "include it directly as <name>, not through a macro"
            )
        for name in names:
            if os.fspath(path).endswith(os.sep + name):
                raise IncludeError(
                    f"the compiler read <{name}> from {path}, not from the include directories; "
                    "remove the -I that shadows it"
                )
