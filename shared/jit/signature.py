"""Signatures as C++ type names, for binaries that carry no types (deep_jit.md section 7.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .backends.base import ParamInfo
from .errors import ArgumentError

__all__ = ["SignatureLike", "parse_signature"]

SignatureLike = str | Sequence[str | ParamInfo]

_SIZES = {
    "int": ("int", 4), "short": ("int", 2), "long": ("int", 8), "char": ("int", 1),
    "signed char": ("int", 1), "long long": ("int", 8),
    "unsigned": ("uint", 4), "unsigned int": ("uint", 4), "unsigned char": ("uint", 1),
    "unsigned short": ("uint", 2), "unsigned long": ("uint", 8),
    "unsigned long long": ("uint", 8), "size_t": ("uint", 8), "ptrdiff_t": ("int", 8),
    "intptr_t": ("int", 8), "uintptr_t": ("uint", 8),
    "bool": ("bool", 1), "half": ("float", 2), "bfloat16_t": ("struct", 2),
    "float": ("float", 4), "double": ("float", 8),
}  # fmt: skip
_FIXED = re.compile(r"(u?)int(8|16|32|64)_t")
_STRUCT = re.compile(r"struct\[(\d+)(?:,\s*align=(\d+))?\]")
_QUALIFIERS = re.compile(r"\b(const|volatile|restrict|__restrict__|__gm__|std::)\b|std::")


def parse_signature(signature: SignatureLike | None) -> tuple[ParamInfo, ...] | None:
    """Parameters of a signature, or None for None.

    Args:
        signature: ``"float*, int32_t, struct[24, align=8]"``, with or without parentheses, or a
            list of such names and of ParamInfo.

    Raises:
        ArgumentError: a type name is not known; the text lists what is.
    """
    if signature is None:
        return None
    items: Sequence[str | ParamInfo]
    items = _split(signature) if isinstance(signature, str) else signature
    return tuple(item if isinstance(item, ParamInfo) else _param(item) for item in items)


def _split(text: str) -> list[str]:
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    parts = re.split(r",(?![^\[]*\])", inner)
    return [part.strip() for part in parts] if inner.strip() else []


def _param(name: str) -> ParamInfo:
    if name.rstrip().endswith(("*", "&")):
        return ParamInfo("pointer", 8, 8, name)
    struct = _STRUCT.fullmatch(name)
    if struct:
        return ParamInfo("struct", int(struct[1]), int(struct[2] or 1), name)
    bare = " ".join(_QUALIFIERS.sub(" ", name).split())
    fixed = _FIXED.fullmatch(bare)
    if fixed:
        size = int(fixed[2]) // 8
        return ParamInfo("uint" if fixed[1] else "int", size, size, name)
    if bare not in _SIZES:
        raise ArgumentError(
            f"unknown type {name!r} in the signature; known: T*, [u]int{{8,16,32,64}}_t, "
            f"struct[bytes, align=n], {', '.join(_SIZES)}"
        )
    kind, size = _SIZES[bare]
    return ParamInfo(kind, size, size, name)
