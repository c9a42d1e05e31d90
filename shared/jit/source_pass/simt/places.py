"""Finds subscripts in SIMT functions that may reach UB, for the timing model.

Each is put into `ASC_EMU_SIMT_UB(...)`, which tells the runtime of the place when it lies in UB
(`asc_emu/simt/work.hpp`): lanes of a warp that want words of one bank wait for each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ..scan import Edits, Source, skip_blanks

__all__ = ["PLACE", "mark_places", "subscripts"]

PLACE = "ASC_EMU_SIMT_UB"
_SUBSCRIPT = re.compile(r"(?<![\w.:])([A-Za-z_]\w*)\s*\[(?!\[)")
_WORD_BEFORE = re.compile(r"(\w+)\s*$")
# Words in front of an expression; any other one is the type of a declaration.
_BEFORE_EXPRESSION = frozenset(("return", "else", "do", "case", "throw", "co_return", "co_yield"))
_NO_ARRAY = _BEFORE_EXPRESSION | frozenset(("delete", "new", "operator", "goto"))
# `type *name[...]` at the start of a statement.
_POINTERS = re.compile(r"[;{}(]\s*(?:const\s+)?[A-Za-z_][\w:]*\s*(?:const\s*)?[*&]+\s*$")


def mark_places(source: Source, opening: int, others: Collection[str], edits: Edits) -> None:
    """Marks the subscripts of one function.

    Args:
        source: the text.
        opening: position of the function's opening brace.
        others: names that are not in UB: pointers to global memory, registers.
        edits: receives the marks.
    """
    for start, end in subscripts(source, opening, source.closing(opening), others):
        edits.insert(start, f"{PLACE}(")
        edits.insert(end, ")")


def subscripts(
    source: Source, first: int, last: int, others: Collection[str]
) -> list[tuple[int, int]]:
    """Returns the ranges of `name[...]` and `name[...][...]` that are expressions."""
    code = source.code
    found = []
    for match in _SUBSCRIPT.finditer(code, first, last):
        start = match.start()
        if match.group(1) in others or match.group(1) in _NO_ARRAY:
            continue
        if not _is_expression(code, start):
            continue
        end = match.end() - 1
        while code[end : end + 1] == "[":
            end = skip_blanks(code, source.closing(end) + 1)
        found.append((start, len(code[:end].rstrip())))
    return found


def _is_expression(code: str, start: int) -> bool:
    before = code[max(0, start - 200) : start]
    if before.rstrip().endswith(("->", "::", ".")):
        return False
    if word := _WORD_BEFORE.search(before):
        return word.group(1) in _BEFORE_EXPRESSION
    return not _POINTERS.search(before)
