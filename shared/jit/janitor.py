"""Clean-up of a cache root: dead builds, trash, least recently used entries (section 14)."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .entry import MARKER, OWNER

__all__ = [
    "CacheItem",
    "SweepReport",
    "discard",
    "evict",
    "list_builds",
    "list_items",
    "maybe_sweep",
    "sweep",
    "tree_size",
]

STALE_S = 24 * 3600.0
"""Age from which a build directory without a living owner is removed."""

BUILDS = ("runtime", "pch", "programs")
"""Folders of a root for what is built once per machine or program, one folder a build."""

_STAMP = ".janitor"


@dataclass(frozen=True)
class SweepReport:
    """What a sweep removed."""

    tmp: int = 0
    trash: int = 0
    evicted: int = 0
    bytes_freed: int = 0


@dataclass(frozen=True)
class CacheItem:
    """One published entry as the file system shows it."""

    directory: Path
    tag: str
    digest: str
    size: int
    last_used: float
    committed: bool


def list_items(root: Path) -> list[CacheItem]:
    """Entries of one root, sorted by name; empty when the root cannot be read."""
    try:
        names = sorted(os.listdir(root / "cache"))
    except OSError:
        return []
    items = (_item(root / "cache" / name) for name in names)
    return [item for item in items if item is not None]


def _item(directory: Path) -> CacheItem | None:
    tag, dot, digest = directory.name.rpartition(".")
    if not dot or not directory.is_dir():
        return None
    marker = directory / MARKER
    try:
        last_used, committed = marker.stat().st_mtime, True
    except OSError:
        last_used, committed = _mtime(directory), False
    return CacheItem(directory, tag, digest, tree_size(directory), last_used, committed)


def list_builds(root: Path, kind: str) -> list[Path]:
    """Finished builds of one of `BUILDS`; the time of a folder is that of its last use."""
    try:
        folders = sorted((root / kind).iterdir())
    except OSError:
        return []
    return [folder for folder in folders if folder.is_dir() and folder.name != "building"]


def tree_size(directory: Path) -> int:
    """Bytes of the regular files below a directory."""
    total = 0
    for name in fs.walk_files(directory):
        with contextlib.suppress(OSError):
            total += os.lstat(directory / name).st_size
    return total


def sweep(
    root: Path,
    *,
    stale_s: float = STALE_S,
    max_size: int = 0,
    keep: frozenset[Path] = frozenset(),
) -> SweepReport:
    """Remove what dead writers left in ``tmp`` and ``trash``, then evict down to `max_size`.

    Args:
        root: cache root.
        stale_s: smallest age of something removed.
        max_size: bytes that entries may take; 0 = unlimited.
        keep: entries that are not evicted.
    """
    tmp = _remove_old(root / "tmp", stale_s, check_owner=True)
    trash = _remove_old(root / "trash", stale_s, check_owner=False)
    evicted, freed = evict(root, max_size, keep) if max_size > 0 else (0, 0)
    return SweepReport(tmp, trash, evicted, freed)


def maybe_sweep(
    root: Path, max_size: int, keep: frozenset[Path] = frozenset()
) -> SweepReport | None:
    """`sweep`, at most once a day per root; eviction at every call when a limit is set."""
    stamp = root / _STAMP
    report = None
    with contextlib.suppress(OSError):
        if time.time() - _mtime(stamp) > STALE_S:
            stamp.touch()
            report = sweep(root, max_size=max_size, keep=keep)
        elif max_size > 0:
            evicted, freed = evict(root, max_size, keep)
            report = SweepReport(evicted=evicted, bytes_freed=freed)
    return report


def evict(root: Path, max_size: int, keep: frozenset[Path] = frozenset()) -> tuple[int, int]:
    """Remove least recently used entries until the rest fits; (entries, bytes) removed.

    An entry is renamed to ``trash`` first, so that no reader sees half of it.
    """
    items = sorted(list_items(root), key=lambda item: item.last_used)
    total = sum(item.size for item in items)
    count = freed = 0
    for item in items:
        if total - freed <= max_size:
            break
        if item.directory not in keep and discard(root, item.directory):
            count += 1
            freed += item.size
    return count, freed


def discard(root: Path, directory: Path) -> bool:
    """Remove one entry: rename to ``trash``, then delete."""
    target = root / "trash" / fs.unique_name()
    try:
        fs.make_directories(target.parent)
        os.rename(directory, target)
    except OSError:
        return False
    fs.remove_tree(target)
    return True


def _remove_old(parent: Path, stale_s: float, *, check_owner: bool) -> int:
    try:
        names = os.listdir(parent)
    except OSError:
        return 0
    removed = 0
    for name in names:
        path = parent / name
        old = time.time() - _mtime(path) > stale_s
        if old and not (check_owner and _owner_lives(path)):
            fs.remove_tree(path)
            removed += 1
    return removed


def _owner_lives(path: Path) -> bool:
    """Whether the process in the ``owner`` file may still be at work; other hosts: by age alone."""
    try:
        owner = json.loads((path / OWNER).read_bytes())
        if owner["host"] != fs.host_name():
            return False
        start = fs.process_start(int(owner["pid"]))
        return bool(start) and start == owner["start"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _mtime(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
