"""Warm-up: make sure that what history says was used is in the cache (deep_jit.md section 19).

Old digests are only hints: a changed compiler or header gives new keys, so the stored source and
options of an old entry are built again under the current key.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .entry import BadEntry, Entry, read_entry
from .history import DEFAULT_DAYS, HistoryRecord, read_files, read_history
from .janitor import list_items

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["HistorySource", "Report", "Warmer"]

HistorySource = int | Path | str | Sequence[Path | str] | None
"""Days to read, history files, or None for the default number of days."""


class Report:
    """Progress of a warm-up; counts rise while it runs.

    Attributes:
        total: records chosen.
        present: were in the cache under the current key.
        built: built now.
        preloaded: loaded into memory.
        skipped: nothing is left to rebuild them from.
        failed: builds that failed; `errors` holds (tag, exception).
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.present = 0
        self.built = 0
        self.preloaded = 0
        self.skipped = 0
        self.failed = 0
        self.errors: list[tuple[str, Exception]] = []
        self.duration_s = 0.0
        self._cancelled = threading.Event()
        self._done = threading.Event()
        self._lock = threading.Lock()

    def count(self, name: str) -> None:
        """Add one to a counter."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    def fail(self, tag: str, error: Exception) -> None:
        """Record a failed build."""
        self.count("failed")
        self.errors.append((tag, error))

    @property
    def done(self) -> bool:
        """Whether all work has ended."""
        return self._done.is_set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Start no further build; running ones end by themselves."""
        self._cancelled.set()

    def wait(self, timeout: float | None = None) -> Report:
        """Wait for the end (or `timeout` seconds) and return self."""
        self._done.wait(timeout)
        return self

    def finish(self) -> None:
        """Mark the end."""
        self._done.set()

    def __repr__(self) -> str:
        names = ("total", "present", "built", "preloaded", "skipped", "failed", "done")
        return f"Report({', '.join(f'{name}={getattr(self, name)}' for name in names)})"


class Warmer:
    """Runs one warm-up on daemon threads.

    Args:
        runtime: whose cache is warmed.
        load: also load each kernel into memory.
    """

    def __init__(
        self,
        runtime: Runtime,
        history: HistorySource,
        predicate: Callable[[HistoryRecord], bool] | None,
        budget_s: float | None,
        load: bool,
    ) -> None:
        self._runtime = runtime
        self._load = load
        records = [r for r in self._records(history) if r.backend == runtime.backend.name]
        if predicate is not None:
            records = [record for record in records if predicate(record)]
        self._queue = deque(records)
        self._claimed: set[tuple[str, str]] = set()
        self._claim_lock = threading.Lock()
        self._start = time.monotonic()
        self._deadline = None if budget_s is None else self._start + budget_s
        self.report = Report(len(records))

    def _records(self, history: HistorySource) -> list[HistoryRecord]:
        if history is None or isinstance(history, int):
            days = DEFAULT_DAYS if history is None else history
            prefix = self._runtime.config.env_prefix
            return read_history(self._runtime.disk_cache.search_roots(), prefix, days)
        files = [history] if isinstance(history, (str, Path)) else history
        return read_files(Path(file) for file in files)

    def start(self, workers: int) -> Report:
        """Start at most `workers` threads and return at once."""
        count = min(workers, len(self._queue))
        if count == 0:
            self.report.finish()
            return self.report
        self._left = count
        for index in range(count):
            threading.Thread(target=self._work, name=f"deep_jit-warm-{index}", daemon=True).start()
        return self.report

    def _work(self) -> None:
        try:
            while not self._stop():
                try:
                    record = self._queue.popleft()
                except IndexError:
                    return
                self._one(record)
        finally:
            with self._claim_lock:
                self._left -= 1
                last = self._left == 0
            if last:
                self.report.duration_s = time.monotonic() - self._start
                self.report.finish()

    def _stop(self) -> bool:
        late = self._deadline is not None and time.monotonic() > self._deadline
        return self.report.cancelled or late

    def _one(self, record: HistoryRecord) -> None:
        try:
            origin = self._origin(record)
            if origin is None:
                self.report.count("skipped")
                return
            self._ensure(record.tag, origin)
        except Exception as error:  # counted: a warm-up never raises
            self.report.fail(record.tag, error)

    def _origin(self, record: HistoryRecord) -> Entry | None:
        """The entry of the record, else the newest other entry of its tag."""
        disk = self._runtime.disk_cache
        candidates = []
        for root in disk.search_roots():
            for item in list_items(root):
                if item.committed and item.tag == record.tag:
                    exact = item.digest == record.digest
                    candidates.append((exact, item.last_used, item.directory))
        for _, _, directory in sorted(candidates, reverse=True):
            with contextlib.suppress(BadEntry):
                entry = read_entry(
                    directory,
                    source=None,
                    source_name=disk.source_name,
                    binary_names=disk.binary_names,
                )
                if "compiler_options" in entry.meta:
                    return entry
        return None

    def _ensure(self, tag: str, origin: Entry) -> None:
        runtime = self._runtime
        source = (origin.directory / runtime.disk_cache.source_name).read_bytes()
        options = self._options(origin.meta["compiler_options"])
        digest = runtime.cache_key(source, options)
        with self._claim_lock:
            fresh = (tag, digest) not in self._claimed
            self._claimed.add((tag, digest))
        there = runtime.disk_cache.committed(tag, digest)
        if fresh and not there:
            runtime.compile_without_load(tag, source, options)
        self.report.count("built" if fresh and not there else "present")
        if self._load and fresh:
            runtime.compile(tag, source, options)
            self.report.count("preloaded")

    def _options(self, recorded: dict[str, Any]) -> Any:
        """Recorded effective options as an override that restores them exactly.

        ``extra_*`` lists append, so they go into the override only as what the defaults lack.
        """
        defaults = self._runtime.default_compiler_options.to_json()
        known = {name: value for name, value in recorded.items() if name in defaults}
        for name in [name for name in known if name.startswith("extra_")]:
            ours = defaults[name] or []
            theirs = known[name] or []
            known[name] = theirs[len(ours) :] if theirs[: len(ours)] == ours else theirs
        return known
