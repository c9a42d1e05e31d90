"""Disk level of a compile: look up, else build once and publish (deep_jit.md sections 6, 8, 14)."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .backends.base import Backend, BuildRequest, BuildResult
from .config import Config
from .entry import LOG_NAME, META, Entry, build_meta, dump_json
from .env import EnvSettings
from .errors import CompileError, Error
from .includes import IncludeTree, check_used_headers
from .janitor import maybe_sweep
from .kernel_choice import check_kernel_count
from .key import Key
from .locks import KeyLock
from .log import Log
from .mem_cache import MemCache
from .options import CompilerOptions
from .stats import Stats
from .store import BuildDirectory, DiskCache

__all__ = ["Builder", "Job"]

_SPACE_TEXTS = ("No space left on device", "Disk quota exceeded", "File too large")


@dataclass(frozen=True)
class Job:
    """One thing to have on disk.

    Attributes:
        one_kernel: refuse to publish a binary without exactly one kernel.
        components: gives the components of the key, recorded in meta.json.
    """

    tag: str
    source: bytes
    options: CompilerOptions
    key: Key
    tree: IncludeTree
    components: Callable[[], tuple[tuple[str, str], ...]] = tuple
    one_kernel: bool = False


class Builder:
    """Finds or makes entries; one build per key in this process and, with locks, among processes.

    Args:
        backend: compiler.
        config: configuration of the runtime.
        settings: environment snapshot.
        disk: cache.
        announce: prints a command when the user asked for it.
    """

    def __init__(
        self,
        backend: Backend,
        config: Config,
        settings: EnvSettings,
        disk: DiskCache,
        log: Log,
        stats: Stats,
        announce: Callable[[Sequence[str]], None],
    ) -> None:
        self.backend = backend
        self.config = config
        self.settings = settings
        self.disk = disk
        self.log = log
        self.stats = stats
        self.announce = announce
        self._flights: MemCache[Entry] = MemCache(keep=False)

    def obtain(self, job: Job) -> Entry:
        """The entry of a job, from the cache or built now."""
        entry = self._find(job)
        if entry is not None:
            return entry
        key = (job.tag, job.key.digest, job.one_kernel)
        return self._flights.get(key, lambda: self._locked(job), lambda: self.stats.add("waits"))

    def _find(self, job: Job) -> Entry | None:
        return self.disk.lookup(job.tag, job.key.digest, job.source)

    def _locked(self, job: Job) -> Entry:
        root = self.disk.writable_root
        if root is None:
            return self._find(job) or self._build(job)
        start = time.monotonic()
        lock = KeyLock(
            root / "locks",
            job.key.digest,
            done=lambda: self.disk.committed(job.tag, job.key.digest),
            on_wait=lambda: self.stats.add("waits"),
            shared=self.settings.cache_shared,
        )
        with lock:
            self.stats.add("wait_s", time.monotonic() - start)
            # NOTE: the winner may have published between our look-up and the lock.
            return self._find(job) or self._build(job)

    def _build(self, job: Job) -> Entry:
        build = self.disk.begin()
        try:
            return self._build_in(build, job)
        except (OSError, Error) as error:
            if build.temporary or not is_space_problem(error):
                raise self._typed(error, build) from error
            self.log.warn_once(
                "space",
                f"cache root {build.root} is full or failing, building privately: {error}",
            )
        return self._build_in(self.disk.begin(private=True), job)

    def _typed(self, error: Exception, build: BuildDirectory) -> Exception:
        if isinstance(error, Error):
            return error
        return CompileError(f"failed to build in {build.path}: {error}")

    def _build_in(self, build: BuildDirectory, job: Job) -> Entry:
        try:
            meta = self._fill(build, job)
            directory = self.disk.publish(build, job.tag, job.key.digest, job.source)
        except BaseException as error:
            self.stats.add("build_failures")
            self._after_failure(build, job, error)
            raise
        root = self.disk.writable_root
        if root is not None:
            maybe_sweep(root, self.settings.cache_max_size, keep=frozenset({directory}))
        return Entry(directory, meta, temporary=root is None or root not in directory.parents)

    def _fill(self, build: BuildDirectory, job: Job) -> dict[str, object]:
        directory = build.path
        fs.write_synced(directory / self.backend.source_name, job.source)
        start = time.monotonic()
        result = self.backend.compile(self._request(directory, job))
        duration = time.monotonic() - start
        self.stats.add("builds")
        self.stats.add("build_s", duration)
        self._check(directory, job, result)
        if result.log and not (directory / LOG_NAME).exists():
            fs.write_synced(directory / LOG_NAME, result.log.encode("utf-8", "backslashreplace"))
        meta = build_meta(
            backend=self.backend.name,
            key=job.key,
            components=job.components(),
            config=self.config.to_json(),
            compiler_info=self.backend.compiler_info(),
            options=job.options.to_json(),
            result=result,
            includes=job.tree.tracked,
            directory=directory,
            duration_s=duration,
        )
        fs.write_synced(directory / META, dump_json(meta))
        return meta

    def _request(self, directory: Path, job: Job, dumps_only: bool = False) -> BuildRequest:
        return BuildRequest(
            tag=job.tag,
            source=job.source.decode("utf-8", "surrogateescape"),
            directory=directory,
            options=job.options,
            include_dirs=self.config.include_paths,
            settings=self.settings,
            tracked=job.tree.tracked,
            announce=self.announce,
            dumps_only=dumps_only,
        )

    def _check(self, directory: Path, job: Job, result: BuildResult) -> None:
        binaries = [directory / name for name in self.disk.binary_names]
        if not any(p.is_file() and not p.is_symlink() and p.stat().st_size for p in binaries):
            raise CompileError(
                f"the compiler did not produce a valid binary: {binaries[0].name} is missing or "
                f"empty\n{result.log}",
                returncode=0,
                command=result.commands[-1] if result.commands else (),
                output=result.log,
            )
        if result.used_headers is not None:
            check_used_headers(
                result.used_headers,
                job.tree.tracked,
                self.config.include_paths,
                tuple(self.config.include_prefixes),
            )
        if job.one_kernel:
            check_kernel_count(result.kernels, self.disk.binary_names[0])

    def _after_failure(self, build: BuildDirectory, job: Job, error: BaseException) -> None:
        if isinstance(error, CompileError):
            error.source = job.source.decode("utf-8", "surrogateescape")
        if self.settings.debug and isinstance(error, Error):
            if isinstance(error, CompileError):
                error.source_path = build.path / self.backend.source_name
            self.log.info(f"build of {job.tag} failed; directory kept: {build.path}")
            return
        fs.remove_tree(build.path)

    def ensure_dumps(self, job: Job, entry: Entry) -> Path:
        """The ``asm`` directory of an entry, built beside it when a hit came without one."""
        if entry.has_dumps:
            return entry.directory / "asm"
        name = f"{job.tag}.{job.key.digest}"
        build = self.disk.begin()
        final = build.root / "dumps" / name
        try:
            if not (final / "asm").is_dir():
                fs.write_synced(build.path / self.backend.source_name, job.source)
                self.backend.compile(self._request(build.path, job, dumps_only=True))
                fs.make_directories(final, self.settings.cache_shared)
                (build.path / "asm").rename(final / "asm")
        finally:
            fs.remove_tree(build.path)
        return final / "asm"


def is_space_problem(error: BaseException) -> bool:
    """Whether a build failed because the disk is full or failing, not because of the source."""
    if isinstance(error, OSError):
        return error.errno in fs.SPACE_ERRNOS or error.errno == errno.EACCES
    if isinstance(error, CompileError):
        return any(text in error.output for text in _SPACE_TEXTS)
    return False
