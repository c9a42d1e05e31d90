"""Mutation score of kernels: deletes or weakens their statements one by one and asks who notices.

python tools/mutate.py bf16_gemm
python tools/mutate.py all --out packages/deep_jit/benchmarks/results     the committed report

A mutant counts as noticed when a checker reports something, the launch fails, the result is wrong,
or the text does not compile. One that nobody notices is listed; tools/mutation/reasons.json
(`Mutant.key` -> why the statement is redundant) sets mutants aside. Verdicts are kept in the JIT
cache: a rerun, also of one that was ended, judges only what has changed since.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parent))

from mutation.mutants import Mutant
from mutation.report import Outcome, Row, score, write
from mutation.subject import Subject
from mutation.verdicts import Verdicts

SUBJECTS = ("bf16_gemm", "mx_gemm", "programs", "tilelang_examples", "tile_kernels")
REASONS = Path(__file__).parent / "mutation" / "reasons.json"
MAX_JOBS = 2


def run_subject(subject: Subject, mutants: list[Mutant]) -> list[Outcome]:
    """Judges mutants, and prints each outcome.

    Raises:
        click.ClickException: somebody reports something about the intact kernels.
    """
    by, detail = subject.intact()
    if by:
        raise click.ClickException(f"{subject.name} is not silent when intact: {by} {detail}")
    return subject.run(
        mutants,
        lambda o: click.echo(f"{o.by or 'NOT NOTICED':12} {o.seconds:5.1f} s  {o.mutant.name}"),
    )


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
@click.option("-j", "--jobs", type=click.IntRange(1, MAX_JOBS), default=1, show_default=True)
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
@click.option("--fresh", is_flag=True, help="Neither use nor keep verdicts of earlier runs.")
@click.option("--list", "only_list", is_flag=True, help="List the mutants and stop.")
def main(
    subject: str,
    kinds: tuple[str, ...],
    only: str,
    jobs: int,
    timeout: float,
    out: Path | None,
    reasons_path: Path,
    fresh: bool,
    only_list: bool,
) -> None:
    """Print the mutation score of kernels; exit status 1 when a mutant stays unnoticed."""
    reasons = json.loads(reasons_path.read_text())
    verdicts = Verdicts.of_cache(fresh=fresh)
    rows: list[Row] = []
    for name in SUBJECTS if subject == "all" else (subject,):
        with Subject(name, jobs, timeout, verdicts, only_list) as it:
            mutants = [m for m in it.mutants if (not kinds or m.kind in kinds) and only in m.name]
            if only_list:
                click.echo("\n".join(m.name for m in mutants))
            elif mutants:
                rows += [outcome.row(reasons) for outcome in run_subject(it, mutants)]
                if out and not kinds and not only:
                    write(out, rows)
    if only_list:
        return
    _show(rows)
    noticed, counted = score(rows)
    sys.exit(0 if noticed == counted else 1)


if __name__ == "__main__":
    main()
