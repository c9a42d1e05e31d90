"""File operations of the cache: durable writes, exclusive names, removal (deep_jit.md 14, 15)."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "SPACE_ERRNOS",
    "host_name",
    "make_directories",
    "make_exclusive_directory",
    "process_start",
    "remove_tree",
    "sha256_file",
    "sync_directory",
    "sync_tree",
    "unique_name",
    "walk_files",
    "write_synced",
]

SPACE_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG, errno.ENOMEM}
)
"""Errors that mean the cache's disk cannot take more, not that the build is wrong."""


def host_name() -> str:
    """Name of this machine."""
    return os.uname().nodename


def unique_name() -> str:
    """``<pid>-<host hash>-`` and 128 random bits in groups of 8 hex digits.

    The bits come from the OS at every call, so a forked child never repeats its parent's names.
    """
    bits = os.urandom(16).hex()
    groups = [bits[i : i + 8] for i in range(0, 32, 8)]
    return f"{os.getpid()}-{zlib.crc32(host_name().encode()):08x}-{'-'.join(groups)}"


def process_start(pid: int) -> str:
    """Start time of a process in clock ticks, or an empty string when it is gone or unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[19].decode()
    except (OSError, IndexError):
        return ""


def make_directories(path: Path, shared: bool = False) -> None:
    """Create a directory and its parents; group-writable when `shared`."""
    if path.is_dir():
        return
    make_directories(path.parent, shared)
    try:
        path.mkdir()
    except FileExistsError:
        if not path.is_dir():
            raise
        return
    if shared:
        share(path)


def share(path: Path) -> None:
    """Modes 0775 (directories, SGID kept) or 0664 (files); ignored where not ours."""
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            path.chmod(0o775 | (mode & stat.S_ISGID))
        elif stat.S_ISREG(mode):
            path.chmod(0o664)


def make_exclusive_directory(parent: Path, shared: bool = False) -> Path:
    """A new directory under `parent` that nobody else has."""
    make_directories(parent, shared)
    while True:
        path = parent / unique_name()
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path


def write_synced(path: Path, data: bytes) -> None:
    """Write a file and fsync it."""
    try:
        with open(path, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, f"failed to write {path}: {error.strerror}") from error


def sync_directory(path: Path) -> None:
    """fsync a directory, so that its entries survive a crash."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # file system without it
            raise OSError(error.errno, f"failed to fsync: {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def sync_tree(path: Path, shared: bool = False) -> None:
    """fsync every regular file and every directory, bottom up; set shared modes first."""
    for directory, _, files in os.walk(path, topdown=False):
        for name in files:
            file = Path(directory, name)
            if shared:
                share(file)
            if not file.is_symlink():
                _sync_file(file)
        if shared:
            share(Path(directory))
        sync_directory(Path(directory))


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fsync(descriptor)
    except OSError as error:
        raise OSError(error.errno, f"failed to fsync: {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def walk_files(path: Path) -> Iterator[str]:
    """Relative names of the regular files below `path`, sorted."""
    found = []
    for directory, _, files in os.walk(path):
        for name in files:
            file = os.path.join(directory, name)
            if stat.S_ISREG(os.lstat(file).st_mode):
                found.append(os.path.relpath(file, path))
    yield from sorted(found)


def remove_tree(path: Path) -> None:
    """Remove a file or directory; symbolic links are not followed, errors are ignored."""
    import shutil

    if path.is_symlink() or not path.is_dir():
        with contextlib.suppress(OSError):
            path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def sha256_file(path: str | Path) -> str:
    """SHA-256 of a file, hex."""
    state = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            state.update(chunk)
    return state.hexdigest()
