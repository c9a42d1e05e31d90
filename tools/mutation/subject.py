"""One subject of the mutation: its intact sources in a folder, and the mutants of them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from .mutants import Mutant, find_mutants
from .report import Outcome
from .verdicts import Verdicts
from .workers import Workers

__all__ = ["Subject"]

Verdict = tuple[str, str]


class Module(Protocol):
    """What the module of a subject has; all but `sources` and `read` run in a worker process."""

    __file__: str

    def warm(self) -> None:
        """Imports what judging needs."""

    def prepare(self, folder: Path, checked: bool = True) -> list[str]:
        """Writes the intact sources into a folder and returns the names of those to mutate.

        Those that must run for it do so under the checkers, unless only a list is wanted.
        """

    def judge(self, folder: Path, file: str | None) -> Verdict | None:
        """Runs what an edited file decides, or everything; None: silent and right."""

    def read(self, file: str) -> str:
        """Pattern of the files of the folder that are read when `file` is edited."""

    def sources(self, file: str) -> Sequence[Path]:
        """Files and folders that decide a verdict besides the folder and the module itself."""


class Subject:
    """A subject with its worker processes.

    Args:
        name: module of this package.
        jobs: how many mutants are judged at a time.
        timeout: seconds a mutant may take.
        verdicts: of earlier runs.
        only_list: nothing will be judged.
    """

    def __init__(
        self, name: str, jobs: int, timeout: float, verdicts: Verdicts, only_list: bool = False
    ) -> None:
        self.name = name
        self._module = cast(Module, import_module(f"mutation.{name}"))
        self._jobs = jobs
        self._workers = Workers(name, jobs, timeout)
        self._verdicts = verdicts
        self._folder = Path(tempfile.mkdtemp(prefix=f"mutation-{name}-"))
        self._root = self._folder / "include"
        self._root.mkdir()
        files = self._workers.prepare(self._root, checked=not only_list)
        self.mutants = find_mutants(self._root, [Path(file) for file in files])

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *error: object) -> None:
        self._workers.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def intact(self) -> Verdict:
        """Who reports something about the intact sources; empty when all are silent."""
        key = self._key("*", "", None)
        known = self._verdicts.find(key)
        if known is None:
            known = self._workers.judge(self._root, None)
            if not known[0]:
                self._verdicts.keep(key, *known)
        return known

    def run(self, mutants: Sequence[Mutant], tell: Callable[[Outcome], None]) -> list[Outcome]:
        """Judges mutants, and tells each outcome as soon as it and those before it are known."""
        outcomes = []
        with ThreadPoolExecutor(self._jobs) as pool:
            for outcome in pool.map(self._run, mutants):
                tell(outcome)
                outcomes.append(outcome)
        return outcomes

    def _run(self, mutant: Mutant) -> Outcome:
        start = time.monotonic()
        text = mutant.apply((self._root / mutant.file).read_text())
        key = self._key(self._module.read(str(mutant.file)), str(mutant.file), text)
        known = self._verdicts.find(key)
        if known is None:
            with self._edited(mutant, text) as folder:
                known = self._workers.judge(folder, str(mutant.file))
            self._verdicts.keep(key, *known)
        return Outcome(self.name, mutant, *known, time.monotonic() - start)

    @contextmanager
    def _edited(self, mutant: Mutant, text: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            copy = Path(folder) / "include"
            shutil.copytree(self._root, copy)
            (copy / mutant.file).write_text(text)
            yield copy

    def _key(self, pattern: str, file: str, text: str | None) -> str:
        """Key of a verdict: `text` takes the place of the text of `file`."""
        names = sorted(p for p in self._root.rglob(pattern) if p.is_file() and p.suffix != ".pt")
        texts = [(str(p.relative_to(self._root)), p) for p in names]
        pairs = [(n, text if n == file and text is not None else p.read_text()) for n, p in texts]
        module = Path(self._module.__file__)
        sources = [module, *self._module.sources(file)]
        return self._verdicts.key_of([("edited", file), *pairs], sources)
