"""Generated texts of TileLang functions: written while they run, or others run in their place.

What is mutated is the Ascend C text that TileLang generates, so this also says whether the checkers
see through its device templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from .verdicts import CHECKER_OPTIONS

__all__ = ["read", "run_checked", "run_plain", "texts_read", "texts_written"]


def read(file: str) -> str:
    """The texts of the same case."""
    return f"{file.partition('.')[0]}.*"


@contextmanager
def texts_written(bridge: Any, folder: Path, case: str) -> Iterator[list[str]]:
    """Writes the texts that a case compiles: `<case>.<kernel>.asc`, `<case>.<kernel>.2.asc`, ...

    Args:
        bridge: the class of the bridge.
        folder: where to.
        case: no dot.

    Yields:
        The names of the files so far.
    """
    files: list[str] = []

    def write(file: str, source: str) -> str:
        if file not in files:
            (folder / file).write_text(source)
            files.append(file)
        return source

    with _other_source(bridge, case, write):
        yield files


@contextmanager
def texts_read(bridge: Any, folder: Path, case: str) -> Iterator[None]:
    """Compiles the texts of a folder in place of those that the case generates.

    A kernel that an earlier case had compiled has no text of this case: it stays as it is.
    """

    def find(file: str, source: str) -> str:
        path = folder / file
        return path.read_text() if path.exists() else source

    with _other_source(bridge, case, find):
        yield


@contextmanager
def _other_source(bridge: Any, case: str, change: Callable[[str, str], str]) -> Iterator[None]:
    compiled = bridge._compiled
    seen: dict[str, list[str]] = {}

    def other(self: Any, lowered: Any) -> Any:
        texts = seen.setdefault(lowered.name, [])
        if lowered.source not in texts:
            texts.append(lowered.source)
        number = texts.index(lowered.source) + 1
        file = f"{case}.{lowered.name}{f'.{number}' if number > 1 else ''}.asc"
        return compiled(self, replace(lowered, source=change(file, lowered.source)))

    bridge._compiled = other
    try:
        yield
    finally:
        bridge._compiled = compiled


def run_plain(component: str, call: Callable[[], object]) -> tuple[str, str] | None:
    """Calls something for its texts alone, without checkers; errors pass."""
    emulation = import_module(f"{component}._shared.emulator")
    with emulation.emulator(checks="none"):
        call()
    return None


def run_checked(component: str, call: Callable[[], object]) -> tuple[str, str] | None:
    """Calls something of a component under all checkers; None when it is silent and right.

    Errors that are neither the component's own nor a failed assertion are the harness's and pass.
    """
    emulation = import_module(f"{component}._shared.emulator")
    own: type[Exception] = import_module(f"{component}._shared.jit.errors").Error
    with emulation.emulator(**CHECKER_OPTIONS), emulation.record() as reports:
        try:
            call()
        except (own, AssertionError) as error:
            if not reports:
                by = "numeric" if isinstance(error, AssertionError) else type(error).__name__
                return by, str(error)[:300]
    return (reports[0].checker, str(reports[0])) if reports else None
