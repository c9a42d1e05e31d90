"""Where the emulator's runtime, precompiled headers and probes live (deep_jit.md section 15).

They are built once per machine and looked up in every cache root; new ones go to the first root. A
root that cannot be written is replaced by a private folder of this user below `$TMPDIR`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ... import fs
from ...env import Env, EnvSettings
from ...errors import CacheError
from ...locks import KeyLock
from ...log import Log

__all__ = ["Places"]

_NEEDED_BYTES = 128 << 20
_STALE_S = 24 * 3600.0


class Places:
    """Folders of one backend.

    ``JIT_RUNTIME_DIR`` names one folder for all of it, for machines that keep several small caches.

    Args:
        env: live environment; only ``JIT_RUNTIME_DIR`` is read.
        settings: environment snapshot.
        log: where a replaced root is reported.
    """

    def __init__(self, env: Env, settings: EnvSettings, log: Log) -> None:
        override = env.get("JIT_RUNTIME_DIR")
        self._roots = (Path(override),) if override else settings.cache_dir
        self._writable = bool(override) or not (settings.cache_disable or settings.cache_readonly)
        self._shared = settings.cache_shared
        self._log = log

    @property
    def probes(self) -> Path:
        """The file of compiler probes, in the first root whether it exists or not."""
        return self._roots[0] / "runtime" / "probes.json"

    @cached_property
    def home(self) -> Path:
        """The folder that new things are built in.

        Raises:
            CacheError: neither the first root nor `$TMPDIR` can be written.
        """
        root = self._roots[0]
        if self._writable and _usable(root, self._shared):
            return root.absolute()
        return self._substitute(root)

    def find(self, kind: str, name: str) -> Path | None:
        """Returns `<root>/<kind>/<name>` of the first root that has it and may be trusted."""
        for root in (*self._roots, *self._existing_substitute()):
            folder = (root / kind / name).absolute()
            if folder.is_dir() and self._trusted(folder):
                # NOTE: the time of the last use, for `deep-jit cache prune`
                with contextlib.suppress(OSError):
                    os.utime(folder)
                return folder
        return None

    def publish(
        self, kind: str, name: str, build: Callable[[Path], None], ready: Callable[[Path], bool]
    ) -> Path:
        """Returns a folder that `build` filled, here or in another process, and `ready` accepts.

        One process builds, others wait; a folder appears whole or not at all. A folder that `ready`
        refuses is replaced.
        """
        final = self.home / kind / name
        with KeyLock(self.home / "locks", f"{kind}-{name}", done=lambda: ready(final)):
            if ready(final):
                return final
            self._remove_stale(final.parent)
            private = fs.make_exclusive_directory(final.parent / "building", self._shared)
            try:
                build(private)
                fs.sync_tree(private, self._shared)
                return self._rename(private, final, ready)
            finally:
                fs.remove_tree(private)

    def _rename(self, private: Path, final: Path, ready: Callable[[Path], bool]) -> Path:
        for _ in range(2):
            try:
                private.rename(final)
                return final
            except OSError:
                if ready(final):  # another process that holds no lock was faster
                    return final
            bad = fs.make_exclusive_directory(final.parent / "building")
            try:
                final.rename(bad / "refused")
            except OSError:
                continue
            finally:
                fs.remove_tree(bad)
        raise CacheError(
            f"failed to publish {final}: something there can be neither used nor moved; remove it"
        )

    def _remove_stale(self, parent: Path) -> None:
        """Removes what killed builders left more than a day ago."""
        import time

        for leftover in (parent / "building").glob("*"):
            try:
                if time.time() - leftover.stat().st_mtime > _STALE_S:
                    fs.remove_tree(leftover)
            except OSError:
                continue

    def _substitute(self, root: Path) -> Path:
        folder = _substitute_path()
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise CacheError(
                f"cannot build the emulator runtime: neither {root} nor {folder} can be written "
                f"({error.strerror}); set JIT_CACHE_DIR with the component's prefix, or TMPDIR"
            ) from error
        if not _private(folder):
            folder = Path(tempfile.mkdtemp(prefix="deep_jit-"))
        if self._writable:
            self._log.warn_once(
                f"home {root}", f"{root} cannot be written or is full; using {folder}"
            )
        return folder

    def _existing_substitute(self) -> tuple[Path, ...]:
        folder = _substitute_path()
        return (folder,) if _private(folder) else ()

    def _trusted(self, folder: Path) -> bool:
        """Whether nobody else could have put code there: it is going to be loaded."""
        if self._shared:
            return True
        status = folder.stat()
        return status.st_uid in (0, os.geteuid()) or not status.st_mode & stat.S_IWOTH


def _usable(root: Path, shared: bool) -> bool:
    try:
        fs.make_directories(root, shared)
        descriptor, name = tempfile.mkstemp(prefix=".write-test-", dir=root)
        os.close(descriptor)
        os.unlink(name)
        return shutil.disk_usage(root).free >= _NEEDED_BYTES
    except OSError:
        return False


def _substitute_path() -> Path:
    return Path(tempfile.gettempdir()) / f"deep_jit-runtime-{os.geteuid()}"


def _private(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & 0o022
    )
