"""The source pass: makes Ascend C text compile with a host compiler against the emulator's headers.

One text in, one text out, same lines (emulator.md sections 1 and 2). The rewritten text calls
`asc_emu/source_pass.hpp` and, for launches, `asc_emu/program.hpp`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .arrays import rewrite_arrays
from .bases import rewrite_bases
from .kernels import KernelDecl, Roles, collect_kernels, declared_roles
from .launches import rewrite_launches
from .lockstep import rewrite_lockstep
from .loops import rewrite_loops
from .names import rewrite_uses
from .roles import rewrite_roles
from .scan import Edits, Source
from .simt import rewrite_lanes
from .spaces import SPACES
from .vector_calls import rewrite_vector_calls, vector_functions

__all__ = ["RewriteResult", "rewrite", "rewrite_headers"]

_MARKS = (
    "<<<",
    "__simd_vf__",
    "__simt_vf__",
    "__simt_callee__",
    "__launch_bounds__",
    "_IS_AI",
    "_IS_NOT_AI",
    "while",
    *(f"__{space}__" for space in SPACES),
)
_ENDLESS = re.compile(r"for\s*\((?:[^;]*;\s*;|\s*;[^;]*;\s*\))")


@dataclass(frozen=True)
class RewriteResult:
    """A rewritten root text.

    Attributes:
        text: what the host compiler gets.
        kernels: the entries of the kernel table, in order.
        notes: things that could not be rewritten, one sentence each with file and line.
    """

    text: str
    kernels: tuple[KernelDecl, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Known:
    """What the texts of one build tell each other."""

    names: Mapping[str, str]
    roles: dict[str, Roles]
    vector_functions: frozenset[str]


@dataclass(frozen=True)
class _Body:
    text: str
    includes: tuple[str, ...] = ()


def rewrite(
    text: str,
    *,
    path: str,
    header_texts: Mapping[str, str] | None = None,
    program: bool = False,
) -> RewriteResult:
    """Rewrites a root text.

    Args:
        text: Ascend C source.
        path: the name compilers and debuggers shall show for it.
        header_texts: name -> text of the headers the root includes; qualifiers of kernels and
            on-chip file-scope names are looked up there.
        program: the text has its own `main`: no kernel table is appended.

    Raises:
        SourcePassError: a launch or a role list has a form that no device compiler takes either.
    """
    lanes = rewrite_lanes(text, path)
    source = Source(lanes.text, path)
    headers = [Source(header, name) for name, header in (header_texts or {}).items()]
    notes: list[str] = []
    known = _collect(headers, [source])
    body = _rewrite_body(source, known, notes, lanes.converted)
    kernels: tuple[KernelDecl, ...] = ()
    if not program and ("__global__" in text or "reinterpret_cast" in text):
        kernels = collect_kernels(source, known.roles)
    simt: tuple[str, ...] = ("simt/call",) if lanes.text != text else ()
    if lanes.converted:
        simt = ("simt/lanes", "simt/all_reduce")
    includes = (*simt, *body.includes, *(("entry",) if kernels else ()))
    if not includes:
        return RewriteResult(text, (), tuple(notes))
    return RewriteResult(
        _prologue(includes, path) + body.text + _table(kernels), kernels, tuple(notes)
    )


def rewrite_headers(header_texts: Mapping[str, str], *, always: bool = False) -> dict[str, str]:
    """Rewrites the headers of a root; returns name -> text, or {} when none needs a change.

    If one needs a change all are returned, so that includes relative to a header find their
    rewritten neighbours when the result is written to one folder.

    Args:
        header_texts: name, as found relative to an include folder -> text.
        always: return all even if none needs a change.
    """
    sources = [Source(text, name) for name, text in header_texts.items()]
    known = _collect(sources)
    rewritten = {}
    changed = False
    for source in sources:
        body = _rewrite_body(source, known, [])
        changed = changed or bool(body.includes)
        rewritten[source.path] = _prologue(body.includes, source.path) + body.text
    return rewritten if changed or always else {}


def _concerned(text: str) -> bool:
    """Whether a text may need a rewrite; quick, and never wrong with "no"."""
    return any(mark in text for mark in _MARKS) or bool(_ENDLESS.search(text))


def _rewrite_body(
    source: Source, known: _Known, notes: list[str], converted: Sequence[str] = ()
) -> _Body:
    if not known.names and not known.vector_functions and not _concerned(source.text):
        return _Body(source.text)
    edits = Edits()
    own: dict[str, str] = {}
    rewrite_roles(source, edits)
    rewrite_arrays(source, edits, own, notes)
    rewrite_bases(source, edits, own)
    rewrite_loops(source, edits)
    rewrite_lockstep(source, edits, converted)
    launches = rewrite_launches(source, known.roles, edits)
    calls = rewrite_vector_calls(source, known.vector_functions, edits)
    rewrite_uses(source, edits, {**known.names, **own})
    if not edits.items:
        return _Body(source.text)
    includes = ("source_pass", *(("program",) if launches else ()))
    return _Body(edits.apply(source.text), (*includes, *(("vector_direct",) if calls else ())))


def _file_scope_names(headers: Sequence[Source]) -> dict[str, str]:
    names: dict[str, str] = {}
    for header in headers:
        if _concerned(header.text):
            rewrite_arrays(header, Edits(), names, [])
            rewrite_bases(header, Edits(), names)
    return names


def _collect(headers: Sequence[Source], roots: Sequence[Source] = ()) -> _Known:
    sources = [*roots, *headers]
    return _Known(
        names=_file_scope_names(headers),
        roles=declared_roles(source for source in sources if "__global__" in source.text),
        vector_functions=vector_functions(sources),
    )


def _prologue(includes: Sequence[str], path: str) -> str:
    name = path.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'#include "asc_emu/{include}.hpp"' for include in includes]
    return "\n".join([*lines, f'#line 1 "{name}"', ""])


def _table(kernels: tuple[KernelDecl, ...]) -> str:
    if not kernels:
        return ""
    entries = [f"ASC_EMU_KERNEL({k.num_aic}, {k.num_aiv}, {k.expression})" for k in kernels]
    head = ["", '#line 1 "<kernel table>"', "ASC_EMU_KERNELS_BEGIN"]
    return "\n".join([*head, *entries, "ASC_EMU_KERNELS_END", ""])
