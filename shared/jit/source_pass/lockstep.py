"""Lanes of a warp meet in SIMT functions that run thread by thread: behind loops, around branches.

    for (...) { ... }            ->  for (...) { ... } ::asc_emu::meet();
    if (lane == 0) { take(); }   ->  ::asc_emu::meet(); if (..) { take(); } ::asc_emu::meet();

On the device they advance in lockstep, and public programs rely on it (ascend_c_vector.md section
14.1). They read behind a loop what other lanes of the warp have stored in it. And lanes that read a
counter, one of which then changes it in a branch, have all read it before; behind the branch they
go on together. Branches matter in functions with warp operations, of the function and of what it
calls: those that change memory by an atomic, loop, or call. Functions that run all threads in one
call are left alone, and so are loops inside other statements: between lanes whose stores meet there
the documented contract is asc_syncthreads.
"""

from __future__ import annotations

import re
from collections.abc import Container

from .functions import FunctionHead, function_heads
from .loops import statement_end
from .plain_waits import simt_bodies
from .scan import Edits, Source, skip_blanks
from .simt.calls import WARP_OPERATION

__all__ = ["rewrite_lockstep"]

_BRANCH = re.compile(r"(?<=[;{}])\s*(?=if\s*\()")
_MEET = "::asc_emu::meet();"
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
    changes = _changes(source)
    for name, start, end in simt_bodies(source):
        if name not in converted and WARP_OPERATION.search(source.code, start, end):
            _meet_around_branches(source, (start, end), changes, edits)
    for head in function_heads(source, "__global__"):
        if _BOUND.search(head.qualifiers) and not _SCALAR.search(head.qualifiers):
            _meet_behind_loops(source, head, edits)


def _changes(source: Source) -> re.Pattern[str]:
    """What a branch holds that other lanes may notice: atomics, loops, calls."""
    callees = "|".join(sorted({head.name for head in function_heads(source, "__simt_callee__")}))
    call = rf"\b(?:{callees or '(?!)'})\s*(?:<[^;()]*>)?\("
    return re.compile(rf"\basc_atomic_|\b(?:for|while|do)\b|{call}")


def _meet_around_branches(
    source: Source, body: tuple[int, int], changes: re.Pattern[str], edits: Edits
) -> None:
    for match in _BRANCH.finditer(source.code, *body):
        start, end = match.end(), statement_end(source, match.end())
        if source.code[end - 1] == "}" and changes.search(source.code, start, end):
            edits.insert(start, f"{_MEET} ")
            edits.insert(end, f" {_MEET}")


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
            edits.insert(end, f" {_MEET}")
        at = following
