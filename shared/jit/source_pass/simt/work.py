"""Counts the work of SIMT functions for the timing model (ascend_c_vector.md section 16.5).

Each block of such a function gets a call at its start that tells the runtime how many instructions
and memory accesses the block's own statements hold. The counts are estimates from the text, an
instruction an operator; how often a block runs is seen when the kernel runs. Subscripts tell of
their places in UB themselves (`places`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..functions import function_heads
from ..scan import Edits, Source, skip_blanks
from .places import PLACE, mark_places

__all__ = ["Work", "count_work", "rewrite_work"]

_MARKS = ("__simt_vf__", "__simt_callee__")
# Kernels of the scalar unit, which starts SIMT functions by itself; others may be such functions.
_SCALAR = re.compile(r"\b__(?:vector|cube|mix|aicore)__")
_POINTER = r"(?:const\s+)?([A-Za-z_]\w*)(?:\s+const)?\s*\*\s*(?:__restrict__\s*)?(\w+)"
_GM_PARAMETER = re.compile(rf"__gm__\s+{_POINTER}")
_KERNEL_PARAMETER = re.compile(_POINTER)
_ARRAY = re.compile(r"\b(?!return\b|else\b)[A-Za-z_]\w*\s+([A-Za-z_]\w*)\s*\[\s*\w+\s*\]\s*;")
_SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\s*\[")
_CALL = re.compile(r"([A-Za-z_][\w:]*)\s*(?:<[\w:, ]*>)?\s*\(")
_TYPES = r"(?:u?int(?:8|16|32|64)_t|float|half|bfloat16_t|fp8_\w+|bool|int|unsigned|char)"
_NO_WORK = re.compile(rf"\(\s*{_TYPES}\s*\)|\b{_TYPES}\b|\bconst\b")
_OPERATOR = re.compile(r"<<=?|>>=?|[=!<>]=|&&|\|\||\+\+|--|[-+*/%&|^]=|->|[-+*/%&|^~!<>?]")
# In front of a loop: it has no condition and step then.
_UNROLL = re.compile(r"#[ \t]*pragma[ \t]+unroll[ \t]*\n\s*\Z")
_DIVISION = re.compile(r"[/%]")
_FREE_CALLS = frozenset(
    ("if", "for", "while", "switch", "return", "sizeof", "static_cast", "reinterpret_cast", PLACE)
)
_SIZES = {"half": 2, "bfloat16_t": 2, "float": 4, "double": 8, "bool": 1, "char": 1}
# Instructions of a call or operator that is more than one. [open]: documented is accuracy only.
_DIVISION_COST = 8
_CALL_COST = {
    **dict.fromkeys(("expf", "logf", "sqrtf", "rsqrtf", "tanhf", "exp2f", "log2f"), 8),
    **dict.fromkeys(("sinf", "cosf", "powf", "erff"), 24),
    **dict.fromkeys(("asc_reduce_add", "asc_reduce_max", "asc_reduce_min"), 8),
    **dict.fromkeys(
        ("min", "max", "fabsf", "fmaxf", "fminf", "__float_as_int", "__int_as_float"), 1
    ),
}
_OTHER_CALL = 2


@dataclass(frozen=True)
class Work:
    """What one lane does in a block, without inner blocks.

    Attributes:
        instructions: of the SIMT unit, memory accesses among them.
        ub: accesses to the unified buffer, without those that are marked as places.
        gm_loads: loads from global memory.
        gm_bytes: loaded and stored there.
    """

    instructions: int = 0
    ub: int = 0
    gm_loads: int = 0
    gm_bytes: int = 0


def rewrite_work(text: str, path: str) -> str:
    """Returns the text with the calls; lines keep their numbers."""
    if not any(mark in text for mark in (*_MARKS, "__global__")):
        return text
    for edit in (_mark_function, _count_function):
        source = Source(text, path)
        edits = Edits()
        for function in _functions(source):
            edit(source, function, edits)
        text = edits.apply(text)
    return text


@dataclass(frozen=True)
class _Function:
    """Its opening brace, pointers to global memory by size of an element, arrays in registers."""

    opening: int
    pointers: dict[str, int]
    registers: frozenset[str]


def _functions(source: Source) -> Iterator[_Function]:
    for mark in _MARKS:
        for head in function_heads(source, mark):
            yield from _function(source, head.end, _GM_PARAMETER)
    for head in function_heads(source, "__global__"):
        if not _SCALAR.search(head.qualifiers):
            yield from _function(source, head.end, _KERNEL_PARAMETER)


def _function(
    source: Source, end_of_head: int, gm_parameter: re.Pattern[str]
) -> Iterator[_Function]:
    code = source.code
    opening = skip_blanks(code, end_of_head + 1)
    if code[opening : opening + 1] != "{":
        return
    head = code[code.rfind("(", 0, end_of_head) : end_of_head]
    pointers = {name: _size(kind) for kind, name in gm_parameter.findall(head)}
    arrays = _ARRAY.finditer(code, opening, source.closing(opening))
    registers = (
        match.group(1)
        for match in arrays
        if not code[: match.start()].rstrip().endswith("__ubuf__")
    )
    yield _Function(opening, pointers, frozenset(registers))


def _mark_function(source: Source, function: _Function, edits: Edits) -> None:
    others = function.pointers.keys() | function.registers
    mark_places(source, function.opening, others, edits)


def _count_function(source: Source, function: _Function, edits: Edits) -> None:
    code = source.code
    opening, closing = function.opening, source.closing(function.opening)
    pointers, registers = function.pointers, function.registers
    blocks = [at for at in range(opening, closing) if code[at] == "{" and _is_block(code, at)]
    for start in blocks:
        own = _own_text(source, start)
        work = count_work(own, pointers, registers)
        if work != Work():
            numbers = (work.instructions, work.ub, work.gm_loads, work.gm_bytes)
            edits.insert(start + 1, f" ASC_EMU_SIMT_WORK({', '.join(map(str, numbers))});")


def _is_block(code: str, at: int) -> bool:
    """A compound statement, not an initialiser."""
    before = code[:at].rstrip()[-1:]
    return before in (")", ";", "{", "}") or code[:at].rstrip().endswith(("else", "do"))


def _own_text(source: Source, start: int) -> str:
    """The statements of a block, the condition and step of the loop around it, no inner blocks."""
    code = source.code
    end = source.closing(start)
    pieces = [_loop_head(source, start)]
    at = start + 1
    while (inner := code.find("{", at, end)) >= 0:
        piece = code[at:inner]
        if _is_block(code, inner):
            pieces.append(_without_loop_head(piece))
            at = source.closing(inner) + 1
        else:
            pieces.append(piece)
            at = inner + 1
    pieces.append(code[at:end])
    return " ; ".join(pieces)


def _loop_head(source: Source, start: int) -> str:
    code = source.code
    close = code[:start].rstrip()
    if not close.endswith(")"):
        return ""
    opening = _opening_of(source, len(close) - 1)
    if opening < 0 or not code[:opening].rstrip().endswith("for"):
        return ""
    if _UNROLL.search(source.text, 0, code.rfind("for", 0, opening)):
        return ""
    return code[opening + 1 : len(close) - 1].partition(";")[2]


def _opening_of(source: Source, closing: int) -> int:
    at = closing
    while (at := source.code.rfind("(", 0, at)) >= 0:
        if source.closing(at) == closing:
            return at
    return -1


def _without_loop_head(piece: str) -> str:
    """What stands before a block: a `for` there is counted inside, an `if` here."""
    found = piece.rfind("for")
    if found < 0 or not re.search(r"\bfor\s*\([^{}]*\)\s*$", piece[found:]):
        return piece
    return piece[:found] + piece[found:].partition("(")[2].partition(";")[0]


def count_work(code: str, gm: dict[str, int], registers: frozenset[str] = frozenset()) -> Work:
    """Counts masked code.

    Args:
        code: statements.
        gm: pointers to global memory -> bytes of an element.
        registers: arrays of a thread, which are registers.
    """
    instructions = ub = gm_loads = gm_bytes = 0
    plain = _NO_WORK.sub(" ", code)
    for match in _SUBSCRIPT.finditer(plain):
        name = match.group(1)
        if name in gm:
            gm_bytes += gm[name]
            gm_loads += not _is_stored(plain, match.end() - 1)
        elif name in registers:
            continue
        elif not plain[: match.start()].endswith(f"{PLACE}("):
            ub += 1
        instructions += 1
    for match in _CALL.finditer(plain):
        name = match.group(1).rpartition("::")[2]
        if name not in _FREE_CALLS:
            instructions += _CALL_COST.get(name, _OTHER_CALL)
    for match in _OPERATOR.finditer(plain):
        instructions += _DIVISION_COST if _DIVISION.match(match.group()) else 1
    return Work(instructions, ub, gm_loads, gm_bytes)


def _is_stored(code: str, bracket: int) -> bool:
    depth = 0
    for at in range(bracket, len(code)):
        depth += (code[at] == "[") - (code[at] == "]")
        if depth == 0:
            rest = code[at + 1 :].lstrip()
            return rest[:1] == "=" and rest[:2] != "=="
    return False


def _size(kind: str) -> int:
    digits = re.search(r"(\d+)_t$", kind)
    if kind in _SIZES:
        return _SIZES[kind]
    return int(digits.group(1)) // 8 if digits else 4 if kind.startswith(("int", "uint")) else 1
