"""Compiles a kernel text, with one edit or none, and collects what the checkers say of a launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import Finding, SanitizerError, emulator, gm_range, record
from deep_jit._shared.jit import Config, Runtime, u32

HEADER = "#include <mad/mad.hpp>\n"
PAGE = Path(__file__).parents[3] / "packages" / "deep_jit" / "docs" / "mad.md"


@dataclass(frozen=True)
class Case:
    """A kernel, the edit that breaks it, and what must be said of the broken one.

    Attributes:
        name: the kernel's name, and the test's id.
        text: the intact kernel.
        old, new: the edit.
        checker: who must see it.
        lines: pieces of the source lines that the finding names, in order.
        says: a piece of the message.
        blocks: how many blocks run.
        severity: of the finding.
        params: parameters of the kernel in order: `src` and `dst` arrays of bytes, or numbers.
    """

    name: str
    text: str
    old: str
    new: str
    checker: str
    lines: Sequence[str]
    says: str = ""
    blocks: int = 1
    severity: str = "error"
    params: Sequence[Any] = field(default=("src", "dst", u32(640)))

    def broken(self) -> str:
        """The broken text."""
        assert self.text.count(self.old) == 1, self.old
        return self.text.replace(self.old, self.new)


class Checked:
    """Compiles kernels once a session and launches them under the checkers."""

    def __init__(self) -> None:
        config = Config(
            PAGE.parent, "TEST", include_dirs=include_dirs(), include_prefixes=["mad/", "c_api/"]
        )
        self.runtime = Runtime(config, backend="cpu")

    def launch(
        self,
        text: str,
        args: Sequence[Any],
        *,
        name: str = "checked",
        blocks: int = 1,
        memory: Sequence[Any] | None = None,
        **options: Any,
    ) -> list[Finding]:
        """Returns the findings of one launch; other failures are raised."""
        chosen: dict[str, Any] = {"checks": "all", "threads": 1, **options}
        with emulator(**chosen), record() as reports, suppress(SanitizerError):
            kernel = self.runtime.compile(name, text)
            kernel.launch({"num_blocks": blocks}, *args, memory=memory)
        return reports

    def run(self, case: Case, text: str, **options: Any) -> list[Finding]:
        """Runs a case's kernel on bytes."""
        src = np.arange(4096, dtype=np.uint32).astype(np.uint8)[:640].copy()
        dst = np.zeros(640, np.uint8)
        arrays = {"src": src, "dst": dst}
        args = [arrays[p] if isinstance(p, str) else p for p in case.params]
        memory = [gm_range(src, "src", read_only=True), gm_range(dst, "dst")]
        return self.launch(text, args, name=case.name, blocks=case.blocks, memory=memory, **options)


@pytest.fixture(scope="session")
def checked() -> Checked:
    """Launches kernels under all checkers."""
    return Checked()


@pytest.fixture
def named_lines() -> Callable[[Finding, str], list[str]]:
    """`named_lines(report, text)`: the source lines that a report names."""

    def lines(report: Finding, text: str) -> list[str]:
        source = text.splitlines()
        return [source[place.line - 1].strip() for place in report.places if place.line]

    return lines
