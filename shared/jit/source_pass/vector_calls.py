"""Direct calls of vector functions become instructions of PIPE_V (ascend_c_vector.md section 2).

    f<T>(a, b);
->  call_vector_function([](auto... asc_emu_args) { f<T>(asc_emu_args...); }, a, b);

where `f` is declared `__simd_vf__`. Inside vector functions a call is a plain call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .functions import boundary_before, function_heads
from .scan import Edits, Source, skip_blanks

__all__ = ["rewrite_vector_calls", "vector_functions"]

_VECTOR_CODE = re.compile(r"\b__(?:simd_vf|simt_vf|simd_callee|simt_callee|callee)__")
_STATEMENT_BEFORE = re.compile(r"(?:^|[;{})]|(?<!:):|\b(?:else|do))\s*$")


def vector_functions(sources: Iterable[Source]) -> frozenset[str]:
    """Returns the names of all functions with `__simd_vf__` in the texts."""
    return frozenset(
        head.name
        for source in sources
        if "__simd_vf__" in source.text
        for head in function_heads(source, "__simd_vf__")
    )


def rewrite_vector_calls(source: Source, names: Iterable[str], edits: Edits) -> int:
    """Rewrites the calls of vector functions from other code; returns how many there were."""
    words = "|".join(sorted(map(re.escape, names)))
    if not words:
        return 0
    code = source.code
    count = 0
    for match in re.finditer(rf"(?<![\w.:~>])(?:(?:\w+\s*)?::\s*)*(?:{words})\b", code):
        opening = _arguments(source, match.end())
        if opening < 0 or not _is_call(source, match.start()):
            continue
        closing = source.closing(opening)
        edits.insert(match.start(), "::asc_emu::call_vector_function([](auto... asc_emu_args) { ")
        has_arguments = skip_blanks(code, opening + 1) < closing
        edits.replace(opening, opening + 1, f"(asc_emu_args...); }}{', ' if has_arguments else ''}")
        count += 1
    return count


def _arguments(source: Source, position: int) -> int:
    """Returns the `(` behind a name and its template arguments, or -1."""
    code = source.code
    at = skip_blanks(code, position)
    if code[at : at + 1] == "<":
        closing = source.closing_angle(at)
        at = skip_blanks(code, closing + 1) if closing >= 0 else len(code)
    return at if code[at : at + 1] == "(" and source.closing(at) >= 0 else -1


def _is_call(source: Source, position: int) -> bool:
    """Whether a statement starts here, in code that is not a vector function itself."""
    code = source.code
    if not _STATEMENT_BEFORE.search(code[max(0, position - 200) : position]):
        return False
    outermost = None
    for scope in source.scopes.chain(position):
        if scope.kind != "code":
            break
        outermost = scope
    if outermost is None:
        return False
    head = code[boundary_before(code, outermost.start) : outermost.start]
    return not _VECTOR_CODE.search(head)
