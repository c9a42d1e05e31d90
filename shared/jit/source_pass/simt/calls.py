"""Calls in SIMT functions: those that wait for other threads, and those known not to."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from ..scan import Source, skip_blanks
from .statements import Unsupported

__all__ = ["WARP_OPERATION", "Collective", "check_calls", "find_collectives", "is_barrier"]

_BARRIER = re.compile(r"asc_syncthreads\s*\(\s*\)\s*;")
_REDUCERS = {"SumOp": "Add", "MaxOp": "Max", "MinOp": "Min"}
_ALL_REDUCE = re.compile(
    r"tl\s*::\s*AscendAllReduce\s*<(?P<arguments>[^<>;]*)>\s*::\s*run\s*(?=\()"
)
WARP_OPERATION = re.compile(
    r"(?<![\w:])(?P<name>asc_shfl(?:_up|_down|_xor)?|asc_reduce_(?:add|max|min)|asc_ballot|asc_any|"
    r"asc_all|asc_activemask)\s*(?=\()"
)
_OPERATIONS = {
    "asc_shfl": "Shuffled<::asc_emu::simt::Shuffle::index>",
    "asc_shfl_up": "Shuffled<::asc_emu::simt::Shuffle::up>",
    "asc_shfl_down": "Shuffled<::asc_emu::simt::Shuffle::down>",
    "asc_shfl_xor": "Shuffled<::asc_emu::simt::Shuffle::exclusive_or>",
    "asc_reduce_add": "Reduced<::asc_emu::simt::Add>",
    "asc_reduce_max": "Reduced<::asc_emu::simt::Max>",
    "asc_reduce_min": "Reduced<::asc_emu::simt::Min>",
    "asc_ballot": "Voted<::asc_emu::simt::lanes::Poll::mask>",
    "asc_any": "Voted<::asc_emu::simt::lanes::Poll::any>",
    "asc_all": "Voted<::asc_emu::simt::lanes::Poll::all>",
    "asc_activemask": "Voted<::asc_emu::simt::lanes::Poll::active>",
}
_WAITING = re.compile(
    r"asc_syncthreads|AscendAllReduce|asc_shfl|asc_reduce_|asc_ballot|asc_any|asc_all|"
    r"asc_activemask|cooperative_groups|\bclock\b"
)
_CALL = re.compile(r"(?P<name>(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*(?:<[\w\s,:*]*>\s*)?\(")
# Functions of the math library, and control words in front of parentheses.
_PLAIN = re.compile(
    r"(?:if|for|ASC_EMU_SIMT_UB|sizeof|alignof|static_cast|reinterpret_cast|const_cast|max|min|"
    r"(?:u|ll|ull)?(?:max|min)|fdividef|is(?:nan|inf|finite)|abs|labs|printf|laneid|"
    r"(?:exp|exp2|exp10|expm1|log|log2|log10|log1p|sqrt|rsqrt|cbrt|rcbrt|pow|fma|fabs|fmax|fmin|"
    r"fmod|floor|ceil|trunc|round|rint|nearbyint|sin|cos|tan|tanh|sinh|cosh|asin|acos|atan|atan2|"
    r"erf|erfc|copysign|ldexp|hypot)f?|"
    r"h2?(?:cos|sin|tan|tanh|exp|exp2|exp10|log|log2|log10|log1p|sqrt|rsqrt|rcp|floor|ceil|rint|"
    r"round|trunc|abs|atan|erf)|make_\w+|__\w+|asc_(?:atomic_\w+|ldc[ag]|stcg|stwt|threadfence\w*)|"
    r"tl::(?:detail|philox|limits)\w*(?:::\w+)?|"
    r"u?int(?:8|16|32|64)_t|unsigned|int|long|short|char|bool|float|half|bfloat16_t|"
    r"(?:float|fp)[48]_\w+|tl::float_\w+|"
    r"(?:u?char|u?short|u?int|u?long|float|half|bfloat16x)[1-4](?:_t)?|uint|uchar|ushort)"
)


@dataclass(frozen=True)
class Collective:
    """A call that the lanes of a warp or block make together.

    Attributes:
        start, end: range of the call in the text.
        arguments: ranges of its arguments.
        function: the operation on arrays of lanes, a type of `asc_emu/simt/lanes.hpp`.
        used: how many of the arguments it takes.
    """

    start: int
    end: int
    arguments: tuple[tuple[int, int], ...]
    function: str
    used: int


def is_barrier(source: Source, start: int, end: int) -> bool:
    """Whether a statement is a barrier and nothing else."""
    return bool(_BARRIER.fullmatch(source.code[start:end].strip()))


def find_collectives(source: Source, start: int, end: int) -> list[Collective]:
    """Returns the collective calls in a range.

    Raises:
        Unsupported: a call waits for other threads in a form that is not split.
    """
    code = source.code
    found = [_all_reduce(source, match) for match in _ALL_REDUCE.finditer(code, start, end)]
    found += [_warp_call(source, match) for match in WARP_OPERATION.finditer(code, start, end)]
    found.sort(key=lambda call: call.start)
    for one, other in itertools.pairwise(found):
        if other.start < one.end:
            raise Unsupported("a warp operation inside another")
    rest = _without(code, start, end, found)
    if waiting := _WAITING.search(rest):
        raise Unsupported(waiting.group())
    return found


def check_calls(source: Source, start: int, end: int) -> None:
    """Raises Unsupported if a range calls something that may wait, or read the thread's place."""
    code = source.code
    for match in _CALL.finditer(code, start, end):
        name = re.sub(r"\s", "", match.group("name"))
        if not _PLAIN.fullmatch(name) and not _WAITING.match(name.rpartition("::")[2]):
            if "AscendAllReduce" in name or name == "run":
                continue
            raise Unsupported(f"call of {name}")


def _without(code: str, start: int, end: int, calls: list[Collective]) -> str:
    pieces = []
    at = start
    for call in calls:
        pieces += [code[at : call.start], " ".join(code[a:b] for a, b in call.arguments)]
        at = call.end
    pieces.append(code[at:end])
    return " ".join(pieces)


def _all_reduce(source: Source, match: re.Match[str]) -> Collective:
    words = [word.strip() for word in match.group("arguments").split(",")]
    reducer = _REDUCERS.get(words[0].rpartition("::")[2])
    if reducer is None or len(words) != 4:
        raise Unsupported(f"AscendAllReduce<{match.group('arguments')}>")
    if words[3] != "0":
        raise Unsupported("AscendAllReduce with a thread offset")
    function = f"AllReduce<::asc_emu::simt::{reducer}, {words[1]}, {words[2]}>"
    return _collective(source, match.start(), match.end(), function, used=1)


def _warp_call(source: Source, match: re.Match[str]) -> Collective:
    return _collective(source, match.start(), match.end(), _OPERATIONS[match.group("name")], used=3)


def _collective(source: Source, start: int, opening: int, function: str, used: int) -> Collective:
    closing = source.closing(opening)
    if closing < 0:
        raise Unsupported("unbalanced parentheses")
    arguments = _arguments(source, opening + 1, closing)
    return Collective(start, closing + 1, arguments, function, min(used, len(arguments)))


def _arguments(source: Source, start: int, end: int) -> tuple[tuple[int, int], ...]:
    code = source.code
    if skip_blanks(code, start) >= end:
        return ()
    ranges = []
    first = at = start
    while at < end:
        if code[at] in "([{":
            at = source.closing(at)
        elif code[at] == ",":
            ranges.append((first, at))
            first = at + 1
        at += 1
    return (*ranges, (first, end))
