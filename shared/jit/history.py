"""Record of first uses, for warm-up (deep_jit.md section 19).

One line per first use in a process, appended by one write to
``<root>/history/<prefix>.<yyyymmdd>.jsonl``. Lines that cannot be read are skipped.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .entry import dump_json

__all__ = ["HistoryRecord", "append_record", "read_history"]

_MAX_LINE = 4096
DEFAULT_DAYS = 14


@dataclass(frozen=True)
class HistoryRecord:
    """Uses of one (tag, digest), summed up.

    Attributes:
        uses: number of processes that used it.
        last_used: seconds since the epoch.
        build_s: longest build.
    """

    tag: str
    digest: str
    backend: str
    uses: int
    last_used: float
    build_s: float

    @property
    def rank(self) -> tuple[int, int, float]:
        """Order of warm-up: day of last use, frequency, build cost."""
        return (int(self.last_used // 86400), self.uses, self.build_s)


def append_record(
    root: Path, prefix: str, *, tag: str, digest: str, backend: str, build_s: float, shared: bool
) -> None:
    """Append one line; any failure is ignored, a warm-up is only a convenience."""
    now = time.time()
    line = (
        dump_json(
            {
                "tag": tag,
                "digest": digest,
                "backend": backend,
                "time": int(now),
                "build_s": round(build_s, 3),
            }
        )
        + b"\n"
    )
    if len(line) > _MAX_LINE:
        return
    directory = root / "history"
    name = f"{prefix}.{time.strftime('%Y%m%d', time.gmtime(now))}.jsonl"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        try:
            descriptor = os.open(directory / name, flags, 0o664 if shared else 0o644)
        except FileNotFoundError:
            fs.make_directories(directory, shared)
            descriptor = os.open(directory / name, flags, 0o664 if shared else 0o644)
        try:
            if shared:
                fs.share(directory / name)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read_history(
    roots: Iterable[Path], prefix: str, days: int = DEFAULT_DAYS
) -> list[HistoryRecord]:
    """Records of the newest `days` files of each root, best candidates for warm-up first."""
    files: list[Path] = []
    for root in roots:
        with contextlib.suppress(OSError):
            files += sorted((root / "history").glob(f"{prefix}.*.jsonl"))[-days:]
    return read_files(files)


def read_files(files: Iterable[Path]) -> list[HistoryRecord]:
    """Records of history files, summed up per (tag, digest), best candidates first."""
    found: dict[tuple[str, str], HistoryRecord] = {}
    for file in files:
        with contextlib.suppress(OSError):
            for line in file.read_bytes().splitlines():
                record = _parse(line)
                if record is not None:
                    key = (record.tag, record.digest)
                    found[key] = _merge(found.get(key), record)
    return sorted(found.values(), key=lambda record: record.rank, reverse=True)


def _parse(line: bytes) -> HistoryRecord | None:
    try:
        raw = json.loads(line)
        return HistoryRecord(
            tag=str(raw["tag"]),
            digest=str(raw["digest"]),
            backend=str(raw["backend"]),
            uses=1,
            last_used=float(raw["time"]),
            build_s=float(raw["build_s"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _merge(old: HistoryRecord | None, new: HistoryRecord) -> HistoryRecord:
    if old is None:
        return new
    return HistoryRecord(
        new.tag,
        new.digest,
        new.backend,
        old.uses + 1,
        max(old.last_used, new.last_used),
        max(old.build_s, new.build_s),
    )
