"""What `deep-jit run --sanitize` prints, and its exit status (emulator.md section 4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from .._shared.emulator.sanitizer import Finding, read_reports

__all__ = ["exit_status", "read_report_file", "show"]


def read_report_file(path: Path) -> list[Finding]:
    """Returns the findings that a program's runtime left in a file, one launch a line."""
    if not path.exists():
        return []
    launches = [json.loads(line) for line in path.read_text().splitlines()]
    return read_reports([item for launch in launches for item in launch.get("reports", ())])


def show(
    reports: Sequence[Finding],
    *,
    as_json: bool,
    written: Iterable[Path] = (),
    profiles: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Prints findings: texts to stderr, or one JSON object to stdout.

    Args:
        reports: the findings.
        as_json: print ``{"errors": n, "warnings": n, "reports": [...], "written": [...],
            "profiles": [...]}``.
        written: files that the run wrote.
        profiles: modelled time of each launch, for JSON.
    """
    errors, warnings = _count(reports)
    if as_json:
        items = [report.to_json() for report in reports]
        paths = [str(path) for path in written]
        result = {
            "errors": errors,
            "warnings": warnings,
            "reports": items,
            "written": paths,
            "profiles": list(profiles),
        }
        click.echo(json.dumps(result, indent=1))
        return
    for report in reports:
        click.echo(f"{report}\n", err=True)
    click.echo(f"checkers: {errors} errors, {warnings} warnings", err=True)


def exit_status(reports: Sequence[Finding], error_exitcode: int, status: int = 0) -> int:
    """Returns `error_exitcode` when there is an error among the findings, else `status`."""
    return error_exitcode if _count(reports)[0] else status


def _count(reports: Sequence[Finding]) -> tuple[int, int]:
    errors = sum(report.severity == "error" for report in reports)
    return errors, len(reports) - errors
