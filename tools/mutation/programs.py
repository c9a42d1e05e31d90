"""Runs example programs of one folder under all checkers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .verdicts import CHECKER_OPTIONS

FILES = ("01_copy.asc", "02_matmul.asc", "03_mailbox.asc", "04_simt.asc")
_EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "deep_jit" / "examples"


def warm() -> None:
    """Imports what judging needs."""
    from deep_jit import run  # noqa: F401
    from deep_jit.cli import findings  # noqa: F401


def prepare(folder: Path, checked: bool = True) -> list[str]:
    """Copies the programs."""
    for name in FILES:
        shutil.copy(_EXAMPLES / name, folder)
    return list(FILES)


def read(file: str) -> str:
    """A program is one file."""
    return file


def sources(file: str) -> Sequence[Path]:
    """The package that runs programs."""
    import deep_jit

    return [Path(deep_jit.__file__).resolve().parent]


def judge(folder: Path, file: str | None) -> tuple[str, str] | None:
    """Runs one program, or all; None when they are silent and right."""
    names = [file] if file else FILES
    return next((found for name in names if (found := _run(folder / name)) is not None), None)


def _run(path: Path) -> tuple[str, str] | None:
    from deep_jit._shared.jit.errors import Error
    from deep_jit.cli.findings import read_report_file
    from deep_jit.run import run_program

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "reports.jsonl"
        try:
            status = run_program(path, options=CHECKER_OPTIONS, report_path=report)
        except Error as error:
            return type(error).__name__, str(error)[:300]
        found = read_report_file(report)
    if found:
        return found[0].checker, str(found[0])
    return ("numeric", f"exit status {status}") if status else None
