"""Whether plain C++ of a text follows pointers to global memory: ``p[i]``, ``*p``, ``p->field``.

Found by the names of such pointers, without types or scopes: rather once too often than once too
seldom, since a build that shows accesses to the checkers is only slower.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["follows_gm_pointers"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A cast to a pointer to GM counts as a function that returns one.
_CAST = re.compile(r"\b(?:reinterpret|static|const)_cast\s*<[^;(){}]*?__gm__[^;(){}]*?>(?=\s*\()")
_C_CAST = re.compile(r"\(\s*(?:(?:const|volatile)\s+)*__gm__[^;(){},]*?\*[^;(){},\w]*\)")
_CAST_NAME = "__gm_cast"
# A type with `__gm__`, up to its last declarator: `__gm__ T* a`, `__gm__ T *const a, *b`.
_TYPE = re.compile(r"\b__gm__\b(?P<rest>[^;(){}=]*)")
_TYPE_BEFORE_GM = re.compile(r"\*\s*__gm__\s*(\w+)")
_DECLARED = re.compile(r"[*&]\s*(?:(?:const|volatile|__restrict__|__restrict|restrict)\b\s*)*(\w+)")
_REFERENCE = re.compile(r"\b__gm__\b[^;(){}=,]*&")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=[^;]*\b__gm__\b[^;]*;")
_TYPEDEF = re.compile(r"\btypedef\b[^;]*\b__gm__\b[^;]*?(\w+)\s*;")
_AUTO = re.compile(r"\bauto\b[\s*&]*(?:const\s+)?(\w+)\s*(?:=|\{)([^;]*);")
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=64)
def follows_gm_pointers(text: str) -> bool:
    """Returns whether a text (a kernel with its headers) may load or store GM by plain C++."""
    if "__gm__" not in text:
        return False
    code = _COMMENT.sub(" ", text)
    code = _C_CAST.sub(f" {_CAST_NAME} ", _CAST.sub(_CAST_NAME, code))
    if _REFERENCE.search(code):
        return True
    return _follows(code, _pointers(code))


def _pointers(code: str) -> frozenset[str]:
    """Names of pointers to GM, and of functions that return them."""
    names = {_CAST_NAME}
    for found in _TYPE.finditer(code):
        names.update(_DECLARED.findall(found["rest"]))
    names.update(_TYPE_BEFORE_GM.findall(code))
    for alias in (*_ALIAS.findall(code), *_TYPEDEF.findall(code)):
        names.update(re.findall(rf"\b{alias}\b\s*(?:const\s+)?[*&]*\s*(\w+)", code))
    values = [(name, frozenset(_WORD.findall(value))) for name, value in _AUTO.findall(code)]
    known = 0
    while known != len(names):
        known = len(names)
        names.update(name for name, words in values if not names.isdisjoint(words))
    return frozenset(names)


def _follows(code: str, names: frozenset[str]) -> bool:
    any_name = rf"\b(?:{'|'.join(sorted(map(re.escape, names)))})\b"
    call = r"\s*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?"
    behind = rf"{any_name}{call}[\s)]*(?:\[|->)"
    # `*` behind a name or `>` multiplies, or declares a pointer.
    word = "|".join(rf"(?<=\b{name})" for name in ("return", "else", "do", "case"))
    star = rf"(?:(?:(?<![\w>\s])|{word})\s*\*|(?<=>)\s+\*(?=[\w(]))"
    prefix = r"\s*(?:\+\+|--)?(?:\s*\w+\s*(?:\.|->))*\s*"
    single = rf"{star}{prefix}{any_name}"
    # `*(p + i)`
    group = rf"{star}\s*\([^;{{}}]*?{any_name}"
    sum_of = rf"\([^;(){{}}]*?{any_name}[^;(){{}}]*\)\s*(?:\[|->)"
    return any(re.search(rule, code) for rule in (behind, single, group, sum_of))
