"""`if constexpr (ASC_IS_AIC)`: the core kind is known at run time only, one text serves all cores.

if constexpr (ASC_IS_AIC) {           ->  if (ASC_IS_AIC) {
constexpr bool cube = ASC_IS_AIC;     ->  const bool cube = ASC_IS_AIC;
"""

from __future__ import annotations

import re

from .scan import Edits, Source, skip_blanks

__all__ = ["rewrite_roles"]

_ROLE = r"(?:ASC|ASCEND)_IS_(?:NOT_)?AI[CV]"
_ANY_ROLE = re.compile(rf"\b{_ROLE}\b")
_CONSTANT = re.compile(
    rf"\bconstexpr\b(\s+(?:bool|auto)\s+([A-Za-z_]\w*)\s*[={{][^;]*?\b{_ROLE}\b[^;]*;)"
)
_IF_CONSTEXPR = re.compile(r"\bif\s+(constexpr)\b")


def rewrite_roles(source: Source, edits: Edits) -> None:
    """Makes conditions on the kind of core ordinary conditions."""
    code = source.code
    if "_IS_" not in code or not _ANY_ROLE.search(code):
        return
    names = [_ROLE]
    for match in _CONSTANT.finditer(code):
        edits.replace(match.start(), match.start() + len("constexpr"), "const")
        names.append(re.escape(match.group(2)))
    depends = re.compile(rf"\b(?:{'|'.join(names)})\b")
    for match in _IF_CONSTEXPR.finditer(code):
        start = skip_blanks(code, match.end())
        if code[start : start + 1] == "(":
            found = depends.search(code, start, max(start, source.closing(start)))
        else:
            found = depends.match(code, start)
        if found:
            edits.replace(match.start(1), match.end(1), "")
