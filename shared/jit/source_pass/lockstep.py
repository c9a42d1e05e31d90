"""Lanes of a warp meet behind the loops of a SIMT function that runs thread by thread.

    for (...) { ... }            ->  for (...) { ... } ::asc_emu::meet();

On the device they advance in lockstep, and public programs read behind a loop what other lanes of
the warp have stored in it (ascend_c_vector.md section 14.1). Functions that run all threads in one
call are left alone, and so are loops inside other statements: between lanes whose stores meet there
the documented contract is asc_syncthreads.
"""

from __future__ import annotations

import re
from collections.abc import Container

from .functions import FunctionHead, function_heads
from .loops import statement_end
from .scan import Edits, Source, skip_blanks

__all__ = ["rewrite_lockstep"]

_LOOP = re.compile(r"(?:for|while|do)\b")
# Kernels of the scalar unit, which starts SIMT functions by itself.
_SCALAR = re.compile(r"\b__(?:vector|cube|mix|aicore)__")
_BOUND = re.compile(r"\b__launch_bounds__\b")


def rewrite_lockstep(source: Source, edits: Edits, converted: Container[str]) -> None:
    """Puts a meeting of the warp behind each loop of a by-thread function's outermost block.

    Args:
        source: the text.
        edits: where the changes go.
        converted: SIMT functions that run all threads in one call.
    """
    for head in function_heads(source, "__simt_vf__"):
        if head.name not in converted:
            _meet_behind_loops(source, head, edits)
    for head in function_heads(source, "__global__"):
        if _BOUND.search(head.qualifiers) and not _SCALAR.search(head.qualifiers):
            _meet_behind_loops(source, head, edits)


def _meet_behind_loops(source: Source, head: FunctionHead, edits: Edits) -> None:
    code = source.code
    opening = skip_blanks(code, head.end + 1)
    closing = source.closing(opening) if code[opening : opening + 1] == "{" else -1
    at = skip_blanks(code, opening + 1)
    while 0 <= at < closing:
        end = statement_end(source, at)
        if end <= at:
            return
        following = skip_blanks(code, end)
        loop = _LOOP.match(code, at)
        # NOTE: a loop without braces may get some at the same place, for its spin hint.
        whole = loop is not None and (code[end - 1] == "}" or loop.group() == "do")
        if whole and following < closing:
            edits.insert(end, " ::asc_emu::meet();")
        at = following
