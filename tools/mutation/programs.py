"""Runs example programs of one folder under all checkers; a worker process of `mutate.py`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

FILES = ("01_copy.asc", "02_matmul.asc", "03_mailbox.asc", "04_simt.asc")


def include_root() -> Path:
    """The folder of the examples."""
    return Path(__file__).resolve().parents[2] / "packages" / "deep_jit" / "examples"


def run_one(path: Path) -> tuple[str, str] | None:
    """Runs a program; None when it is silent and right."""
    from deep_jit._shared.jit.errors import Error
    from deep_jit.cli.findings import read_report_file
    from deep_jit.run import run_program

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "reports.jsonl"
        options: dict[str, object] = {"checks": "all", "threads": 1}
        try:
            status = run_program(path, options=options, report_path=report)
        except Error as error:
            return type(error).__name__, str(error)[:300]
        found = read_report_file(report)
    if found:
        return found[0].checker, str(found[0])
    return ("numeric", f"exit status {status}") if status else None


def main(folder: str, file: str | None = None) -> None:
    """Runs the mutated program, or all."""
    # NOTE: the verdict has this process's stdout; the programs' own lines go to stderr
    verdict = os.dup(1)
    os.dup2(2, 1)
    by, detail = "", ""
    for name in [file] if file else FILES:
        found = run_one(Path(folder) / name)
        if found is not None:
            by, detail = found
            break
    os.write(verdict, json.dumps({"by": by, "detail": detail}).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
