"""Lowered kernels on disk, so that a second process lowers nothing, and traces nothing it knows.

One JSON file per key below `<cache root>/tilelang`, written beside its name and moved into place:
`<key>.json` holds a lowered kernel, `<key>.call.json` names the one of a call of a jit function.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import fs
from ..log import Log
from ..store import DiskCache
from .lowered import Lowered

__all__ = ["KnownCall", "TextCache"]

_FOLDER = "tilelang"


@dataclass(frozen=True)
class KnownCall:
    """What tracing a call of a jit function gave.

    Attributes:
        lowering: key of the lowered kernel.
        eager: whether the call runs it, and does not return it.
    """

    lowering: str
    eager: bool


class TextCache:
    """The lowered kernels of a cache.

    Args:
        disk: cache whose roots are used; nothing is stored where it stores nothing.
        log: is told, once, when something cannot be stored.
    """

    def __init__(self, disk: DiskCache, log: Log) -> None:
        self._disk = disk
        self._log = log

    def find(self, key: str) -> Lowered | None:
        """Returns the lowered kernel of a key; damaged files count as missing."""
        for root in self._disk.search_roots():
            try:
                return Lowered.from_json(_path(root, f"{key}.json").read_bytes())
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return None

    def store(self, key: str, lowered: Lowered) -> None:
        """Stores a lowered kernel, if there is a writable root."""
        self._write(f"{key}.json", lowered.to_json())

    def find_call(self, key: str) -> KnownCall | None:
        """Returns what tracing a call gave in an earlier process."""
        for root in self._disk.search_roots():
            try:
                found = json.loads(_path(root, f"{key}.call.json").read_bytes())
                return KnownCall(str(found["lowering"]), bool(found["eager"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return None

    def store_call(self, key: str, call: KnownCall) -> None:
        """Stores what tracing a call gave, if there is a writable root."""
        self._write(f"{key}.call.json", json.dumps(asdict(call)).encode())

    def _write(self, name: str, content: bytes) -> None:
        root = self._disk.writable_root
        if root is None:
            return
        path = _path(root, name)
        temporary = path.with_name(f"{path.name}.{fs.unique_name()}")
        try:
            fs.make_directories(path.parent)
            temporary.write_bytes(content)
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            self._log.warn_once(
                "texts",
                f"lowered kernels cannot be kept in {path.parent.parent}, other processes will "
                f"lower them again: {error}",
            )


def _path(root: Path, name: str) -> Path:
    return root / _FOLDER / name[:2] / name
