"""Kernels of a text: definitions with `__global__`, instances whose address is taken, their cores.

The result feeds the table that `asc_emu/entry.hpp` exports (emulator.md section 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .functions import function_heads
from .scan import Source, normalised, skip_blanks

__all__ = [
    "KernelDecl",
    "Roles",
    "collect_kernels",
    "declared_roles",
    "infer_roles",
    "last_component",
]

Roles = tuple[int, int]
"""Cube and vector cores of one block, for example (1, 2)."""

_MIX = re.compile(r"\b__mix__\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_ADDRESS = re.compile(r"reinterpret_cast\s*<\s*(?:const\s+)?void\s*\*\s*>\s*\(\s*&")
_CUBE_CALL = re.compile(r"\basc_(?:mmad|fill_l1|copy_(?:gm2l1|l12|l0c2))")
_VECTOR_CALL = re.compile(
    r"\basc_(?:copy_(?:gm2ub|ub2)|vf_call|ndim_copy)|\b__simd_vf__|\b__simt_vf__"
)
_IS_TEMPLATE = re.compile(r"\btemplate\s*<")


@dataclass(frozen=True)
class KernelDecl:
    """One entry of the kernel table."""

    expression: str
    num_aic: int
    num_aiv: int


def last_component(expression: str) -> str:
    """Returns `f` of `a::b::f<args>`."""
    return expression.split("<", 1)[0].rsplit("::", 1)[-1].strip()


def infer_roles(code: str) -> Roles:
    """Guesses the cores of a kernel without qualifier from the instructions of its text."""
    cube = bool(_CUBE_CALL.search(code))
    vector = bool(_VECTOR_CALL.search(code))
    if cube and vector:
        return 1, 2
    return (1, 0) if cube else (0, 1)


def declared_roles(sources: Iterable[Source]) -> dict[str, Roles]:
    """Returns function name -> cores for each `__global__` function of the texts."""
    found: dict[str, Roles] = {}
    unqualified: dict[str, str] = {}
    for source in sources:
        for head in function_heads(source, "__global__"):
            cores = _roles(head.qualifiers)
            if cores is not None:
                found.setdefault(head.name, cores)
            else:
                unqualified[head.name] = unqualified.get(head.name, "") + source.code
    for name, code in unqualified.items():
        found.setdefault(name, infer_roles(code))
    return found


def collect_kernels(source: Source, roles: dict[str, Roles]) -> tuple[KernelDecl, ...]:
    """Returns the kernels of a root text in order of appearance.

    Args:
        source: the root text.
        roles: result of `declared_roles` over the root and its headers.
    """
    found: dict[str, KernelDecl] = {}
    for head in function_heads(source, "__global__"):
        defined = source.code[skip_blanks(source.code, head.end + 1) :][:1] == "{"
        if defined and not _IS_TEMPLATE.search(head.qualifiers):
            expression = source.scopes.qualified(head.position, head.name)
            found.setdefault(expression, KernelDecl(expression, *roles[head.name]))
    for expression in _instances(source):
        name = last_component(expression)
        known = {last_component(e) for e in found if "<" not in e}
        if "<" not in expression and (name not in roles or name in known):
            continue
        num_aic, num_aiv = roles.get(name) or infer_roles(source.code)
        found.setdefault(expression, KernelDecl(expression, num_aic, num_aiv))
    return tuple(found.values())


def _instances(source: Source) -> Iterable[str]:
    code = source.code
    for match in _ADDRESS.finditer(code):
        opening = code.rfind("(", match.start(), match.end())
        closing = source.closing(opening)
        expression = normalised(code[match.end() : closing]) if closing >= 0 else ""
        if re.fullmatch(r"[\w:]+(?:\s*<.*>)?", expression):
            yield expression


def _roles(qualifiers: str) -> Roles | None:
    mix = _MIX.search(qualifiers)
    if mix:
        return int(mix.group(1)), int(mix.group(2))
    if "__cube__" in qualifiers:
        return 1, 0
    return (0, 1) if "__vector__" in qualifiers else None
