"""Writes small ELF64 files: what the stand-in linker produces, and raw material for damage tests.

The layout is header, section contents, section table. Fields of the header can be given, so that a
test can write a file that lies about itself.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = [
    "AARCH64",
    "AICORE",
    "EXECUTABLE",
    "SHARED_OBJECT",
    "Section",
    "Symbol",
    "dynamic_symbol_sections",
    "kernel_record",
    "write_elf",
]

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_ENTRY = struct.Struct("<IIQQQQIIQQ")
SYMBOL_ENTRY = struct.Struct("<IBBHQQ")

AICORE, AARCH64 = 0x1029, 183
EXECUTABLE, SHARED_OBJECT = 2, 3
PROGRAM_DATA, STRINGS, DYNAMIC_SYMBOLS = 1, 3, 11


@dataclass(frozen=True)
class Section:
    """One section; `link` is a section number (1 is the first section given)."""

    name: str
    content: bytes = b""
    kind: int = PROGRAM_DATA
    link: int = 0
    entry_size: int = 0


@dataclass(frozen=True)
class Symbol:
    """One dynamic symbol; the defaults are those of a defined, global, visible function."""

    name: str
    binding: int = 1
    kind: int = 2
    visibility: int = 0
    section: int = 1


@dataclass
class _Layout:
    blob: bytearray
    offsets: list[int] = field(default_factory=list)


def write_elf(
    sections: Sequence[Section],
    *,
    kind: int = EXECUTABLE,
    machine: int = AICORE,
    header: Mapping[str, int] | None = None,
    section_zero_link: int = 0,
) -> bytes:
    """Returns an ELF64 little-endian file with these sections and a table of their names.

    Args:
        sections: the sections after the empty section 0; `.shstrtab` is added at the end.
        kind: type of the file.
        machine: machine number.
        header: replaces `shoff`, `shentsize`, `shnum` or `shstrndx` of the header.
        section_zero_link: link field of section 0 (an extended string table index).
    """
    names = b"\0" + b"".join(s.name.encode() + b"\0" for s in sections) + b".shstrtab\0"
    everything = [*sections, Section(".shstrtab", names, STRINGS)]
    layout = _Layout(bytearray(HEADER.size))
    for section in everything:
        layout.blob += bytes(-len(layout.blob) % 8)
        layout.offsets.append(len(layout.blob))
        layout.blob += section.content
    layout.blob += bytes(-len(layout.blob) % 8)
    table_offset = len(layout.blob)
    layout.blob += SECTION_ENTRY.pack(0, 0, 0, 0, 0, 0, section_zero_link, 0, 0, 0)
    name_offset = 1
    for section, offset in zip(everything, layout.offsets, strict=True):
        layout.blob += _entry(section, name_offset, offset)
        name_offset += len(section.name.encode()) + 1
    fields = {
        "shoff": table_offset,
        "shentsize": SECTION_ENTRY.size,
        "shnum": len(everything) + 1,
        "shstrndx": len(everything),
        **(header or {}),
    }
    layout.blob[: HEADER.size] = _header(kind, machine, fields)
    return bytes(layout.blob)


def dynamic_symbol_sections(symbols: Sequence[Symbol], *, first: int = 1) -> list[Section]:
    """Returns `.dynsym` and `.dynstr` for these symbols.

    Args:
        symbols: the symbols after the empty symbol 0.
        first: number that the first returned section will have in the file.
    """
    strings = bytearray(b"\0")
    table = bytearray(SYMBOL_ENTRY.size)
    for symbol in symbols:
        info = symbol.binding << 4 | symbol.kind
        table += SYMBOL_ENTRY.pack(
            len(strings), info, symbol.visibility, symbol.section, 0x1000, 16
        )
        strings += symbol.name.encode() + b"\0"
    return [
        Section(".dynsym", bytes(table), DYNAMIC_SYMBOLS, first + 1, SYMBOL_ENTRY.size),
        Section(".dynstr", bytes(strings), STRINGS),
    ]


def kernel_record(num_aic: int, num_aiv: int) -> bytes:
    """Returns the content of a `.ascend.meta.<kernel>` section: kernel type, then core ratio."""
    kernel_type = {(1, 0): 2, (0, 1): 3}.get((num_aic, num_aiv), 4)
    record = struct.pack("<HHI", 1, 4, kernel_type)
    if num_aic and num_aiv:
        record += struct.pack("<HHHH", 3, 4, num_aic, num_aiv)
    return record


def _entry(section: Section, name_offset: int, offset: int) -> bytes:
    return SECTION_ENTRY.pack(
        name_offset,
        section.kind,
        0,
        0,
        offset,
        len(section.content),
        section.link,
        0,
        1,
        section.entry_size,
    )


def _header(kind: int, machine: int, fields: Mapping[str, int]) -> bytes:
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    return HEADER.pack(
        identity,
        kind,
        machine,
        1,
        0,
        0,
        fields["shoff"],
        0,
        HEADER.size,
        0,
        0,
        fields["shentsize"],
        fields["shnum"],
        fields["shstrndx"],
    )
