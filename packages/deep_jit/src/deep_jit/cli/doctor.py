"""`deep-jit doctor`: a report that always prints (style.md 2.19)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .probes import PROBES, guarded
from .self_test import TARGETS, run_self_test

__all__ = ["run_doctor"]

_INDENT = "  "


def run_doctor(arguments: Sequence[str]) -> int:
    """Prints the report; returns 0 when the kernel ran on every target found, else 1.

    Args:
        arguments: words after `doctor`.
    """
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # argparse has printed its text
        return int(stop.code or 0)
    report: dict[str, Any] = {name: guarded(probe) for name, probe in PROBES.items()}
    if not options.no_self_test:
        _progress("running the self-test kernel; the first run builds the emulator runtime ...")
        report["self_test"] = {target: run_self_test(target) for target in TARGETS}
    text = json.dumps(report, indent=2) if options.json else "\n".join(_lines(report))
    print(text)
    results = report.get("self_test", {}).values()
    return 1 if any(result["status"] == "failed" for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deep-jit doctor",
        description="Report versions, compilers, CANN, devices and cache; run a kernel on every "
        "target found.",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--no-self-test", action="store_true", help="compile and run nothing")
    return parser


def _progress(text: str) -> None:
    print(f"[deep_jit] {text}", file=sys.stderr, flush=True)


def _lines(value: object, depth: int = 0) -> list[str]:
    """Returns nested values as indented lines."""
    pad = _INDENT * depth
    if isinstance(value, Mapping):
        lines = []
        for name, item in value.items():
            if isinstance(item, (Mapping, list)) and item:
                lines += [f"{pad}{name}:", *_lines(item, depth + 1)]
            else:
                lines.append(f"{pad}{name}: {_shown(name, item)}")
        return lines
    if isinstance(value, list):
        return [line for item in value for line in _list_item(item, depth)]
    return [f"{pad}{value}"]


def _list_item(item: object, depth: int) -> list[str]:
    lines = _lines(item, depth + 1)
    return [f"{_INDENT * depth}- {lines[0].strip()}", *lines[1:]] if lines else []


def _shown(name: str, value: object) -> str:
    if value is None or value in ({}, []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("bytes") and isinstance(value, int):
        return f"{value / (1 << 20):.1f} MiB"
    return str(value).rstrip("\n")
