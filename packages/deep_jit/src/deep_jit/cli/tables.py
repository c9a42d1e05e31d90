"""Tables and units of the command line, by rich on a terminal and plain in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

__all__ = ["age_text", "print_table", "size_text"]


def size_text(count: float) -> str:
    """Returns a number of bytes for people: `12.5 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError("the last unit ends the loop")


def age_text(moment: float) -> str:
    """Returns how long ago a moment was: `3 h ago`."""
    seconds = max(0.0, time.time() - moment)
    for limit, unit, length in ((120, "s", 1), (7200, "min", 60), (172800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} days ago"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; in a pipe, one line per row with tabs, so that tools can cut it."""
    if not sys.stdout.isatty():
        click.echo("\t".join(columns))
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
