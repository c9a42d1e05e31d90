"""Loops that may poll memory get a hint, so that other cores run (emulator.md section 2).

    while (flag[0] == 0);        ->  while (flag[0] == 0) ::asc_emu::spin();
    for (;;) { ... }             ->  for (;;) { ::asc_emu::spin(); ... }

Loops that count or iterate (`for` with a condition and a step or a variable) are left alone. One of
a SIMT function that waits for plain memory may be left:

    while (now == 1) now = *p;   ->  while (..) { if (::asc_emu::plain_wait("*p")) break; .. }
"""

from __future__ import annotations

import re

from .plain_waits import PlainWaits
from .scan import Edits, Source, skip_blanks

__all__ = ["rewrite_loops", "statement_end"]

_LOOP = re.compile(r"(?:while|do|for)\b")
_KEYWORD = re.compile(r"(?:if|else|while|for|do|switch|try|catch)\b")
_CONSTEXPR = re.compile(r"\s*constexpr\b")
_WORD_HEAD = re.compile(r"\s*[A-Za-z_]\w*")
_STATEMENT_STOP = re.compile(r"[;(\[{}]")
_SPIN = "::asc_emu::spin();"
_PLAIN_WAIT = 'if (::asc_emu::plain_wait("{}")) break;'


def rewrite_loops(source: Source, edits: Edits) -> None:
    """Puts a spin hint into each loop that does not count."""
    code = source.code
    tails: set[int] = set()
    waits = PlainWaits(source)
    for match in _LOOP.finditer(code):
        if match.start() in tails or not _is_word_start(code, match.start()):
            continue
        if match.group() == "do":
            body = match.end()
            tail = skip_blanks(code, statement_end(source, body))
            if code.startswith("while", tail):
                tails.add(tail)
                _hint(source, edits, body)
            continue
        head = skip_blanks(code, match.end())
        closing = source.closing(head) if code[head : head + 1] == "(" else -1
        if closing < 0:
            continue
        if match.group() == "while":
            turn = (closing + 1, statement_end(source, closing + 1))
            read = waits.read((head + 1, closing), turn)
            _hint(source, edits, closing + 1, _PLAIN_WAIT.format(_quoted(read)) if read else _SPIN)
        elif _endless(code[head + 1 : closing]):
            _hint(source, edits, closing + 1)


def _quoted(words: str) -> str:
    """Words of the program for a string literal, on one line."""
    return " ".join(words.split()).replace("\\", r"\\").replace('"', r"\"")


def _is_word_start(code: str, position: int) -> bool:
    before = code[position - 1 : position]
    return not (before.isalnum() or before == "_")


def _endless(head: str) -> bool:
    """Whether a `for` head has no condition, or nothing but one: it does not count then."""
    parts = head.split(";")
    if len(parts) > 3:
        parts = _split_top_level(head)
    if len(parts) != 3:
        return False
    first, condition, step = (part.strip() for part in parts)
    return not condition or (not first and not step)


def _split_top_level(head: str) -> list[str]:
    parts = [""]
    depth = 0
    for char in head:
        depth += (char in "([{") - (char in ")]}")
        if char == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _hint(source: Source, edits: Edits, position: int, hint: str = _SPIN) -> None:
    code = source.code
    start = skip_blanks(code, position)
    first = code[start : start + 1]
    if first == "{":
        edits.insert(start + 1, f" {hint}")
    elif first == ";":
        edits.insert(start, hint[:-1])
    elif first:
        end = statement_end(source, start)
        if end > start:
            edits.insert(start, f"{{ {hint} ")
            edits.insert(end, " }")


def statement_end(source: Source, position: int) -> int:
    """Returns the position behind the statement that starts at `position`."""
    code = source.code
    at = skip_blanks(code, position)
    if code[at : at + 1] == "{":
        return source.closing(at) + 1
    keyword = _KEYWORD.match(code, at)
    if keyword is None:
        return _expression_end(source, at)
    word, at = keyword.group(), keyword.end()
    if word == "do":
        at = skip_blanks(code, statement_end(source, at))
        return _expression_end(source, at)
    if word not in ("else", "try"):
        at = _head_end(source, at)
    at = statement_end(source, at)
    following = _KEYWORD.match(code, skip_blanks(code, at))
    if following and (word, following.group()) in (("if", "else"), ("try", "catch")):
        return statement_end(source, following.start())
    return at


def _head_end(source: Source, position: int) -> int:
    """Returns the position behind `constexpr (..)`, `(..)` or a condition macro."""
    code = source.code
    constant = _CONSTEXPR.match(code, position)
    at = skip_blanks(code, constant.end() if constant else position)
    if code[at : at + 1] == "(":
        return source.closing(at) + 1
    macro = _WORD_HEAD.match(code, at)
    return macro.end() if macro else at


def _expression_end(source: Source, position: int) -> int:
    code = source.code
    at = position
    while stop := _STATEMENT_STOP.search(code, at):
        if stop.group() == ";":
            return stop.end()
        closing = source.closing(stop.start()) if stop.group() != "}" else -1
        if closing < 0:
            return stop.start()
        at = closing + 1
    return len(code)
