"""Mutation score of a kernel: deletes or weakens its statements one by one and asks who notices.

python tools/mutate.py bf16_gemm --csv mutation.csv

A mutant counts as noticed when a checker reports something, the launch fails, the result is wrong,
or the text does not compile. One that nobody notices is listed; a file of reasons
(`--accepted reasons.json`: name -> why the statement is redundant) sets mutants aside.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from mutation.mutants import Mutant, find_mutants

SUBJECTS = ("bf16_gemm",)
MAX_JOBS = 2


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant. `by` is the checker, `numeric`, an error's name, or empty."""

    mutant: Mutant
    by: str
    detail: str
    seconds: float


def run_mutant(program: Path, include: Path, mutant: Mutant | None, timeout: float) -> Outcome:
    """Runs one mutant, or with None the intact kernel, in a process of its own."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "include"
        shutil.copytree(include, copy)
        if mutant is not None:
            file = copy / mutant.file
            file.write_text(mutant.apply(file.read_text()))
        by, detail = _ask(program, copy, timeout)
    seconds = time.monotonic() - start
    return Outcome(mutant or _intact(), by, detail, seconds)


def _intact() -> Mutant:
    return Mutant(Path("-"), 0, "intact", 0, 0, "", "")


def _ask(program: Path, include: Path, timeout: float) -> tuple[str, str]:
    try:
        done = subprocess.run(
            [sys.executable, os.fspath(program), os.fspath(include)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "timeout", f"longer than {timeout:.0f} s"
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        answer = json.loads(lines[-1])
        return str(answer["by"]), str(answer["detail"])
    return f"exit {done.returncode}", done.stderr.strip()[-300:]


def _score(outcomes: list[Outcome], accepted: dict[str, str]) -> tuple[int, int]:
    """Noticed ones, and all that count."""
    counted = [o for o in outcomes if o.by or o.mutant.name not in accepted]
    return sum(bool(o.by) for o in counted), len(counted)


def _write_csv(path: Path, outcomes: list[Outcome], accepted: dict[str, str]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("file", "line", "kind", "statement", "edit", "noticed_by", "accepted"))
        for o in outcomes:
            m = o.mutant
            reason = "" if o.by else accepted.get(m.name, "")
            rows.writerow((m.file, m.line, m.kind, m.text, m.new, o.by, reason))


def _show(console: Console, outcomes: list[Outcome], accepted: dict[str, str]) -> None:
    kinds = Table("kind", "mutants", "noticed", "by")
    for kind in dict.fromkeys(o.mutant.kind for o in outcomes):
        group = [o for o in outcomes if o.mutant.kind == kind]
        by = Counter(o.by for o in group if o.by)
        who = ", ".join(f"{name} {count}" for name, count in by.most_common())
        kinds.add_row(kind, str(len(group)), str(sum(bool(o.by) for o in group)), who)
    console.print(kinds)
    missed = [o for o in outcomes if not o.by]
    if missed:
        table = Table("not noticed", "edit", "accepted because")
        for o in missed:
            place = f"{o.mutant.file}:{o.mutant.line}"
            edit = f"{o.mutant.text} -> {o.mutant.new}"
            table.add_row(place, edit, accepted.get(o.mutant.name, ""))
        console.print(table)
    noticed, counted = _score(outcomes, accepted)
    console.print(f"score: {noticed} of {counted} ({100 * noticed / max(counted, 1):.1f} %)")


@click.command()
@click.argument("subject", type=click.Choice(SUBJECTS))
@click.option("--kind", "kinds", multiple=True, help="Only mutants of this kind (repeatable).")
@click.option("--jobs", type=click.IntRange(1, MAX_JOBS), default=1, show_default=True)
@click.option("--timeout", type=float, default=240.0, show_default=True, help="Seconds a mutant.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write all outcomes.")
@click.option("--accepted", type=click.Path(exists=True, path_type=Path), help="Reasons, JSON.")
@click.option("--list", "only_list", is_flag=True, help="List the mutants and stop.")
def main(
    subject: str,
    kinds: tuple[str, ...],
    jobs: int,
    timeout: float,
    csv_path: Path | None,
    accepted: Path | None,
    only_list: bool,
) -> None:
    """Print the mutation score of a kernel; exit status 1 when a mutant stays unnoticed."""
    console = Console()
    module = import_module(f"mutation.{subject}")
    include, program = module.include_root(), Path(str(module.__file__))
    mutants = find_mutants(include, [Path(file) for file in module.FILES])
    mutants = [m for m in mutants if not kinds or m.kind in kinds]
    if only_list:
        for m in mutants:
            console.print(m.name, highlight=False, markup=False, soft_wrap=True)
        return
    intact = run_mutant(program, include, None, timeout)
    if intact.by:
        raise click.ClickException(f"the intact kernel is not silent: {intact.by} {intact.detail}")
    reasons = json.loads(accepted.read_text()) if accepted else {}
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(jobs) as pool:
        for o in pool.map(lambda m: run_mutant(program, include, m, timeout), mutants):
            outcomes.append(o)
            mark = o.by or "NOT NOTICED"
            console.print(
                f"{mark:12} {o.seconds:5.1f} s  {o.mutant.name}", markup=False, soft_wrap=True
            )
    if csv_path:
        _write_csv(csv_path, outcomes, reasons)
    _show(console, outcomes, reasons)
    noticed, counted = _score(outcomes, reasons)
    sys.exit(0 if noticed == counted else 1)


if __name__ == "__main__":
    main()
