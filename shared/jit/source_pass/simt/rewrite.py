"""Finds the SIMT functions of a text and adds their forms that run all threads in one call."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..functions import FunctionHead, function_heads
from ..scan import Edits, Source, skip_blanks
from .analysis import plan_function
from .emit import emit_function
from .statements import Unsupported

__all__ = ["LaneFunctions", "rewrite_lanes"]

_MARK = "__simt_vf__"
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
    for head in function_heads(source, _MARK):
        opening = skip_blanks(source.code, head.end + 1)
        if source.code[opening : opening + 1] != "{":
            continue
        try:
            added.append(_convert(source, head, opening, edits))
            converted.append(head.name)
        except Unsupported as reason:
            kept[head.name] = str(reason)
    if not added:
        return LaneFunctions(text, (), kept)
    return LaneFunctions(
        "\n".join([edits.apply(text).rstrip("\n"), *added, ""]), tuple(converted), kept
    )


def _convert(source: Source, head: FunctionHead, opening: int, edits: Edits) -> str:
    if source.scopes.kind(head.position) != "file":
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
