"""Timelines as Chrome traces, for Perfetto and MindStudio Insight (emulator.md section 5)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .frames import source_lines
from .timing import TimingProfile, replay_trace, save_trace
from .timing_trace import PIPES, Array, Trace, read_spans, read_trace

__all__ = ["Timeline", "load_timeline", "write_chrome_trace"]

_VECTOR_FUNCTIONS = ("VectorFunction", "SimtFunction")
_MOST_EVENTS = 2_000_000


@dataclass(frozen=True)
class Timeline:
    """Start and end of every instruction of one launch, modelled.

    Attributes:
        profile: totals of the launch.
        trace: what the instructions were.
        spans: fields core, record, start, end; times in core cycles.
    """

    profile: TimingProfile
    trace: Trace
    spans: Array

    def of_core(self, core: int) -> Array:
        """Returns the spans of one core, by start; `core` indexes `trace.cores`."""
        mine = self.spans[self.spans["core"] == core]
        ordered: Array = mine[np.argsort(mine["start"], kind="stable")]
        return ordered


def load_timeline(
    path: str | os.PathLike[str] | None = None,
    *,
    mode: str = "",
    constants: Mapping[str, float] | None = None,
) -> Timeline:
    """Returns the timeline of a trace file; None for the last timed kernel.

    Args:
        path: a file of `save_trace`.
        mode: ``fast`` or ``replay``; "" for that of the run, ``replay`` with a file.
        constants: values to use in place of those of `timing_constants`.

    Raises:
        ConfigError: the file is no trace.
        LaunchError: there is no timed kernel.
    """
    from .timing import last_profile

    chosen = mode or ("replay" if path is not None else last_profile().mode)
    with tempfile.TemporaryDirectory(prefix="asc-emu-") as folder:
        file = Path(path) if path is not None else Path(folder) / "trace"
        if path is None:
            save_trace(file)
        spans = Path(folder) / "spans"
        profile = replay_trace(file, mode=chosen, constants=constants, spans=spans)
        return Timeline(profile, read_trace(file), read_spans(spans))


def write_chrome_trace(
    path: str | os.PathLike[str],
    timeline: Timeline | None = None,
    *,
    blocks: Sequence[int] | None = None,
) -> None:
    """Writes a timeline as Chrome-trace JSON: a core is a process, a pipe is a thread.

    Args:
        path: file to write; open it at https://ui.perfetto.dev or in MindStudio Insight.
        timeline: None for the last timed kernel.
        blocks: blocks to write; None for all, or as many as make two million instructions.

    Each event carries the bytes (or multiply-adds) and the source line of its instruction; a vector
    function carries the registers that it loads and stores, and the cycles that UB lost to bank
    conflicts. Times are modelled.
    """
    timeline = timeline or load_timeline()
    cores = _chosen_cores(timeline, blocks)
    target = Path(path)
    part = target.with_name(f"{target.name}.part")
    with part.open("w") as out:
        out.write('{"displayTimeUnit": "ns", "otherData": ')
        json.dump(_about(timeline), out)
        out.write(', "traceEvents": [\n')
        _write_events(out, timeline, cores)
        out.write("\n]}\n")
    part.replace(target)


def _about(timeline: Timeline) -> dict[str, Any]:
    profile = timeline.profile
    return {
        "note": "modelled time, not a measurement",
        "kernel": profile.kernel,
        "mode": profile.mode,
        "duration_us": profile.duration_us,
        "launch_us": profile.launch_us,
        "verdict": profile.verdict,
    }


def _chosen_cores(timeline: Timeline, blocks: Sequence[int] | None) -> list[int]:
    cores = timeline.trace.cores
    if blocks is not None:
        return [index for index, core in enumerate(cores) if core.block in blocks]
    counts = np.bincount(timeline.spans["core"], minlength=len(cores))
    kept = int(np.searchsorted(np.cumsum(counts), _MOST_EVENTS, side="right"))
    return list(range(max(kept, 1)))


def _write_events(out: TextIO, timeline: Timeline, cores: Sequence[int]) -> None:
    first = True
    for core in cores:
        for event in _core_events(timeline, core):
            out.write("" if first else ",\n")
            out.write(json.dumps(event, separators=(",", ":")))
            first = False


def _core_events(timeline: Timeline, index: int) -> Iterator[dict[str, Any]]:
    core = timeline.trace.cores[index]
    spans = timeline.of_core(index)
    records = core.records[spans["record"]]
    yield _meta("process_name", index, 0, f"block {core.block} {core.slot}")
    for pipe in np.unique(records["pipe"]):
        yield _meta("thread_name", index, int(pipe), PIPES[pipe])
    lines = source_lines(timeline.trace.object, np.unique(records["site"]))
    scale = 1 / timeline.profile.clock_mhz
    for span, record in zip(spans, records, strict=True):
        site = int(record["site"])
        name = timeline.trace.op_names[record["op"]]
        arguments = _arguments(name, record)
        if site in lines:
            arguments["line"] = lines[site]
        yield {
            "name": name,
            "ph": "X",
            "pid": index,
            "tid": int(record["pipe"]),
            "ts": round(float(span["start"]) * scale, 4),
            "dur": round(float(span["end"] - span["start"]) * scale, 4),
            "args": arguments,
        }


def _arguments(name: str, record: np.void) -> dict[str, Any]:
    amount = int(record["bytes"])
    if name in _VECTOR_FUNCTIONS:
        loads, conflicts = amount & 0xFFFFFFFF, amount >> 32
        stores = int(record["value"])
        return {"loads": loads, "stores": stores, "bank_conflict_cycles": conflicts / 2}
    return {"multiply_adds" if record["pipe"] == PIPES.index("M") else "bytes": amount}


def _meta(kind: str, core: int, pipe: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": core, "tid": pipe, "args": {"name": name}}
