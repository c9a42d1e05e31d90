"""Reports of failed launches: the runtime's JSON as text with source lines (emulator.md 4)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import Any

__all__ = ["parse_report", "report_text", "source_lines"]

_OWN_FOLDERS = ("/ascend_emu/", "/mad/")
_TIMEOUT_S = 10.0


def parse_report(text: str) -> dict[str, Any]:
    """Returns the report that a runtime gave; text that is no JSON object becomes its message."""
    try:
        report = json.loads(text)
    except ValueError:
        report = None
    if isinstance(report, dict):
        return report
    return {"kind": "unknown", "message": text or "the emulator runtime gave no reason"}


def report_text(report: Mapping[str, Any]) -> str:
    """Returns a report for people: what happened, where, and who waits for what."""
    lines = [str(report.get("message", "the kernel failed"))]
    place = [
        f"{label} {report[key]}"
        for key, label in (("kernel", "kernel"), ("block", "block"), ("core", "core"))
        if key in report
    ]
    if place:
        lines.append("  in " + ", ".join(place))
    if "instruction" in report:
        lines.append(f"  instruction {report['instruction']}")
    lines += [f"  at {line}" for line in source_lines(report)]
    return "\n".join(lines)


def source_lines(report: Mapping[str, Any]) -> list[str]:
    """Returns `function at file:line` of the failing place, innermost first.

    Frames inside the emulated API and `mad` come last, so that the first line is the kernel's own.
    The list is empty when the object holds no line numbers (option `source_map`) or there is no
    addr2line.
    """
    object_path, offset = report.get("object"), report.get("offset")
    if not isinstance(object_path, str) or not isinstance(offset, int):
        return []
    # NOTE: the place of a call is its return address; one byte back lies inside the call.
    address = offset if report.get("kind") == "signal" else offset - 1
    frames = _inline_chain(object_path, address)
    own = [frame for frame in frames if any(folder in frame for folder in _OWN_FOLDERS)]
    return [frame for frame in frames if frame not in own] + own


def _inline_chain(object_path: str, address: int) -> list[str]:
    from ..jit.errors import Error
    from ..jit.process import run_tool

    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if tool is None:
        return []
    try:
        done = run_tool(
            [tool, "-i", "-f", "-C", "-e", object_path, hex(address)], timeout=_TIMEOUT_S
        )
    except Error:
        return []
    if done.returncode != 0:
        return []
    lines = done.output.splitlines()
    pairs = zip(lines[0::2], lines[1::2], strict=False)
    return [f"{name} at {_plain(place)}" for name, place in pairs if not place.startswith("??")]


def _plain(place: str) -> str:
    place = place.partition(" (")[0]
    while place.startswith("./"):
        place = place[2:]
    return place
