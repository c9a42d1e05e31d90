"""Arrays declared in an on-chip memory become references to places there (emulator.md section 2).

    __cbuf__ half a[M][N];
->  static char site; auto& a = local_array<Space::l1, half[M][N]>(&site, 0);
    extern __ubuf__ uint8_t b[];
->  auto& b = dynamic_array<uint8_t[]>();

At file scope there is no running core yet: the declaration becomes a function and each use of the
name a call.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from .declarations import NAME, declaration_start, prefix_words, type_end
from .scan import Edits, Source, normalised, skip_blanks
from .spaces import ANY_SPACE, SPACES

__all__ = ["rewrite_arrays"]

_ALIGNAS = re.compile(r"\balignas\s*\(((?:[^()]|\([^()]*\))*)\)")


@dataclass(frozen=True)
class _Declarator:
    name: str
    dims: tuple[str, ...]


@dataclass(frozen=True)
class _Declaration:
    start: int
    end: int  # position of the semicolon
    words: frozenset[str]
    align: str
    space: str
    element: str
    declarators: tuple[_Declarator, ...]


def rewrite_arrays(source: Source, edits: Edits, names: dict[str, str], notes: list[str]) -> None:
    """Rewrites every array declaration that names an on-chip memory.

    Args:
        source: the text.
        edits: receives the replacements.
        names: receives file-scope name -> expression that replaces its uses.
        notes: receives what could not be rewritten.
    """
    path_hash = zlib.crc32(source.path.encode("utf-8", "surrogateescape"))
    tag = f"asc_emu_site_{path_hash:08x}"
    done = count = 0
    for match in ANY_SPACE.finditer(source.code):
        declaration = _parse(source, match) if match.start() >= done else None
        if declaration is None:
            continue
        done = declaration.end
        scope = source.scopes.kind(declaration.start)
        if scope == "type":
            listed = ", ".join(declarator.name for declarator in declaration.declarators)
            notes.append(
                f"{source.path}:{source.line(declaration.start)}: member array {listed} keeps its "
                "place in the object; declare on-chip arrays in a function or at file scope"
            )
            continue
        pieces = []
        for declarator in declaration.declarators:
            count += 1
            place = _Place(declaration, declarator, f"{tag}_{count}")
            pieces.append(place.at_file_scope(names) if scope == "file" else place.in_function())
        breaks = "\n" * source.code.count("\n", declaration.start, declaration.end)
        edits.replace(declaration.start, declaration.end + 1, " ".join(pieces) + breaks)


def _parse(source: Source, match: re.Match[str]) -> _Declaration | None:
    code = source.code
    start = declaration_start(code, match.start())
    if start is None:
        return None
    element_end = type_end(source, match.end())
    if element_end < 0:
        return None
    declarators = []
    at = element_end
    while True:
        found = _declarator(source, at)
        if found is None:
            return None
        declarator, at = found
        declarators.append(declarator)
        if code[at] == ";":
            break
        at += 1
    if not all(declarator.dims for declarator in declarators) and not (
        match.group(1) == "ubuf" and source.scopes.kind(start) == "code"
    ):
        return None
    aligned = _ALIGNAS.search(code, start, match.start())
    words = prefix_words(code, start, match.start())
    qualifiers = [word for word in ("const", "volatile") if word in words]
    return _Declaration(
        start=start,
        end=at,
        words=words,
        align=normalised(aligned.group(1)) if aligned else "0",
        space=SPACES[match.group(1)],
        element=normalised(" ".join([*qualifiers, code[match.end() : element_end]])),
        declarators=tuple(declarators),
    )


def _declarator(source: Source, position: int) -> tuple[_Declarator, int] | None:
    """Parses `name[..][..]` up to the `,` or `;` behind it.

    Pointers and arrays of pointers are ordinary variables: the qualifier is that of the pointee.
    A single object counts in a function, where SIMT code shares it between the threads of a block.
    """
    code = source.code
    name = NAME.match(code, skip_blanks(code, position))
    if name is None:
        return None
    dims = []
    at = skip_blanks(code, name.end())
    while code[at : at + 1] == "[":
        closing = source.closing(at)
        if closing < 0:
            return None
        dims.append(normalised(code[at + 1 : closing]))
        at = skip_blanks(code, closing + 1)
    if code[at : at + 1] not in (",", ";"):
        return None
    return _Declarator(name.group(), tuple(dims)), at


@dataclass(frozen=True)
class _Place:
    """The text that puts one declared array into its memory."""

    declaration: _Declaration
    declarator: _Declarator
    site: str

    @property
    def dynamic(self) -> bool:
        return self.declarator.dims[:1] == ("",)

    @property
    def expression(self) -> str:
        bounds = "".join(f"[({dim})]" if dim else "[]" for dim in self.declarator.dims)
        array = f"{self.declaration.element}{bounds}"
        if self.dynamic:
            return f"::asc_emu::dynamic_array<{array}>()"
        space = f"::asc_emu::Space::{self.declaration.space}"
        return f"::asc_emu::local_array<{space}, {array}>(&{self.site}, {self.declaration.align})"

    def in_function(self) -> str:
        reference = f"auto& {self.declarator.name} = {self.expression};"
        return reference if self.dynamic else f"static char {self.site}; {reference}"

    def at_file_scope(self, names: dict[str, str]) -> str:
        name = self.declarator.name
        if self.dynamic:  # may be declared again in another file, so it leaves nothing behind
            names[name] = f"({self.expression})"
            return ""
        names[name] = f"{name}()"
        site = f"static char {self.site};"
        return f"inline auto& {name}() {{ {site} return {self.expression}; }}"
