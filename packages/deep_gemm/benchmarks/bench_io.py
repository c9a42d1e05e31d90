"""Rows of a benchmark as CSV and as a table; every row carries the command that repeats it."""

from __future__ import annotations

import csv
import datetime
import platform
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.table import Table


@cache
def machine() -> str:
    """Processor name as the kernel reports it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


class CsvTable:
    """Rows with fixed columns, plus machine, date and command."""

    def __init__(self, columns: tuple[str, ...], command: str) -> None:
        self.columns = columns
        self.rows: list[dict[str, object]] = []
        self._common = {
            "machine": machine(),
            "date": datetime.date.today().isoformat(),
            "command": command,
        }

    def add(self, **values: object) -> None:
        """Adds a row; columns that are not named stay empty."""
        unknown = set(values) - set(self.columns)
        if unknown:
            raise ValueError(f"unknown columns {sorted(unknown)}; allowed: {self.columns}")
        self.rows.append(values)

    def write(self, path: Path) -> None:
        """Writes all rows."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*self.columns, *self._common], lineterminator="\n")
            writer.writeheader()
            for row in self.rows:
                writer.writerow(row | self._common)


def print_rows(title: str, table: CsvTable) -> None:
    """The rows as a table on the terminal."""
    view = Table(title=title)
    for column in table.columns:
        view.add_column(column, overflow="fold")
    for row in table.rows:
        view.add_row(*(str(row.get(column, "")) for column in table.columns))
    Console(width=120).print(view)
