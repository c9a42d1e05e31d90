"""Heads of functions that carry a qualifier such as `__global__` or `__simd_vf__`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .scan import Source

__all__ = ["FunctionHead", "boundary_before", "function_heads"]

_BOUNDARY = re.compile(r"[;{}]")
_WITH_ARGUMENTS = re.compile(
    r"\b(?:__mix__|__schedmode__|__launch_bounds__|__attribute__|alignas|decltype)\s*$"
)
_CALLABLE_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_WINDOW = 2000


@dataclass(frozen=True)
class FunctionHead:
    """One declaration or definition.

    Attributes:
        name: the function's name without qualification.
        position: where the qualifier stands.
        qualifiers: masked text from the start of the declaration to the name.
        end: position of the `)` of the parameter list.
    """

    name: str
    position: int
    qualifiers: str
    end: int


def boundary_before(code: str, position: int) -> int:
    """Returns the position behind the last `;`, `{` or `}` before `position`."""
    start = max(0, position - _WINDOW)
    return max((b.end() for b in _BOUNDARY.finditer(code, start, position)), default=start)


def function_heads(source: Source, qualifier: str) -> Iterator[FunctionHead]:
    """Yields the functions whose declaration has the word `qualifier`."""
    code = source.code
    for match in re.finditer(rf"{qualifier}\b", code):
        opening = _parameters(source, match.end())
        name = _CALLABLE_NAME.search(code, match.end(), opening) if opening >= 0 else None
        closing = source.closing(opening) if name else -1
        if name is None or closing < 0:
            continue
        start = boundary_before(code, match.start())
        yield FunctionHead(name.group(1), match.start(), code[start : name.start()], closing)


def _parameters(source: Source, position: int) -> int:
    """Returns the `(` of the parameter list behind the qualifiers, or -1."""
    code = source.code
    at = position
    while (opening := code.find("(", at)) >= 0:
        if _BOUNDARY.search(code, at, opening):
            return -1
        if not _WITH_ARGUMENTS.search(code, max(position, opening - 40), opening):
            return opening
        at = source.closing(opening) + 1
        if at <= 0:
            return -1
    return -1
