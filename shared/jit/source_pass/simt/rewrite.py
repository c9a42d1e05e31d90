"""Finds the SIMT functions of a text and adds their forms that run all threads in one call."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ..functions import FunctionHead, function_heads
from ..scan import Edits, Source, skip_blanks
from .analysis import plan_function
from .emit import emit_function
from .statements import Unsupported

__all__ = ["LaneFunctions", "rewrite_lanes"]

_MARK = "__simt_vf__"
_BOUND = re.compile(r"\b__launch_bounds__\s*\(([^(),]+)[,)]")
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*$")


@dataclass(frozen=True)
class LaneFunctions:
    """A text with its SIMT functions in both forms.

    Attributes:
        text: the text; lines of the original keep their numbers, new functions follow at the end.
        converted: functions that run all threads in one call.
        kept: functions that run a thread at a time -> why.
    """

    text: str
    converted: tuple[str, ...]
    kept: dict[str, str]


def rewrite_lanes(text: str, path: str) -> LaneFunctions:
    """Adds to each SIMT function at file scope that can be split one that runs all its threads."""
    if _MARK not in text:
        return LaneFunctions(text, (), {})
    source = Source(text, path)
    edits = Edits()
    added: list[str] = []
    converted: list[str] = []
    kept: dict[str, str] = {}
    bounds = 0
    heads = [head for head in function_heads(source, _MARK) if _opening(source, head) >= 0]
    names = Counter(head.name for head in heads)
    for head in heads:
        opening = _opening(source, head)
        if names[head.name] == 1:
            bounds += _declare_bound(source, head, opening, edits)
        try:
            added.append(_convert(source, head, opening, edits))
            converted.append(head.name)
        except Unsupported as reason:
            kept[head.name] = str(reason)
    if not added and not bounds:
        return LaneFunctions(text, (), kept)
    return LaneFunctions(
        "\n".join([edits.apply(text).rstrip("\n"), *added, ""]), tuple(converted), kept
    )


def _opening(source: Source, head: FunctionHead) -> int:
    """Returns the `{` of a definition, or -1 for a declaration."""
    opening = skip_blanks(source.code, head.end + 1)
    return opening if source.code[opening : opening + 1] == "{" else -1


def _is_global(source: Source, head: FunctionHead) -> bool:
    return next(iter(source.scopes.chain(head.position)), None) is None


def _declare_bound(source: Source, head: FunctionHead, opening: int, edits: Edits) -> int:
    """Tells calls of a function what its `__launch_bounds__` allows; returns how many it has."""
    bound = _BOUND.search(head.qualifiers)
    if bound is None or "template" in head.qualifiers or not _is_global(source, head):
        return 0
    edits.insert(
        source.closing(opening) + 1,
        f" template <> struct asc_emu::SimtBound<&{head.name}> {{ "
        f"static constexpr uint32_t kMostThreads = {bound.group(1)}; }};",
    )
    return 1


def _convert(source: Source, head: FunctionHead, opening: int, edits: Edits) -> str:
    if not _is_global(source, head):
        raise Unsupported("not at file scope")
    if "template" in head.qualifiers:
        raise Unsupported("a template")
    start = source.code.rfind("(", 0, head.end)
    while source.closing(start) != head.end:
        start = source.code.rfind("(", 0, start)
    parameters = source.text[start + 1 : head.end]
    names = tuple(
        match.group(1)
        for piece in source.code[start + 1 : head.end].split(",")
        if (match := _PARAMETER.search(piece.rstrip()))
    )
    plan = plan_function(source, opening, names)
    lanes = f"asc_emu_lanes_of_{head.name}"
    closing = source.closing(opening)
    edits.insert(
        closing + 1,
        f" void {lanes}({' '.join(parameters.split())}); "
        f"template <> struct asc_emu::SimtLanes<&{head.name}> {{ "
        f"static constexpr bool kKnown = true; static constexpr auto kRun = &{lanes}; }};",
    )
    return emit_function(source, lanes, parameters, plan)
