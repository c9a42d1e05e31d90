"""Find include directives in C++ text without preprocessing it (deep_jit.md section 12).

Comments, string, character and raw string literals and line splices are understood; conditions are
not evaluated, only their depth is reported.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

__all__ = ["Directive", "find_directives", "scan_lines"]

_COMMENT = rb"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_GAP = rb"(?:[ \t\f\v]|" + _COMMENT + rb")*"

# NOTE: every alternative starts with a literal, so that re can skip other text by one character
# set; comments are consumed whole, so that nothing inside them can look like a directive.
_TOKEN = re.compile(rb"//[^\n]*|" + _COMMENT + rb"|/\*|\"|'|#|%:")
_STRING = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*"?')
_CHARACTER = re.compile(rb"'(?:[^'\\\n]|\\[^\n])*'?")
_RAW_PREFIX = re.compile(rb"(?:^|[^\w\x80-\xff])(?:u8|[uUL])?R\Z")
_RAW_OPENER = re.compile(rb'"([^ ()\\\t\v\f\n"]{0,16})\(')
_NUMBER = re.compile(rb"\.?[0-9]")
_WORD_BYTES = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.'" + bytes(range(128, 256))
)
_DIRECTIVE = re.compile(
    _GAP
    + rb"(?:(?P<include>include_next|include|import)"
    + _GAP
    + rb'(?:<(?P<angled>[^>\n]*)>|"(?P<quoted>[^"\n]*)")'
    + rb"|(?P<open>ifdef|ifndef|if)\b|(?P<close>endif)\b|(?P<middle>elif)\b)"
)
_PROBE = re.compile(rb"__has_include(?:_next)?[ \t]*\([ \t]*<([^>\n]*)>")
_SPLICE = re.compile(rb"\\[ \t\f\v]*\r?\n")
_CANDIDATES = tuple(
    (hash_, re.compile(hash_ + _GAP + rb"(?:include|import)")) for hash_ in (b"#", b"%:")
)


@dataclass(frozen=True)
class Directive:
    """One directive.

    Attributes:
        kind: include, include_next, import, or probe for ``__has_include``.
        name: text between the delimiters.
        quoted: whether the delimiters were quotes.
        conditional: whether it stands inside ``#if``/``#ifdef``/``#ifndef``.
    """

    kind: str
    name: str
    quoted: bool
    conditional: bool


class _Spliced:
    """Text without line splices, with a map back to the original offsets."""

    def __init__(self, text: bytes) -> None:
        self.original = text
        self.starts: list[int] = [0]
        self.shifts: list[int] = [0]
        if b"\\\n" not in text and not _SPLICE.search(text):
            self.text = text
            return
        parts: list[bytes] = []
        end = removed = 0
        for match in _SPLICE.finditer(text):
            parts.append(text[end : match.start()])
            end = match.end()
            self.starts.append(match.start() - removed)
            removed += match.end() - match.start()
            self.shifts.append(removed)
        parts.append(text[end:])
        self.text = b"".join(parts)

    def end_of_raw(self, opener_end: int, delimiter: bytes) -> int:
        """Offset after a raw string whose opening parenthesis ends at `opener_end`.

        Splices inside a raw string are part of the string, so the search uses the original text.
        """
        if len(self.starts) == 1:
            found = self.text.find(b")" + delimiter + b'"', opener_end)
            return len(self.text) if found < 0 else found + len(delimiter) + 2
        origin = opener_end + self.shifts[bisect_right(self.starts, opener_end) - 1]
        found = self.original.find(b")" + delimiter + b'"', origin)
        if found < 0:
            return len(self.text)
        target = found + len(delimiter) + 2
        removed = sum(
            m.end() - m.start() for m in _SPLICE.finditer(self.original) if m.end() <= target
        )
        return target - removed


def find_directives(text: bytes) -> list[Directive]:
    """Include directives of a text in order, and the ``__has_include`` probes of its conditions."""
    spliced = _Spliced(text)
    body = spliced.text
    stop = body.rfind(b"__has_include")
    for hash_, pattern in _CANDIDATES:
        if hash_ in body:
            stop = max([stop, *(match.start() for match in pattern.finditer(body))])
    if stop < 0:
        return []
    return _Scan(spliced).run(stop)


class _Scan:
    """One pass over a text."""

    def __init__(self, spliced: _Spliced) -> None:
        self.spliced = spliced
        self.text = spliced.text
        self.depth = 0
        self.clean_end = -1  # end of a comment before which its line is blank
        self.found: list[Directive] = []

    def run(self, stop: int) -> list[Directive]:
        """Scan up to the last offset at which a directive can stand."""
        position = 0
        text, search = self.text, _TOKEN.search
        while True:
            match = search(text, position)
            if match is None or match.start() > stop:
                return self.found
            start, position = match.span()
            first = text[start]
            if first == 0x22:  # "
                position = self._string(start)
            elif first == 0x27:  # '
                position = self._quote(start)
            elif first == 0x2F:  # /
                if position - start == 2 and text[start + 1] == 0x2A:
                    return self.found  # a comment that never ends
                if text[start + 1] == 0x2A and self._at_line_start(start):
                    self.clean_end = position
            elif self._at_line_start(start):
                position = self._directive(position)

    def _string(self, start: int) -> int:
        """End of the string or raw string literal whose first quote is at `start`."""
        if _RAW_PREFIX.search(self.text[max(0, start - 4) : start]):
            opener = _RAW_OPENER.match(self.text, start)
            if opener:
                return self.spliced.end_of_raw(opener.end(), opener[1])
        return _end(_STRING, self.text, start)

    def _quote(self, start: int) -> int:
        """End of a character literal, or of a digit separator (1'000)."""
        first = start
        while first > 0 and self.text[first - 1] in _WORD_BYTES:
            first -= 1
        if _NUMBER.match(self.text, first, start):
            return start + 1
        return _end(_CHARACTER, self.text, start)

    def _at_line_start(self, position: int) -> bool:
        text = self.text
        while position > 0 and text[position - 1] in b" \t\f\v\r":
            position -= 1
        return position == 0 or text[position - 1] == 0x0A or position == self.clean_end

    def _directive(self, position: int) -> int:
        """Handle the directive whose ``#`` ends at `position`; returns where to go on."""
        match = _DIRECTIVE.match(self.text, position)
        if match is None:
            return position
        if match["include"]:
            quoted = match["quoted"] is not None
            name = match["quoted"] if quoted else match["angled"]
            self._add(match["include"].decode(), name, quoted)
        elif match["close"]:
            self.depth = max(0, self.depth - 1)
        else:
            if match["open"]:
                self.depth += 1
            self._probes(match.end())
        return match.end()

    def _probes(self, position: int) -> None:
        end = self.text.find(b"\n", position)
        line = self.text[position : end if end >= 0 else len(self.text)]
        if b"__has_include" in line:
            for name in _PROBE.findall(line):
                self._add("probe", name, False)

    def _add(self, kind: str, name: bytes, quoted: bool) -> None:
        self.found.append(
            Directive(kind, name.decode("utf-8", "surrogateescape"), quoted, self.depth > 0)
        )


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start + 1


_STRICT_LINE = re.compile(rb"[ \t\f\v]*#[ \t\f\v]*include[ \t\f\v]*([<\"])([^>\"\n]*)([>\"])")


def scan_lines(text: bytes) -> list[tuple[str, str, str]]:
    """Upstream's scan: (opener, name, closer) of every directive line, comments included."""
    found = []
    for line in text.split(b"\n"):
        match = _STRICT_LINE.match(line)
        if match:
            opener, name, closer = match.groups()
            found.append(
                (opener.decode(), name.decode("utf-8", "surrogateescape"), closer.decode())
            )
    return found
