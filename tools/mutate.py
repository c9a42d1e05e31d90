"""Mutation score of kernels: deletes or weakens their statements one by one and asks who notices.

python tools/mutate.py bf16_gemm
python tools/mutate.py all --out packages/deep_jit/benchmarks/results     the committed report

A mutant counts as noticed when a checker reports something, the launch fails, the result is wrong,
or the text does not compile. One that nobody notices is listed; tools/mutation/reasons.json
(`Mutant.key` -> why the statement is redundant) sets mutants aside.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parent))

from mutation.mutants import Mutant, find_mutants
from mutation.report import Outcome, Row, score, write

SUBJECTS = ("bf16_gemm", "mx_gemm", "programs", "tilelang_examples")
REASONS = Path(__file__).parent / "mutation" / "reasons.json"
MAX_JOBS = 2


class Subject:
    """One of SUBJECTS: a folder with device sources, and a program that runs such a folder."""

    def __init__(self, name: str, timeout: float) -> None:
        module = import_module(f"mutation.{name}")
        self.name = name
        self._timeout = timeout
        self._root: Path = module.include_root()
        self._program = Path(str(module.__file__))
        self.mutants = find_mutants(self._root, [Path(file) for file in module.FILES])

    def run(self, mutant: Mutant | None) -> Outcome:
        """Runs a mutant, or with None what is intact, in a process of its own."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            copy = Path(folder) / "include"
            shutil.copytree(self._root, copy)
            words = [sys.executable, os.fspath(self._program), os.fspath(copy)]
            if mutant is not None:
                file = copy / mutant.file
                file.write_text(mutant.apply(file.read_text()))
                words.append(os.fspath(mutant.file))
            by, detail = self._ask(words)
        intact = Mutant(Path("-"), 0, "intact", 0, 0, "", "")
        return Outcome(self.name, mutant or intact, by, detail, time.monotonic() - start)

    def _ask(self, words: list[str]) -> tuple[str, str]:
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=self._timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return "timeout", f"longer than {self._timeout:.0f} s"
        lines = done.stdout.strip().splitlines()
        if done.returncode == 0 and lines:
            answer = json.loads(lines[-1])
            return str(answer["by"]), str(answer["detail"])
        return f"exit {done.returncode}", done.stderr.strip()[-300:]


def run_subject(subject: Subject, mutants: list[Mutant], jobs: int) -> list[Outcome]:
    """Runs mutants, and prints each outcome.

    Raises:
        click.ClickException: somebody reports something about the intact kernels.
    """
    intact = subject.run(None)
    if intact.by:
        raise click.ClickException(
            f"{subject.name} is not silent when intact: {intact.by} {intact.detail}"
        )
    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        for o in pool.map(subject.run, mutants):
            outcomes.append(o)
            click.echo(f"{o.by or 'NOT NOTICED':12} {o.seconds:5.1f} s  {o.mutant.name}")
    return outcomes


def _show(rows: list[Row]) -> None:
    for row in rows:
        if not row["noticed_by"]:
            place = f"{row['file']}:{row['line']}: `{row['statement']}` -> `{row['edit']}`"
            reason = row["set_aside"]
            click.echo(f"not noticed: {place}" + (f"\n  set aside: {reason}" if reason else ""))
    noticed, counted = score(rows)
    click.echo(f"score: {noticed} of {counted} ({100 * noticed / max(counted, 1):.1f} %)")


@click.command()
@click.argument("subject", type=click.Choice((*SUBJECTS, "all")))
@click.option("--kind", "kinds", multiple=True, help="Only mutants of this kind (repeatable).")
@click.option("--only", default="", help="Only mutants whose name holds this text.")
@click.option("--jobs", type=click.IntRange(1, MAX_JOBS), default=1, show_default=True)
@click.option("--timeout", type=float, default=240.0, show_default=True, help="Seconds a mutant.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for mutation.csv and mutation.md; needs a whole subject.",
)
@click.option(
    "--reasons",
    "reasons_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=REASONS,
    help="Which mutants are set aside, and why (JSON).",
)
@click.option("--list", "only_list", is_flag=True, help="List the mutants and stop.")
def main(
    subject: str,
    kinds: tuple[str, ...],
    only: str,
    jobs: int,
    timeout: float,
    out: Path | None,
    reasons_path: Path,
    only_list: bool,
) -> None:
    """Print the mutation score of kernels; exit status 1 when a mutant stays unnoticed."""
    reasons = json.loads(reasons_path.read_text())
    rows: list[Row] = []
    for name in SUBJECTS if subject == "all" else (subject,):
        it = Subject(name, timeout)
        mutants = [m for m in it.mutants if (not kinds or m.kind in kinds) and only in m.name]
        if only_list:
            click.echo("\n".join(m.name for m in mutants))
        elif mutants:
            rows += [outcome.row(reasons) for outcome in run_subject(it, mutants, jobs)]
            if out and not kinds and not only:
                write(out, rows)
    if only_list:
        return
    _show(rows)
    noticed, counted = score(rows)
    sys.exit(0 if noticed == counted else 1)


if __name__ == "__main__":
    main()
