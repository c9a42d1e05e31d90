"""Parsing of declarations that name an on-chip memory: prefix words, type, declarators."""

from __future__ import annotations

import re

from .scan import Source, skip_blanks

__all__ = ["NAME", "declaration_start", "prefix_words", "type_end"]

NAME = re.compile(r"[A-Za-z_]\w*")
_PREFIX = re.compile(
    r"(?:\b(?:static|extern|constexpr|const|volatile|inline|thread_local|__aicore__)"
    r"|\[\[[^\[\]]*\]\]|\balignas\s*\((?:[^()]|\([^()]*\))*\)"
    r"|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\))\s*$"
)
_QUALIFIER = re.compile(r"(?:const|volatile|struct|class|typename|unsigned|signed|long|short)\b\s*")
_BUILTIN = ("unsigned", "signed", "long", "short")
_BUILTIN_TAIL = re.compile(r"(?:int|char|double)\b")
_QUALIFIED = re.compile(r"(?:::\s*)?[A-Za-z_]\w*")
_CV = re.compile(r"\s*\b(?:const|volatile)\b")
_NO_DECLARATION = frozenset("(,<=&|?!+-*:")
_WINDOW = 200


def declaration_start(code: str, position: int) -> int | None:
    """Returns where the declaration around a qualifier starts, None if it is no declaration.

    A declaration follows a `;`, a brace, a label, or a macro call; parameters and casts do not.
    """
    start = position
    while True:
        before = code[max(0, start - _WINDOW) : start].rstrip()
        if not before:
            return start
        if before[-1] in ";{}:)" and not before.endswith("::"):
            found = _PREFIX.search(before) if before[-1] == ")" else None
            if found is None:
                return start
        elif before[-1] in _NO_DECLARATION:
            return None
        else:
            found = _PREFIX.search(before)
            if found is None:
                return None
        start = max(0, start - _WINDOW) + found.start()


def prefix_words(code: str, start: int, end: int) -> frozenset[str]:
    """Returns the words of a declaration's prefix, for example {"static", "alignas"}."""
    return frozenset(NAME.findall(code, start, end))


def type_end(source: Source, position: int) -> int:
    """Returns the position behind the type specifiers that start at `position`, or -1."""
    code = source.code
    at = skip_blanks(code, position)
    builtin = False
    while word := _QUALIFIER.match(code, at):
        builtin = builtin or word.group().strip() in _BUILTIN
        at = word.end()
    if builtin:
        tail = _BUILTIN_TAIL.match(code, at)
        return tail.end() if tail else at
    while name := _QUALIFIED.match(code, at):
        at = _behind_arguments(source, name)
        if at < 0:
            return -1
        following = skip_blanks(code, at)
        if code.startswith("::", following):
            at = following
            continue
        while word := _CV.match(code, at):
            at = word.end()
        return at
    return -1


def _behind_arguments(source: Source, name: re.Match[str]) -> int:
    """Returns the position behind `name`, `name<...>` or `decltype(...)`, or -1."""
    following = skip_blanks(source.code, name.end())
    bracket = source.code[following : following + 1]
    if bracket == "<":
        closing = source.closing_angle(following)
        return closing + 1 if closing >= 0 else -1
    if name.group() == "decltype" and bracket == "(":
        closing = source.closing(following)
        return closing + 1 if closing >= 0 else -1
    return name.end()
