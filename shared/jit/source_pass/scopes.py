"""Which braces are namespaces, types and code (emulator.md section 1)."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

__all__ = ["Scope", "ScopeMap"]

_BRACE = re.compile(r"[{};]")
_NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:\s]*)$")
_ATTRIBUTE = re.compile(
    r"\b(?:alignas|__attribute__|__declspec)\s*\((?:[^()]|\([^()]*\))*\)|\[\[.*?\]\]"
)
_TYPE = re.compile(r"\b(?:class|struct|union|enum)\b[^()=]*$")
_SPECIAL = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_LINKAGE = re.compile(r'\bextern\s*"[^"]*"\s*$')


@dataclass(frozen=True)
class Scope:
    """One pair of braces: `kind` is "namespace", "linkage", "type" or "code"."""

    start: int
    end: int
    kind: str
    name: str
    parent: int


class ScopeMap:
    """All braces of a text, found in one walk."""

    def __init__(self, code: str) -> None:
        self._scopes: list[Scope] = []
        self._starts: list[int] = []
        open_scopes: list[tuple[int, int]] = []  # index, position
        pending: list[tuple[int, str, str, int]] = []
        ends: list[int] = []
        last = 0
        for match in _BRACE.finditer(code):
            at = match.start()
            brace = match.group()
            if brace == "{":
                kind, name = _classify(code[last:at])
                parent = open_scopes[-1][0] if open_scopes else -1
                open_scopes.append((len(pending), at))
                pending.append((at, kind, name, parent))
                ends.append(len(code))
            elif brace == "}" and open_scopes:
                ends[open_scopes.pop()[0]] = at
            last = at + 1
        for (start, kind, name, parent), end in zip(pending, ends, strict=True):
            self._scopes.append(Scope(start, end, kind, name, parent))
            self._starts.append(start)

    def chain(self, position: int) -> list[Scope]:
        """Returns the scopes around a position, innermost first."""
        index = bisect_right(self._starts, position - 1) - 1
        while index >= 0 and self._scopes[index].end <= position:
            index = self._scopes[index].parent
        found = []
        while index >= 0:
            found.append(self._scopes[index])
            index = self._scopes[index].parent
        return found

    def kind(self, position: int) -> str:
        """Returns "file" (also in a namespace), "type" or "code"."""
        for scope in self.chain(position):
            if scope.kind in ("type", "code"):
                return scope.kind
        return "file"

    def qualified(self, position: int, name: str) -> str:
        """Returns a name declared at `position` with its enclosing namespaces and types."""
        names = [s.name for s in self.chain(position) if s.kind in ("namespace", "type") and s.name]
        return "::".join([*reversed(names), name])


def _classify(head: str) -> tuple[str, str]:
    if not _SPECIAL.search(head):
        return "code", ""
    head = _ATTRIBUTE.sub(" ", head)
    namespace = _NAMESPACE.search(head)
    if namespace:
        return "namespace", "".join(namespace.group(1).split())
    if _LINKAGE.search(head):
        return "linkage", ""
    found = _TYPE.search(head)
    if found and not head.rstrip().endswith("="):
        words = re.split(r"[:<]", found.group(), maxsplit=1)[0].split()
        return "type", words[-1] if len(words) > 1 else ""
    return "code", ""
