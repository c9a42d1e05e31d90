"""Writes the lowered kernels of common calls that ship with tile_kernels.

Usage: gen_texts.py [--check] [--fresh]. The calls are in tools/texts. Texts that are there and
current are kept, stale files are removed. With `--check` nothing is written: files that are missing
or stale are an error. The components must be installed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from texts.maker import make_texts
from texts.quant_cases import quant_cases
from texts.routing_cases import routing_cases
from tile_kernels._bridge import TEXTS
from tile_kernels._shared.jit.tilelang.shipped_texts import ShippedTexts


def calls() -> dict[str, Callable[[], Any]]:
    """All calls by name."""
    return routing_cases() | quant_cases()


def compare(folder: Path, contents: dict[str, str]) -> tuple[list[str], list[str]]:
    """Returns the names of files that should be written, and of those that nothing needs."""
    there = {path.name: path.read_text() for path in ShippedTexts(folder).files()}
    stale = [name for name, text in contents.items() if there.get(name) != text]
    return sorted(stale), sorted(there.keys() - contents.keys())


@click.command()
@click.option("--check", is_flag=True, help="Compare only; exit with 1 if files are not current.")
@click.option("--fresh", is_flag=True, help="Lower all kernels anew.")
def main(check: bool, fresh: bool) -> None:
    """Write or check the lowered kernels that ship."""
    known = ShippedTexts(Path(os.devnull) if fresh else TEXTS)
    with tempfile.TemporaryDirectory() as cache:
        workers = min(2, os.cpu_count() or 1)
        contents, missing = make_texts(calls, known, Path(cache), check, workers)
    wanted, unused = compare(TEXTS, contents)
    if check:
        if problems := [*missing, *wanted, *unused]:
            raise click.ClickException(
                f"{len(problems)} shipped texts are not current, the first are "
                f"{', '.join(problems[:5])}; run tools/gen_texts.py"
            )
    else:
        TEXTS.mkdir(exist_ok=True)
        for name in wanted:
            (TEXTS / name).write_text(contents[name])
        for name in unused:
            (TEXTS / name).unlink()
    size = sum(len(text) for text in contents.values()) / 1e6
    print(f"texts: {len(contents)}, {size:.2f} MB; wrote {len(wanted)}, removed {len(unused)}")


if __name__ == "__main__":
    main()
