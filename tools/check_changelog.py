"""Checks changelog fragments (style.md section 8).

Every fragment has a known type and one short sentence. With `--base REF`, each component whose
wheel changed since REF has a new fragment; a change in `shared/` changes all wheels.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click

from _repository import ROOT, components

TYPES = ("added", "changed", "fixed", "performance", "deprecated", "removed")
LIMIT = 80
# `<issue>.<type>.md`; a number tells several fragments of one kind and issue apart.
NAME = re.compile(rf"[^.]+\.({'|'.join(TYPES)})(\.\d+)?\.md")
# Folders of a component that its wheel and sdist do not hold.
OUTSIDE = ("tests/", "benchmarks/", "examples/", "docs/", "changelog.d/", "CHANGELOG.md")


def check_fragment(path: Path) -> list[str]:
    """Returns what is wrong with one fragment."""
    problems = []
    if not NAME.fullmatch(path.name):
        problems.append(f"{path}: wanted <issue>.<type>.md with a type of {', '.join(TYPES)}")
    lines = path.read_text().strip().splitlines()
    if len(lines) != 1:
        problems.append(f"{path}: {len(lines)} lines; wanted one sentence")
    problems += [
        f"{path}: a line of {len(line)} characters; wanted at most {LIMIT - 1}"
        for line in lines
        if len(line) >= LIMIT
    ]
    return problems


def fragments(root: Path, component: str) -> list[Path]:
    """Returns the fragments of a component."""
    folder = root / "packages" / component / "changelog.d"
    return [path for path in sorted(folder.iterdir()) if path.name != "README.md"]


def changed_components(files: list[str], names: list[str]) -> list[str]:
    """Returns the components whose wheels differ when `files` changed."""
    if any(name.startswith("shared/") and "/tests/" not in name for name in files):
        return names
    found = set()
    for file in files:
        parts = file.split("/", 2)
        if len(parts) == 3 and parts[0] == "packages" and not parts[2].startswith(OUTSIDE):
            found.add(parts[1])
    return [name for name in names if name in found]


def check_changes(files: list[str], names: list[str]) -> list[str]:
    """Returns the components that changed without a new fragment, as problems."""
    return [
        f"packages/{name} changed without a fragment: add packages/{name}/changelog.d/"
        f"<issue>.<type>.md"
        for name in changed_components(files, names)
        if not any(
            file.startswith(f"packages/{name}/changelog.d/") and not file.endswith("README.md")
            for file in files
        )
    ]


def changed_files(base: str) -> list[str]:
    """Returns the files that differ from `base`, those not yet committed as well."""
    command = ["git", "diff", "--name-only", "--no-renames", base]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return output.splitlines()


@click.command()
@click.option("--base", help="Commit to compare with, for example the tip of the main branch.")
def main(base: str | None) -> None:
    """Check the fragments of all components."""
    names = components()
    problems = [
        problem
        for name in names
        for path in fragments(ROOT, name)
        for problem in check_fragment(path)
    ]
    if base:
        problems += check_changes(changed_files(base), names)
    if problems:
        raise click.ClickException("\n".join(problems))
    print("changelog: fine")


if __name__ == "__main__":
    main()
