"""Outcomes of mutants: their score, as a CSV file and as a page."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .mutants import Mutant

__all__ = ["Outcome", "score", "write"]

COLUMNS = ("subject", "file", "line", "kind", "statement", "edit", "noticed_by", "set_aside")
Row = dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        subject: the kernels it was tried on.
        mutant: the edit.
        by: a checker, ``numeric``, an error's name, ``timeout``, or empty: nobody noticed.
        detail: what was said.
        seconds: how long it took.
    """

    subject: str
    mutant: Mutant
    by: str
    detail: str
    seconds: float

    def row(self, reasons: Mapping[str, str]) -> Row:
        """A line of the CSV file."""
        m = self.mutant
        reason = "" if self.by else reasons.get(m.key, "")
        cells = (self.subject, str(m.file), str(m.line), m.kind, m.text, m.new, self.by, reason)
        return dict(zip(COLUMNS, cells, strict=True))


def score(rows: Sequence[Row]) -> tuple[int, int]:
    """Returns how many were noticed, and how many count; those set aside do not."""
    counted = [row for row in rows if not row["set_aside"]]
    return sum(bool(row["noticed_by"]) for row in counted), len(counted)


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Writes mutation.csv and mutation.md; rows of other subjects that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mutation.csv"
    mine = {row["subject"] for row in rows}
    kept = [row for row in _read(path) if row["subject"] not in mine]
    everything = sorted([*kept, *rows], key=lambda row: row["subject"])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(everything)
    (folder / "mutation.md").write_text(_page(everything))


def _read(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _page(rows: Sequence[Row]) -> str:
    lines = [
        "# Mutation score of the kernels",
        "",
        "Each synchronisation statement, stage number, unit flag, bounds guard and fill of the "
        "kernels is deleted or weakened in turn, and the kernel runs under all four checkers and a "
        "numeric test. Noticed: somebody says so. The intact kernels are silent. Kernels in "
        "TileLang are mutated in the text that it generates; of one that is compiled in several "
        "forms, texts with the same statements are mutated once. Made by "
        "`python tools/mutate.py all --out packages/deep_jit/benchmarks/results`.",
        "",
        "| kernels | kind | mutants | noticed | by | set aside |",
        "|---|---|---|---|---|---|",
    ]
    for subject, kind in dict.fromkeys((row["subject"], row["kind"]) for row in rows):
        group = [row for row in rows if (row["subject"], row["kind"]) == (subject, kind)]
        lines.append(_summary(subject, kind, group))
    sync = [row for row in rows if row["kind"] in ("sync", "stage", "unit_flag")]
    lines += ["", f"Score: {_percent(rows)}; synchronisation alone: {_percent(sync)}."]
    missed = [row for row in rows if not row["noticed_by"]]
    for title, those in (
        ("Set aside", [row for row in missed if row["set_aside"]]),
        ("Not noticed", [row for row in missed if not row["set_aside"]]),
    ):
        if those:
            lines += ["", f"## {title}", "", *map(_line, those)]
    return "\n".join(lines) + "\n"


def _percent(rows: Sequence[Row]) -> str:
    noticed, counted = score(rows)
    return f"{noticed} of {counted}, {100 * noticed / max(counted, 1):.1f} %"


def _summary(subject: str, kind: str, group: Sequence[Row]) -> str:
    by = Counter(row["noticed_by"] for row in group if row["noticed_by"])
    who = ", ".join(f"{name} {count}" for name, count in by.most_common())
    aside = sum(bool(row["set_aside"]) for row in group)
    cells = (subject, kind, str(len(group)), str(sum(by.values())), who, str(aside or ""))
    return f"| {' | '.join(cells)} |"


def _line(row: Row) -> str:
    place = f"* `{row['file']}:{row['line']}`: `{row['statement']}` -> `{row['edit']}`"
    return f"{place}: {row['set_aside']}" if row["set_aside"] else place
