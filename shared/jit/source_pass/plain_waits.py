"""Loops of SIMT functions that wait for memory which is not volatile.

    int64_t now = *key;  while (now == kLocked) { now = *key; }

All turns of such a loop are alike unless somebody else stores what it reads. C++ lets a compiler
take it to end by itself, so the device's may read once, or leave the loop out. Here it waits, and
goes on when its warp could not otherwise (`SimtBlock::give_up_waits`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .functions import function_heads
from .scan import Source, skip_blanks

__all__ = ["PlainWaits", "simt_bodies"]

_SIMT_FUNCTIONS = ("__simt_vf__", "__simt_callee__")
_VOLATILE = re.compile(r"\bvolatile\b")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)([^;]*);")
_CHANGE = re.compile(r"\+\+|--|[^=!<>]=(?!=)|\w\s*\(")
_CAST = re.compile(r"\b(?:(?:static|reinterpret|const)_cast\s*<[^<>]*>\s*|ASC_EMU_SIMT_UB)\(")
# Of texts that count their work for the timing model.
_WORK = re.compile(r"ASC_EMU_SIMT_WORK\([^)]*\);")
_MEMORY = re.compile(r"\[|(?:^|[=(!&|,~<>]|return)\s*\*|->")


class PlainWaits:
    """Knows the loops of a text that wait for plain memory."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bodies = [
            (start, end)
            for _, start, end in simt_bodies(source)
            if not _VOLATILE.search(source.code, start, end)
        ]

    def read(self, head: tuple[int, int], body: tuple[int, int]) -> str:
        """What the `while` with this condition and this body reads in vain; "" if it is none."""
        code = self._source.code
        if not any(start <= head[0] and body[1] <= end for start, end in self._bodies):
            return ""
        condition = _CAST.sub("(", code[head[0] : head[1]])
        names, values = _assignments(code[body[0] : body[1]])
        if names is None or any(_CHANGE.search(text) for text in (condition, *values)):
            return ""
        repeats = not any(re.search(rf"\b{name}\b", value) for name in names for value in values)
        reads = [text.strip() for text in (*values, condition) if _MEMORY.search(text)]
        return reads[0] if repeats and reads else ""


def simt_bodies(source: Source) -> Iterator[tuple[str, int, int]]:
    """Yields the SIMT functions of a text: name, and the range from there to the end."""
    for mark in _SIMT_FUNCTIONS:
        for head in function_heads(source, mark):
            opening = skip_blanks(source.code, head.end + 1)
            if source.code.startswith("const", opening):
                opening = skip_blanks(source.code, opening + len("const"))
            closing = source.closing(opening) if source.code[opening : opening + 1] == "{" else -1
            if closing > 0:
                yield head.name, head.position, closing


def _assignments(body: str) -> tuple[list[str] | None, list[str]]:
    """The variables that a body sets and their values, if it does nothing else; else None."""
    names: list[str] = []
    values: list[str] = []
    text = _WORK.sub("", body).strip().removeprefix("{").removesuffix("}").strip().removeprefix(";")
    while text:
        match = _ASSIGNMENT.match(text)
        if match is None:
            return None, []
        names.append(match.group(1))
        values.append(_CAST.sub("(", match.group(2)))
        text = text[match.end() :].strip()
    return names, values
