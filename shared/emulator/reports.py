"""Reports of failed launches: the runtime's JSON as text with source lines (emulator.md 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .frames import Address, frames_of

__all__ = ["parse_report", "report_text", "source_lines"]


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
    address = Address(object_path, offset if report.get("kind") == "signal" else offset - 1)
    frames = frames_of([address]).get(address, ())
    return [str(f) for f in frames if not f.is_own] + [str(f) for f in frames if f.is_own]
