"""The runtime: key, memory cache, disk cache, compile, load, launch (deep_jit.md 1, 6, 19)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import fork
from .backends import create_backend
from .backends.base import Backend
from .builder import Builder, Job
from .config import Config
from .defaults import Defaults
from .dry_run import is_dry_run
from .entry import Entry
from .env import Env, EnvSettings
from .errors import ConfigError, LaunchError
from .history import HistoryRecord, append_record
from .includes import IncludeParser
from .kernel import Kernel, require_kernel
from .key import KeyExplanation
from .keying import Keying
from .loader import LoadRequest, load_kernel, stub_kernel
from .log import Log
from .mem_cache import MemCache
from .options import CompilerOptions, LaunchOptions, OptionsLike
from .signature import SignatureLike, parse_signature
from .stats import Stats
from .store import DiskCache
from .stream import Stream
from .strict_includes import StrictIncludeParser
from .warm_up import HistorySource, Report, Warmer

__all__ = ["Runtime"]

_TAG = re.compile(r"[A-Za-z0-9_]+", re.ASCII)


class Runtime:
    """Compiles, caches, loads and launches kernels of one component on one device.

    Args:
        config: what the component says about itself.
        backend: ``auto``, ``cpu`` or ``ascend``; or a ready backend object.
        device: device index; kernels are kept per (device, key).
        key_format: ``v2``, or ``deepjit`` for the published library's digests (which implies its
            include scanner).
        strict_includes: use the published library's include scanner and errors.
        async_launch: launches on the null stream go to a worker instead of running in the caller.

    Attributes:
        config, env, env_snapshot, backend, device, disk_cache, stats, log.
    """

    def __init__(
        self,
        config: Config,
        backend: str | Backend = "auto",
        *,
        device: int = 0,
        key_format: str = "v2",
        strict_includes: bool = False,
        async_launch: bool = False,
    ) -> None:
        self.config = config
        self.env = Env(config.env_prefix)
        self.env_snapshot: EnvSettings = self.env.snapshot()
        settings = self.env_snapshot
        self.backend: Backend = (
            create_backend(
                backend,
                self.env,
                device,
                settings=settings,
                device_model=config.device_model or None,
            )
            if isinstance(backend, str)
            else backend
        )
        self.device = self.backend.device
        self.device_index = device
        self.log = Log(settings.log)
        self.stats = Stats()
        self._defaults = Defaults(self.backend)
        self.disk_cache = DiskCache(
            settings.cache_dir,
            source_name=self.backend.source_name,
            binary_names=(self.backend.binary_name, *getattr(self.backend, "other_binaries", ())),
            verify=settings.cache_verify,
            readonly=settings.cache_readonly,
            disabled=settings.cache_disable,
            shared=settings.cache_shared,
            log=self.log,
            stats=self.stats,
        )
        self.keying = Keying(self.backend, config, key_format, strict_includes)
        self._builder = Builder(
            self.backend, config, settings, self.disk_cache, self.log, self.stats, self._announce
        )
        self.mem_cache: MemCache[Kernel] = MemCache()
        self.default_stream = Stream("default") if async_launch else None
        self._used: set[tuple[str, str]] = set()
        self._lost_in_fork = False
        fork.register(self)

    # Options

    @property
    def default_compiler_options(self) -> CompilerOptions:
        """Defaults of every compile; immutable, assign a new object to change them."""
        return self._defaults.compiler

    @default_compiler_options.setter
    def default_compiler_options(self, options: OptionsLike) -> None:
        self._defaults.set_compiler(options)

    @property
    def default_launch_options(self) -> LaunchOptions:
        """Defaults of every launch; immutable, assign a new object to change them."""
        return self._defaults.launch

    @default_launch_options.setter
    def default_launch_options(self, options: LaunchOptions | Mapping[str, Any]) -> None:
        self._defaults.set_launch(options)

    def effective_compiler_options(self, options: OptionsLike = None) -> CompilerOptions:
        """Defaults overridden by `options`, checked by the backend."""
        return self._defaults.effective_compiler(options)

    def effective_launch_options(
        self, options: LaunchOptions | Mapping[str, Any] | None
    ) -> LaunchOptions:
        """Defaults overridden by `options`, checked; remembered for repeated launches."""
        return self._defaults.effective_launch(options)

    # Keys

    @property
    def parser(self) -> IncludeParser | StrictIncludeParser:
        """The include scanner."""
        return self.keying.parser

    @property
    def hash_base(self) -> str:
        """Digest of what all keys of this runtime share: signature and compiler."""
        return self.keying.base_digest()

    def cache_key(self, source: str | bytes, options: OptionsLike = None) -> str:
        """The digest (32 hex digits) of a source under defaults overridden by `options`."""
        key, _ = self.keying.key(_bytes(source), self.effective_compiler_options(options))
        return key.digest

    def explain(self, source: str | bytes, options: OptionsLike = None) -> KeyExplanation:
        """The components of a key; ``a.diff(b)`` tells why two keys differ."""
        return self.keying.explain(_bytes(source), self.effective_compiler_options(options))

    def _job(
        self, name: str, source: str | bytes, options: OptionsLike, one_kernel: bool = False
    ) -> Job:
        _check_tag(name)
        effective = self.effective_compiler_options(options)
        return self._job_with(name, _bytes(source), effective, one_kernel)

    def _job_with(self, name: str, raw: bytes, effective: CompilerOptions, one_kernel: bool) -> Job:
        key, tree = self.keying.key(raw, effective)
        return Job(
            tag=name,
            source=raw,
            options=effective,
            key=key,
            tree=tree,
            components=lambda: self.keying.components(raw, effective, tree),
            one_kernel=one_kernel,
        )

    # Compile

    def compile(
        self,
        name: str,
        source: str | bytes,
        options: OptionsLike = None,
        *,
        signature: SignatureLike | None = None,
        kernel: str | None = None,
        allow_any_kernel_count: bool = False,
        ensure_dumps: bool = False,
    ) -> Kernel:
        """The kernel of a source text, ready to launch.

        Args:
            name: cache tag, ``[A-Za-z0-9_]+``; not part of the key.
            source: kernel text; compiled and hashed byte by byte.
            options: overrides of `default_compiler_options`.
            signature: parameters, when the binary does not tell; see `parse_signature`.
            kernel: name of the entry to take when the source has several.
            allow_any_kernel_count: publish a binary without exactly one kernel.
            ensure_dumps: build requested dumps also when the binary is a cache hit.

        Raises:
            ConfigError: bad tag or options. CompileError, CompileTimeout, ToolchainError,
            IncludeError: the build failed. KernelCountError: not exactly one kernel.
        """
        self.check_usable()
        many = allow_any_kernel_count or kernel is not None
        job = self._job(name, source, options, one_kernel=not many)
        request = LoadRequest(job, kernel, parse_signature(signature))
        if is_dry_run():
            entry = self._artifact(job)
            found = stub_kernel(self, request, entry)
        else:
            found = self._loaded(request)
            entry = Entry(found.artifact)
        if ensure_dumps:
            self._dumps(job, entry)
        return found

    def compile_without_load(
        self,
        name: str,
        source: str | bytes,
        options: OptionsLike = None,
        *,
        ensure_dumps: bool = False,
    ) -> Path:
        """The directory of the cache entry; loads nothing and counts no kernels."""
        job = self._job(name, source, options)
        entry = self._artifact(job)
        if ensure_dumps:
            self._dumps(job, entry)
        return entry.directory

    def compile_many(
        self,
        requests: Sequence[tuple[Any, ...]],
        workers: int | None = None,
        load: bool = False,
        *,
        progress: bool | None = None,
    ) -> list[Any]:
        """Compile (name, source[, options]) requests in parallel; see `compile_all`."""
        from .compile_many import compile_all

        return compile_all(self, requests, workers, load, progress)

    def lookup(self, name: str, source: str | bytes, options: OptionsLike = None) -> Path | None:
        """The entry's directory if it is in some root and intact, else None; builds nothing."""
        job = self._job(name, source, options)
        entry = self.disk_cache.lookup(name, job.key.digest, job.source)
        return None if entry is None else entry.directory

    def compile_again(self, request: LoadRequest) -> Kernel:
        """The kernel of an earlier request, for the emulator options as they are now."""
        job = request.job
        again = self._job_with(job.tag, job.source, job.options, job.one_kernel)
        return self._loaded(LoadRequest(again, request.kernel, request.signature))

    def _artifact(self, job: Job) -> Entry:
        before = self.stats.build_s
        entry = self._builder.obtain(job)
        self._record(job, self.stats.build_s - before)
        return entry

    def _dumps(self, job: Job, entry: Entry) -> None:
        if job.options.dump_asm:
            self._builder.ensure_dumps(job, entry)

    def _loaded(self, request: LoadRequest) -> Kernel:
        key = request.memory_key(self.device_index)
        found = self.mem_cache.peek(key)
        if found is not None:
            self.stats.add("memory_hits")
            return found
        return self.mem_cache.get(
            key, lambda: self._obtain_and_load(request), lambda: self.stats.add("waits")
        )

    def _obtain_and_load(self, request: LoadRequest) -> Kernel:
        entry = self._artifact(request.job)
        try:
            return load_kernel(self, request, entry)
        except (OSError, RuntimeError):
            if entry.directory.is_dir():
                raise
        # NOTE: evicted or quarantined by another process between look-up and load: once more.
        return load_kernel(self, request, self._artifact(request.job))

    # Launch

    def launch(
        self,
        kernel: Kernel | None,
        options: LaunchOptions | Mapping[str, Any] | None,
        *args: object,
        isolate: bool = False,
    ) -> None:
        """Launch a kernel; see `Kernel.launch`."""
        if is_dry_run():
            return
        require_kernel(kernel).launch(options, *args, isolate=isolate)

    def synchronize(self) -> None:
        """Wait for launches on the default stream and raise their error, if any."""
        if self.default_stream is not None:
            self.default_stream.synchronize()

    # Warm-up

    def warm_up(
        self,
        history: HistorySource = None,
        workers: int | None = None,
        predicate: Callable[[HistoryRecord], bool] | None = None,
        budget_s: float | None = None,
        *,
        load: bool = False,
    ) -> Report:
        """Bring what history says was used into the cache, in the background.

        Args:
            history: days to read, or history files; None = the newest 14 days.
            workers: threads; None = `worker_count`.
            predicate: which records to take.
            budget_s: start no build after this many seconds.
            load: also load the kernels.

        Returns:
            A report that fills while threads work; ``report.wait()``, ``report.cancel()``.
        """
        warmer = Warmer(self, history, predicate, budget_s, load)
        return warmer.start(self.worker_count(workers))

    def worker_count(self, workers: int | None = None) -> int:
        """Threads for parallel builds: argument, else ``JIT_NUM_WORKERS``, else one per core."""
        from os import cpu_count

        count = workers if workers is not None else self.env_snapshot.num_workers
        if count < 0:
            raise ConfigError(f"workers must not be negative, got {count}; 0 means one per core")
        return count or min(cpu_count() or 1, 16)

    # Small parts

    def check_usable(self) -> None:
        """Raise LaunchError in a child that inherited device state it cannot use."""
        if self._lost_in_fork:
            raise LaunchError(
                f"this runtime of backend {self.backend.name} was created before fork and must be "
                "re-created in the child: build a new Runtime there"
            )

    def forget(self, memory_key: object) -> None:
        """Drop a kernel from the memory cache; the handle stays valid for its holders."""
        self.mem_cache.discard(memory_key)

    def _live(self, suffix: str) -> bool:
        return self.env.get_bool(suffix)

    def _announce(self, command: Sequence[str]) -> None:
        if self._live("JIT_DEBUG") or self._live("JIT_PRINT_COMPILER_COMMAND"):
            self.log.info(f"Running command: {' '.join(command)}")

    def _record(self, job: Job, build_s: float) -> None:
        use = (job.tag, job.key.digest)
        root = self.disk_cache.writable_root
        if use in self._used or root is None:
            return
        self._used.add(use)
        append_record(
            root,
            self.config.env_prefix,
            tag=job.tag,
            digest=job.key.digest,
            backend=self.backend.name,
            build_s=build_s,
            shared=self.env_snapshot.cache_shared,
        )

    def after_fork_in_child(self) -> None:
        """CPU kernels survive a fork (their mapping does); device state does not."""
        survives = getattr(self.backend, "survives_fork", self.backend.name == "cpu")
        self._lost_in_fork = not survives
        reset = getattr(self.backend, "after_fork_in_child", None)
        if callable(reset):
            reset()

    def __repr__(self) -> str:
        return f"Runtime({self.config.env_prefix}, {self.backend.name}:{self.device_index})"


def _bytes(source: str | bytes) -> bytes:
    return source if isinstance(source, bytes) else source.encode("utf-8", "surrogateescape")


def _check_tag(name: str) -> None:
    if not isinstance(name, str) or not _TAG.fullmatch(name):
        raise ConfigError(f"cache tag must contain only letters, digits, or underscores: {name}")
