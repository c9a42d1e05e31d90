"""Hashes and dependency lists of C++ files (deep_jit.md sections 12 and 20)."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

__all__ = ["parse_dependencies", "tree_sha256", "write_atomically"]

_CHUNK = 1 << 17
_SUFFIXES = (".h", ".hpp", ".inc", ".cpp", ".S", ".py")


def tree_sha256(folders: Iterable[Path]) -> str:
    """Returns a SHA-256 over the names and bytes of all source files below the folders, in hex."""
    digest = hashlib.sha256()
    for folder in folders:
        root = os.fspath(folder)
        for path in sorted(_sources(root)):
            name = os.fsencode(path[len(root) + 1 :])
            digest.update(len(name).to_bytes(8, "little") + name)
            status = os.stat(path)
            digest.update(_file_digest(path, status.st_mtime_ns, status.st_size))
    return digest.hexdigest()


@cache
def _file_digest(path: str, mtime_ns: int, size: int) -> bytes:
    # NOTE: trees overlap (API headers, runtime sources), so each file is read once. Plain
    # system calls, since a new process pays for a few hundred files before its first kernel.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(handle, _CHUNK)
        while piece := os.read(handle, _CHUNK):
            content += piece
    finally:
        os.close(handle)
    return hashlib.sha256(content).digest()


def _sources(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        yield from (f"{parent}/{name}" for name in names if name.endswith(_SUFFIXES))


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that readers see the old or the new content, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def parse_dependencies(text: str) -> list[str]:
    r"""Returns the prerequisites of a make rule as compilers write it.

    Example:
        >>> parse_dependencies("kernel.so: a.cpp /x/my\\ dir/b.hpp \\\n c$$d.hpp\n")
        ['a.cpp', '/x/my dir/b.hpp', 'c$d.hpp']
    """
    _, _, body = text.partition(": ")
    names: list[str] = []
    name = ""
    index = 0
    while index < len(body):
        pair = body[index : index + 2]
        if pair in ("\\ ", "\\#", "\\\\", "$$"):
            name += pair[1]
            index += 2
        elif pair == "\\\n" or body[index] in " \n":
            if name:
                names.append(name)
            name = ""
            if pair != "\\\n" and body[index] == "\n":
                break
            index += 2 if pair == "\\\n" else 1
        else:
            name += body[index]
            index += 1
    return [*names, name] if name else names
