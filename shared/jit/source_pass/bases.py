"""Literal addresses in memories that scalar code can reach (emulator.md section 2).

    reinterpret_cast<__ubuf__ T*>(x)    ->  space_cast<Space::ub, __ubuf__ T*>(x)
    (__ssbuf__ T*)0                     ->  space_cast<Space::ssb, __ssbuf__ T*>(0)
    constexpr __ubuf__ S* p = nullptr;  ->  __ubuf__ S* p = space_cast<Space::ub, __ubuf__ S*>(0);

`space_cast` adds the memory's host address to an integer below the memory's size. L1 and L0 are not
scalar-addressable: there the API itself takes small integers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .declarations import declaration_start, prefix_words
from .scan import Edits, Source, normalised, skip_blanks
from .spaces import SCALAR_SPACE, SPACES

__all__ = ["rewrite_bases"]

_REINTERPRET = re.compile(r"reinterpret_cast\s*(<)")
_C_CAST = re.compile(
    r"\((\s*(?:const\s+|volatile\s+)*__(ubuf|ssbuf)__[^(){};=]*\*\s*(?:const\s*)?)\)"
)
_NULL_POINTER = re.compile(
    r"(?P<type>__(?P<space>ubuf|ssbuf)__[^(){};=,]*\*)\s*(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*"
    r"(?:=|\{)\s*(?:(?P<value>nullptr|NULL|0)|\([^()]*\*\s*\)\s*0"
    r"|reinterpret_cast\s*<[^<>]*>\s*\(\s*0\s*\))\s*\}?\s*;"
)
_CONSTEXPR_POINTER = re.compile(
    r"__(?:ubuf|ssbuf)__[^(){};=,]*\*\s*(?:const\s+)?[A-Za-z_]\w*\s*[={]"
)
_WORD_BEFORE = re.compile(r"([A-Za-z_]\w*|[\])>])\s*$")
_OPERATOR_WORDS = frozenset({"return", "case", "co_return", "co_yield", "throw", "else", "do"})
_NUMBER = re.compile(r"\d[\w.']*")
_IDENTIFIER = re.compile(r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_POSTFIX = re.compile(r"\s*(?:\[|\(|\.|->|<|\+\+|--)")


def rewrite_bases(source: Source, edits: Edits, names: dict[str, str]) -> None:
    """Rewrites casts to and null constants of UB and SSBuffer pointers.

    Args:
        source: the text.
        edits: receives the replacements.
        names: receives file-scope constants -> expression that replaces their uses.
    """
    if not SCALAR_SPACE.search(source.code):
        return
    _constants(source, edits, names)
    done = [(start, end) for start, end, _ in edits.items]
    _named_casts(source, edits, done)
    _c_casts(source, edits, done)


def _cast(space: str, pointer: str) -> str:
    return f"::asc_emu::space_cast<::asc_emu::Space::{SPACES[space]}, {pointer}"


def _inside(position: int, regions: Sequence[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in regions)


def _named_casts(source: Source, edits: Edits, done: Sequence[tuple[int, int]]) -> None:
    for match in _REINTERPRET.finditer(source.code):
        if _inside(match.start(), done):
            continue
        closing = source.closing_angle(match.start(1))
        if closing < 0:
            continue
        target = source.code[match.end() : closing]
        space = SCALAR_SPACE.search(target)
        if space and target.rstrip().endswith("*"):
            edits.replace(match.start(), match.end(), _cast(space.group(1), ""))


def _c_casts(source: Source, edits: Edits, done: Sequence[tuple[int, int]]) -> None:
    code = source.code
    for match in _C_CAST.finditer(code):
        if _inside(match.start(), done):
            continue
        before = _WORD_BEFORE.search(code, max(0, match.start() - 80), match.start())
        if before and before.group(1) not in _OPERATOR_WORDS:
            continue  # a parameter list
        end = _operand_end(source, match.end())
        if end < 0:
            continue
        edits.replace(match.start(), match.start() + 1, _cast(match.group(2), ""))
        edits.replace(match.end() - 1, match.end(), ">(")
        edits.insert(end, ")")


def _operand_end(source: Source, position: int) -> int:
    """Returns the end of a cast's operand if it may be an integer, else -1.

    Operands with a postfix (`a[i]`, `f(x)`, `p->q`) are pointers in practice and need nothing.
    """
    code = source.code
    start = skip_blanks(code, position)
    number = _NUMBER.match(code, start)
    if number:
        return number.end()
    if code[start : start + 1] == "(":
        closing = source.closing(start)
        end = closing + 1 if closing >= 0 else -1
    else:
        name = _IDENTIFIER.match(code, start)
        end = name.end() if name else -1
    return -1 if end < 0 or _POSTFIX.match(code, end) else end


def _constants(source: Source, edits: Edits, names: dict[str, str]) -> None:
    code = source.code
    for match in _CONSTEXPR_POINTER.finditer(code):
        start = declaration_start(code, match.start())
        if start is None or "constexpr" not in prefix_words(code, start, match.start()):
            continue
        null = _NULL_POINTER.match(code, match.start())
        scope = source.scopes.kind(start)
        if scope == "code":
            word = re.compile(r"\b(?:static\s+)?constexpr\b").search(code, start)
            if word:
                edits.replace(word.start(), word.end(), "")
            if null and null["value"]:
                edits.replace(*null.span("value"), f"{_cast(null['space'], null['type'])}>(0)")
        elif null:
            _computed_constant(source, edits, names, start, null)


def _computed_constant(
    source: Source, edits: Edits, names: dict[str, str], start: int, null: re.Match[str]
) -> None:
    words = prefix_words(source.code, start, null.start())
    qualifiers = " ".join(word for word in ("const", "volatile") if word in words)
    pointer = normalised(f"{qualifiers} {null['type']}")
    name = null["name"]
    breaks = "\n" * source.code.count("\n", start, null.end())
    value = f"{_cast(null['space'], pointer)}>(0)"
    function = f"static inline {pointer} {name}() {{ return {value}; }}{breaks}"
    edits.replace(start, null.end(), function)
    names[name] = f"{name}()"
