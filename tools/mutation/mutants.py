"""Finds the statements of device code that a mutation deletes or weakens.

Synchronisation, barriers of vector functions, unit flags, bounds guards and fills; each mutant is
one edit of one file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["Mutant", "find_mutants"]

_SYNC = re.compile(
    r"(?:mad::(?:notify|wait)\w*|asc_sync(?:_\w+|threads)?|asc_(?:un)?lock)(?:<[^<>;()]*>)?\("
)
# Order of accesses to UB inside a vector function; TileLang has a name of its own for it
_MEM_BAR = re.compile(r"(?:\bsimd_inst::|\basc_|\b)mem_bar\(")
# A stage that does not vary: number 0 would be no edit, or another flag altogether
_FIXED = re.compile(r"\d+|EVENT_ID\d|(?:static_cast<event_t>)?\(\d+\)|PIPE_\w+")
_FILL = re.compile(r"(?:mad::fill_\w+|asc_fill_l1)(?:<[^<>;()]*>)?\(")
_MIN = re.compile(r"mad::min_of\(")
_GUARD = re.compile(r"if \([^;{}]*(?:>=|<=|<|>)[^;{}]*\) continue;")
_UNIT_FLAG = re.compile(r"asc_unit_flag_mode::(ENABLE_UPDATE|ENABLE_KEEP)")
_WEAKER = {"ENABLE_UPDATE": ("ENABLE_KEEP", "DISABLE"), "ENABLE_KEEP": ("DISABLE",)}


@dataclass(frozen=True)
class Mutant:
    """One edit.

    Attributes:
        file: the file, relative to the include folder.
        line: line number of the edit.
        kind: sync, stage, mem_bar, unit_flag, guard or fill.
        start, end: the characters that are replaced.
        new: what replaces them.
        text: the statement, for tables.
        turn: which of equal edits in the file it is, from 1.
    """

    file: Path
    line: int
    kind: str
    start: int
    end: int
    new: str
    text: str
    turn: int = 1

    def apply(self, source: str) -> str:
        """The edited text of the file."""
        return source[: self.start] + self.new + source[self.end :]

    @property
    def name(self) -> str:
        """A short name: place and edit."""
        return f"{self.file}:{self.line} {self.kind} `{self.text}` -> `{self.new}`"

    @property
    def key(self) -> str:
        """Names the edit for files of reasons: without line numbers, which other edits move."""
        return f"{self.file} {self.kind} `{self.text}` -> `{self.new}` #{self.turn}"


def find_mutants(root: Path, files: list[Path]) -> list[Mutant]:
    """Returns the mutants of some files.

    Args:
        root: the include folder.
        files: paths relative to it.
    """
    found = [m for file in files for m in _of_text(file, (root / file).read_text())]
    found.sort(key=lambda m: (str(m.file), m.start, m.new))
    seen: Counter[str] = Counter()
    for index, m in enumerate(found):
        seen[m.key] += 1
        found[index] = replace(m, turn=seen[m.key])
    return found


def _of_text(file: Path, text: str) -> Iterator[Mutant]:
    code = _without_comments(text)

    def mutant(kind: str, start: int, end: int, new: str) -> Mutant:
        statement = " ".join(text[start:end].split())
        return Mutant(file, text.count("\n", 0, start) + 1, kind, start, end, new, statement)

    for match in _SYNC.finditer(code):
        end = _call_end(code, match.end() - 1)
        if not _is_statement(code, match.start(), end):
            continue
        yield mutant("sync", match.start(), end, "(void)0")
        comma = _last_comma(code, match.end(), end - 1)
        if comma is not None and not _FIXED.fullmatch(code[comma + 1 : end - 1].strip()):
            yield mutant("stage", comma, end - 1, ", 0")
    for match in _MEM_BAR.finditer(code):
        end = _call_end(code, match.end() - 1)
        if _is_statement(code, match.start(), end):
            yield mutant("mem_bar", match.start(), end, "(void)0")
    for match in _FILL.finditer(code):
        end = _call_end(code, match.end() - 1)
        if _is_statement(code, match.start(), end):
            yield mutant("fill", match.start(), end, "(void)0")
    for match in _MIN.finditer(code):
        end = _call_end(code, match.end() - 1)
        comma = _last_comma(code, match.end(), end - 1)
        if comma is not None:
            yield mutant("guard", match.start(), end, f"({code[match.end() : comma].strip()})")
    for match in _GUARD.finditer(code):
        yield mutant("guard", match.start(), match.end(), ";")
    for match in _UNIT_FLAG.finditer(code):
        for weaker in _WEAKER[match[1]]:
            yield mutant("unit_flag", match.start(1), match.end(1), weaker)


def _without_comments(text: str) -> str:
    """The text with comments blanked, at the same positions."""
    return re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)


def _call_end(code: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError(f"no closing bracket after character {opening}")


def _is_statement(code: str, start: int, end: int) -> bool:
    before = code[:start].rstrip()
    return code[end : end + 1] == ";" and bool(re.search(r"(?:[;{}):]|\belse)$", before))


def _last_comma(code: str, start: int, end: int) -> int | None:
    depth, found = 0, None
    for at in range(start, end):
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(code[at], 0)
        if code[at] == "," and depth == 0:
            found = at
    return found
