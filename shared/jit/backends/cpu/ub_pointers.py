"""Whether SIMD functions of a text load or store UB by plain C++: ``p[i]``, ``*p``, ``p->field``.

Vector loads and stores take pointers, so only what follows one counts, not the address of what it
points to. As for global memory, rather once too often than once too seldom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .gm_pointers import follows_gm_pointers

__all__ = ["simd_follows_ub_pointers"]

_FUNCTION = re.compile(r"\b__simd_(?:vf|callee)__\b[^;{}]*\{")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# `&` in front of an operand, not between two
_ADDRESS = re.compile(r"(?<![\w)\]&])\s*&\s*(?=[\w(])")
# A register as one of another type: `*(vector_f32*)`, `(vector_float&)`
_REGISTER = re.compile(r"\*?\s*\(\s*vector_\w+\s*[*&]\s*\)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@lru_cache(maxsize=64)
def simd_follows_ub_pointers(text: str) -> bool:
    """Returns whether SIMD functions of a text may load or store UB by plain C++."""
    if "__simd_" not in text:
        return False
    code = (
        _REGISTER.sub(" ", _COMMENT.sub(" ", text))
        .replace("__gm__", " ")
        .replace("__ubuf__", "__gm__")
    )
    return any(follows_gm_pointers(_without_addresses(part)) for part in _functions(code))


def _functions(code: str) -> Iterator[str]:
    for found in _FUNCTION.finditer(code):
        yield code[found.start() : _behind(code, found.end() - 1)]


def _without_addresses(code: str) -> str:
    """The text without `&(...)` and `&name[...]`."""
    kept, at = [], 0
    while found := _ADDRESS.search(code, at):
        kept.append(code[at : found.start()])
        at = found.end()
        while at < len(code) and (code[at].isalnum() or code[at] == "_"):
            at += 1
        while at < len(code) and code[at] in "([":
            at = _behind(code, at)
    return "".join([*kept, code[at:]])


def _behind(code: str, opening: int) -> int:
    """The place behind the bracket that closes the one at `opening`."""
    first, last, depth = code[opening], _CLOSING[code[opening]], 0
    for at in range(opening, len(code)):
        depth += {first: 1, last: -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)
