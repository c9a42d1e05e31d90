"""Lexing for the source pass: what is code, where brackets close (emulator.md section 1).

A `Source` holds the text and a *mask* of equal length: comments and directives are blanks there,
literals a pair of quotes with blanks between. All rewrites search the mask, so nothing inside a
comment, a string or a macro definition is ever touched, and positions are valid for both strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import CompileError
from .scopes import ScopeMap

__all__ = ["Edits", "Source", "SourcePassError", "normalised", "skip_blanks"]


class SourcePassError(CompileError):
    """A text cannot be rewritten for the emulator; the message holds file and line."""


# The first character decides, which the regex engine searches for quickly. A `#` outside literals
# and comments starts a directive; a `'` between hexadecimal digits separates them.
_SKIPPED = re.compile(
    r"""
    ["'/\#] (?:
        (?<=R") (?P<delimiter>[^()\\\s"]{0,16}) \( .*? \) (?P=delimiter) "
      | (?<=") (?:\\.|[^"\\\n])* "
      | (?<![0-9a-fA-F]')(?<=') (?:\\.|[^'\\\n])+ '
      | (?<=') (?![0-9a-fA-F]{2}) (?:\\.|[^'\\\n])+ '
      | (?<=/) (?: /(?:\\\r?\n|[^\n])* | \*.*?\*/ )
      | (?<=\#) (?: \\\r?\n | "(?:\\.|[^"\\\n])*" | /\*.*?\*/ | [^\n] )*
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_BLANKS = re.compile(r"\s*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ANY_BRACKET = re.compile(r"[()\[\]{}]")
_ANGLE_OR_BRACKET = re.compile(r"[<>()\[\]{};]|->")


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    blanks = _NOT_NEWLINE.sub(" ", found) if "\n" in found else " " * len(found)
    return blanks if found[0] in "/#" else f'"{blanks[1:-1]}"'


def skip_blanks(text: str, position: int) -> int:
    """Returns the position of the next character that is not white space."""
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def normalised(code: str) -> str:
    """Returns a piece of masked code on one line with single blanks."""
    return " ".join(code.split())


@dataclass
class Edits:
    """Replacements to be applied to one text; they may not overlap."""

    items: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces [start, end); line breaks in it must be kept by `text`."""
        self.items.append((start, end, text))

    def insert(self, position: int, text: str) -> None:
        """Inserts before `position`."""
        self.items.append((position, position, text))

    def apply(self, text: str) -> str:
        """Returns the text with all replacements made, in order of position."""
        pieces: list[str] = []
        done = 0
        for start, end, new in sorted(self.items, key=lambda item: (item[0], item[1])):
            if start < done:
                raise AssertionError(f"rewrites overlap at {text[start : start + 40]!r}")
            pieces += (text[done:start], new)
            done = end
        pieces.append(text[done:])
        return "".join(pieces)


class Source:
    """One C++ text with its mask, bracket matching and line numbers."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path

    @cached_property
    def code(self) -> str:
        """The mask: equal length, equal line breaks, only code left."""
        return _SKIPPED.sub(_blank, self.text)

    @cached_property
    def scopes(self) -> ScopeMap:
        """The braces of the text."""
        return ScopeMap(self.code)

    def directives(self) -> Iterator[tuple[int, str]]:
        """Yields position and text of each preprocessor directive."""
        for match in _SKIPPED.finditer(self.text):
            if match.group()[0] == "#":
                yield match.start(), match.group()

    def line(self, position: int) -> int:
        """Returns the number of the line, from 1."""
        return self.text.count("\n", 0, position) + 1

    def error(self, position: int, message: str) -> SourcePassError:
        """Returns an exception that names file and line."""
        return SourcePassError(f"{self.path}:{self.line(position)}: {message}", source=self.text)

    def closing(self, position: int) -> int:
        """Returns the position of the bracket that closes the one at `position`, or -1."""
        code = self.code
        stack: list[str] = []
        for match in _ANY_BRACKET.finditer(code, position):
            bracket = match.group()
            if bracket in _CLOSING:
                stack.append(_CLOSING[bracket])
                continue
            if not stack or stack.pop() != bracket:
                return -1
            if not stack:
                return match.start()
        return -1

    def closing_angle(self, position: int) -> int:
        """Returns the position of the `>` that closes the `<` at `position`, or -1.

        A `>` inside brackets is an operator, as in the language.
        """
        depth = 0
        at = position
        while match := _ANGLE_OR_BRACKET.search(self.code, at):
            token, at = match.group(), match.end()
            if token == "<":
                depth += 1
            elif token == ">":
                depth -= 1
                if depth == 0:
                    return match.start()
            elif token in _CLOSING:
                end = self.closing(match.start())
                if end < 0:
                    return -1
                at = end + 1
            elif token != "->":
                return -1
        return -1

    def opening_angle(self, position: int) -> int:
        """Returns the position of the `<` that the `>` at `position` closes, or -1."""
        depth = 0
        brackets = 0
        for at in range(position, -1, -1):
            char = self.code[at]
            if char in ")]}":
                brackets += 1
            elif char in "([{":
                brackets -= 1
                if brackets < 0:
                    return -1
            elif brackets:
                continue
            elif char == ";":
                return -1
            elif char == ">" and self.code[at - 1] != "-":
                depth += 1
            elif char == "<":
                depth -= 1
                if depth == 0:
                    return at
        return -1
