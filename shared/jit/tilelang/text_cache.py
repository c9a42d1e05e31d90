"""Lowered kernels on disk, so that a second process lowers nothing.

One JSON file per key below `<cache root>/tilelang`, written beside its name and moved into place.
"""

from __future__ import annotations

import os
from pathlib import Path

from .. import fs
from ..store import DiskCache
from .lowered import Lowered

__all__ = ["TextCache"]

_FOLDER = "tilelang"


class TextCache:
    """The lowered kernels of a cache.

    Args:
        disk: cache whose roots are used; nothing is stored where it stores nothing.
    """

    def __init__(self, disk: DiskCache) -> None:
        self._disk = disk

    def find(self, key: str) -> Lowered | None:
        """Returns the lowered kernel of a key; damaged files count as missing."""
        for root in self._disk.search_roots():
            try:
                return Lowered.from_json(_path(root, key).read_bytes())
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return None

    def store(self, key: str, lowered: Lowered) -> None:
        """Stores a lowered kernel, if there is a writable root."""
        root = self._disk.writable_root
        if root is None:
            return
        path = _path(root, key)
        temporary = path.with_name(f"{path.name}.{fs.unique_name()}")
        try:
            fs.make_directories(path.parent)
            temporary.write_bytes(lowered.to_json())
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)


def _path(root: Path, key: str) -> Path:
    return root / _FOLDER / key[:2] / f"{key}.json"
