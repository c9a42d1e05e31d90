"""Disk cache: look-up over several roots, private builds, atomic publication (sections 13-15).

What another process can observe: an entry is absent, or it is complete under its final name with
``.committed`` in it. Everything else happens in ``tmp`` and ``trash`` directories, whose names are
unique, and reaches the final name by one rename.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .entry import MARKER, OWNER, BadEntry, Entry, dump_json, read_entry, write_marker
from .log import Log
from .private import existing_private_root, private_root
from .stats import Stats

__all__ = ["BuildDirectory", "DiskCache"]

_VISIBILITY_WAITS_S = (0.0, 0.005, 0.02, 0.05, 0.1)
"""Pauses while a winner's entry becomes visible (NFS caches negative look-ups)."""


@dataclass(frozen=True)
class BuildDirectory:
    """A private directory to build in, and the root it belongs to."""

    path: Path
    root: Path
    temporary: bool


class DiskCache:
    """Entries of all roots.

    Args:
        roots: look-up order; only the first is ever written.
        source_name: file name of the source in an entry.
        binary_names: file names of the binary, one of which an entry must have.
        verify: ``hash``, ``size`` or ``off``.
        readonly: never write to a root.
        disabled: neither read nor write any root.
        shared: group-writable modes, and foreign roots are trusted.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        source_name: str,
        binary_names: Sequence[str],
        verify: str = "hash",
        readonly: bool = False,
        disabled: bool = False,
        shared: bool = False,
        log: Log | None = None,
        stats: Stats | None = None,
    ) -> None:
        self.roots = tuple(Path(root) for root in roots)
        self.source_name = source_name
        self.binary_names = tuple(binary_names)
        self.verify = verify
        self.readonly = readonly
        self.disabled = disabled
        self.shared = shared
        self.log = log or Log()
        self.stats = stats or Stats()
        self._trusted: dict[Path, bool] = {}
        self._unwritable = readonly or disabled

    # Look-up

    @property
    def writable_root(self) -> Path | None:
        """The root that builds go to, or None when they stay private."""
        return None if self._unwritable or not self.trusts(self.roots[0]) else self.roots[0]

    def search_roots(self) -> tuple[Path, ...]:
        """Roots of a look-up, the private one last."""
        roots = () if self.disabled else self.roots
        private = existing_private_root()
        return roots if private is None else (*roots, private)

    def committed(self, tag: str, digest: str) -> bool:
        """Whether some root holds a committed entry; does not verify."""
        name = f"{tag}.{digest}"
        return any(self._marker(r, r / "cache" / name) for r in self.search_roots())

    def lookup(self, tag: str, digest: str, source: bytes | None = None) -> Entry | None:
        """The first committed and intact entry.

        A bad entry in a root we write to is moved away, so that the next build replaces it; in any
        other root it is ignored with a warning.
        """
        for root in self.search_roots():
            if not self.trusts(root):
                continue
            final = root / "cache" / f"{tag}.{digest}"
            if not self._marker(root, final):
                continue
            try:
                entry = self._read(final, source)
            except BadEntry as problem:
                self._reject(root, final, problem)
                continue
            self._touch(final / MARKER)
            self.stats.add_disk_hit(str(root))
            return entry
        return None

    def _read(self, final: Path, source: bytes | None) -> Entry:
        private = existing_private_root()
        return read_entry(
            final,
            source=source,
            source_name=self.source_name,
            binary_names=self.binary_names,
            verify=self.verify,
            temporary=private is not None and private in final.parents,
        )

    def _marker(self, root: Path, final: Path) -> bool:
        try:
            os.stat(final / MARKER)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            self.log.warn_once(
                f"unreadable:{root}", f"cache root {root} is not readable and is skipped: {error}"
            )
            return False
        return True

    def trusts(self, root: Path) -> bool:
        """False for a directory of another user that everybody can write to."""
        if root not in self._trusted:
            self._trusted[root] = self.shared or self._is_safe(root)
        return self._trusted[root]

    def _is_safe(self, root: Path) -> bool:
        for path in (root, root / "cache"):
            try:
                status = os.stat(path)
            except OSError:
                continue
            loose = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
            if loose and status.st_uid != os.geteuid():
                self.log.warn_once(
                    f"foreign:{root}",
                    f"cache root {root} is not used: {path} belongs to uid {status.st_uid} and "
                    "everybody can write to it; fix its mode or set JIT_CACHE_SHARED=1",
                )
                return False
        return True

    def _reject(self, root: Path, final: Path, problem: BadEntry) -> None:
        self.stats.add("verify_failures")
        private = existing_private_root()
        if root == self.writable_root or root == private:
            self.log.warning(f"bad cache entry {final} is replaced: {problem}")
            self.move_to_trash(root, final)
        else:
            self.log.warn_once(f"bad:{final}", f"bad cache entry {final} is ignored: {problem}")

    def _touch(self, marker: Path) -> None:
        if not self.readonly:
            with contextlib.suppress(OSError):
                os.utime(marker)

    def move_to_trash(self, root: Path, path: Path) -> bool:
        """Rename something out of the way; it is deleted at once where possible."""
        trash = root / "trash"
        try:
            fs.make_directories(trash, self.shared)
            target = trash / fs.unique_name()
            os.rename(path, target)
        except OSError:
            return False
        fs.remove_tree(target)
        return True

    # Build and publish

    def begin(self, private: bool = False) -> BuildDirectory:
        """A private build directory: in root 0, or in the private root when that cannot be written.

        Raises:
            CacheError: no place at all can be written.
        """
        root = None if private else self.writable_root
        if root is not None:
            try:
                return BuildDirectory(self._new_tmp(root), root, temporary=False)
            except OSError as error:
                self._unwritable = True
                self.log.warn_once(
                    "unwritable",
                    f"cache root {root} cannot be written, builds of this process stay private: "
                    f"{error}",
                )
        root = private_root()
        try:
            return BuildDirectory(self._new_tmp(root), root, temporary=True)
        except OSError as error:
            from .errors import CacheError

            raise CacheError(f"failed to create directory in {root}: {error}") from error

    def _new_tmp(self, root: Path) -> Path:
        path = fs.make_exclusive_directory(root / "tmp", self.shared)
        owner = {"host": fs.host_name(), "pid": os.getpid()}
        try:
            data = dump_json({**owner, "start": fs.process_start(os.getpid())})
            fs.write_synced(path / OWNER, data)
        except OSError:
            fs.remove_tree(path)
            raise
        return path

    def publish(self, build: BuildDirectory, tag: str, digest: str, source: bytes) -> Path:
        """Give a finished build its final name; the directory that now holds an intact entry.

        Never fails because of the cache: what cannot be published stays private to this process.
        """
        name = f"{tag}.{digest}"
        try:
            return self._commit(build, name, source)
        except OSError as error:
            self.stats.add("publish_failures")
            self.log.warn_once(
                "publish",
                f"failed to publish disk cache entry {build.path} as "
                f"{build.root / 'cache' / name}: {error}; it stays private to this process",
            )
        return self._keep_private(build, name)

    def _commit(self, build: BuildDirectory, name: str, source: bytes) -> Path:
        fs.remove_tree(build.path / OWNER)
        write_marker(build.path)
        fs.sync_tree(build.path, self.shared)
        cache = build.root / "cache"
        fs.make_directories(cache, self.shared)
        final = cache / name
        if not self._rename(build, final):
            if self._adopt(build, final, source):
                fs.remove_tree(build.path)
                return final
            self.move_to_trash(build.root, final)
            os.rename(build.path, final)
        with contextlib.suppress(OSError):
            fs.sync_directory(cache)
        return final

    def _rename(self, build: BuildDirectory, final: Path) -> bool:
        """Whether the rename worked; False when something with that name is there."""
        try:
            os.rename(build.path, final)
        except OSError as error:
            blocked = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.ESTALE)
            if not blocked and not self._marker(build.root, final):
                raise
            return False
        return True

    def _adopt(self, build: BuildDirectory, final: Path, source: bytes) -> bool:
        """Whether a winner published an intact entry under our name."""
        for pause in _VISIBILITY_WAITS_S:
            time.sleep(pause)
            with contextlib.suppress(OSError):
                os.listdir(final.parent)  # makes network file systems look again
            if not self._marker(build.root, final):
                continue
            try:
                self._read(final, source)
            except BadEntry as problem:
                self._reject(build.root, final, problem)
                return False
            return True
        return False

    def _keep_private(self, build: BuildDirectory, name: str) -> Path:
        """Move a build to the private root; if even that fails it stays where it is."""
        import shutil

        final = build.path
        try:
            cache = private_root() / "cache"
            fs.make_directories(cache)
            final = cache / name
            fs.remove_tree(final)
            shutil.copytree(build.path, final, ignore=shutil.ignore_patterns(OWNER, MARKER))
            write_marker(final)
        except (OSError, RuntimeError, shutil.Error):
            return build.path
        fs.remove_tree(build.path)
        return final
