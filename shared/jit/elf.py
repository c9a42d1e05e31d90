"""Kernels in Ascend binaries, AICore and AICPU, by their ELF tables (deep_jit.md section 8).

Every structural fault of a file is one `BinaryFormatError` whose text starts with the published
message; no file, however damaged, raises anything else. The tables are read with `struct` because
the messages name the exact field at fault; the tests compare the result with pyelftools.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import Error

__all__ = [
    "AICPU_SUFFIX",
    "META_PREFIX",
    "BinaryFormatError",
    "CoreCounts",
    "aicore_kernels",
    "aicpu_kernels",
]

CoreCounts = tuple[int, int]
"""Cube and vector cores of one block; (0, 0) when the binary does not tell."""

META_PREFIX = ".ascend.meta."
AICPU_SUFFIX = "_interface"

_MIX_SUFFIXES = ("_mix_aic", "_mix_aiv")
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_CLASS_64, _DATA_LITTLE_ENDIAN = 2, 1
_TYPE_SHARED_OBJECT, _MACHINE_AARCH64 = 3, 183
_STRING_INDEX_EXTENDED = 0xFFFF
_SECTION_PROGRAM_DATA, _SECTION_STRINGS, _SECTION_DYNAMIC_SYMBOLS = 1, 3, 11
_META_ENTRY = struct.Struct("<HH")
_META_KERNEL_TYPE, _META_CORE_RATIO = 1, 3
_CORES_OF_TYPE = {2: (1, 0), 3: (0, 1)}

_BIND_GLOBAL, _KIND_FUNCTION, _VISIBILITY_DEFAULT, _INDEX_UNDEFINED = 1, 2, 0, 0


class BinaryFormatError(Error):
    """A compiled kernel file is not the ELF file that Ascend tools write."""


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    offset: int
    size: int
    link: int
    entry_size: int


def aicore_kernels(path: str | os.PathLike[str]) -> dict[str, CoreCounts]:
    """Returns the kernels of an AICore object (`kernel.o`) by name, with the cores of one block.

    Args:
        path: an ELF64 little-endian file; each section `.ascend.meta.<name>` is one record of a
            kernel.

    Raises:
        BinaryFormatError: the file cannot be opened or is not such a file.
    """
    with _open(path) as stream:
        image = _Image(stream, path)
        cores: dict[str, CoreCounts] = {}
        for name, record in image.meta_records():
            cores[name] = max(cores.get(name, (0, 0)), _core_counts(image.content(record)))
    return dict(sorted(cores.items()))


def aicpu_kernels(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Returns the sorted names of the kernels in an AICPU shared object (`kernel.aicpu.so`).

    A kernel is a name N for which the functions N and N_interface are both defined, global and
    visible.

    Raises:
        BinaryFormatError: the file cannot be opened or its tables are damaged.
    """
    with _open(path) as stream:
        functions = _Image(stream, path).dynamic_functions()
    return tuple(sorted(name for name in functions if name + AICPU_SUFFIX in functions))


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise BinaryFormatError(
            f"failed to open Ascend binary: {os.fspath(path)}: {error}"
        ) from error


class _Image:
    """The header and the section table of one ELF file."""

    def __init__(self, stream: BinaryIO, path: str | os.PathLike[str]) -> None:
        self._stream = stream
        self._path = os.fspath(path)
        self._size = stream.seek(0, io.SEEK_END)
        header = self._header()
        self.kind, self.machine = header[1], header[2]
        self._sections = self._section_table(
            offset=header[6], entry_size=header[11], count=header[12]
        )
        self._string_index = header[13]

    def meta_records(self) -> Iterator[tuple[str, _Section]]:
        """Yields kernel name and section of every record; a mix record without its suffix."""
        strings = self._section_names()
        for section in self._sections:
            if section.name >= len(strings):
                continue
            name = strings[section.name :].split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
            if name.startswith(META_PREFIX):
                kernel = _without_mix_suffix(name.removeprefix(META_PREFIX))
                if kernel:
                    yield kernel, section

    def content(self, section: _Section) -> bytes:
        """Returns the bytes of a record, empty when they lie outside the file."""
        if section.kind != _SECTION_PROGRAM_DATA or section.offset + section.size > self._size:
            return b""
        self._stream.seek(section.offset)
        return self._stream.read(section.size)

    def dynamic_functions(self) -> set[str]:
        """Returns the defined, global, visible functions of an AArch64 shared object."""
        if (self.kind, self.machine) != (_TYPE_SHARED_OBJECT, _MACHINE_AARCH64):
            return set()
        functions: set[str] = set()
        for section in self._sections:
            if section.kind == _SECTION_DYNAMIC_SYMBOLS:
                functions.update(self._functions_of(section))
        return functions

    def _functions_of(self, table: _Section) -> Iterator[str]:
        if table.entry_size != _SYMBOL.size or table.size % _SYMBOL.size:
            raise self._error(
                "invalid AICPU ELF symbol table",
                f"entry size {table.entry_size}, table size {table.size}",
            )
        if table.link >= len(self._sections) or self._sections[table.link].kind != _SECTION_STRINGS:
            raise self._error("invalid AICPU ELF string table", f"section index {table.link}")
        truncated = "truncated AICPU ELF"
        symbols = self._read(table.offset, table.size, truncated, truncated)
        names = self._sections[table.link]
        strings = self._read(names.offset, names.size, truncated, truncated)
        for name, info, other, index, _, _ in _SYMBOL.iter_unpack(symbols):
            if _is_entry(info, other, index):
                yield self._symbol_name(strings, name)

    def _symbol_name(self, strings: bytes, offset: int) -> str:
        if offset >= len(strings):
            raise self._error(
                "invalid AICPU ELF symbol name", f"offset {offset} of {len(strings)} bytes"
            )
        end = strings.find(b"\0", offset)
        if end < 0:
            raise self._error("unterminated AICPU ELF symbol name", f"offset {offset}")
        return strings[offset:end].decode("utf-8", "surrogateescape")

    def _header(self) -> tuple[int, ...]:
        if self._size < _HEADER.size:
            raise self._error(
                "invalid Ascend binary", f"{self._size} bytes, an ELF header has {_HEADER.size}"
            )
        raw = self._read(0, _HEADER.size, "invalid Ascend binary", "invalid Ascend binary")
        identity, *fields = _HEADER.unpack(raw)
        if identity[:4] != b"\x7fELF":
            raise self._error("not an ELF file", f"it starts with {identity[:4]!r}")
        if (identity[4], identity[5]) != (_CLASS_64, _DATA_LITTLE_ENDIAN):
            raise self._error(
                "unsupported ELF format",
                f"class {identity[4]}, data {identity[5]}; allowed: 64-bit little-endian",
            )
        return (0, *fields)

    def _section_table(self, *, offset: int, entry_size: int, count: int) -> list[_Section]:
        if entry_size != _SECTION.size or count == 0:
            raise self._error(
                "invalid ELF section table", f"{count} sections of {entry_size} bytes"
            )
        raw = self._read(
            offset,
            count * _SECTION.size,
            "truncated ELF section table",
            "failed to read ELF section table",
        )
        return [
            _Section(name, kind, offset, size, link, entry)
            for name, kind, _, _, offset, size, link, _, _, entry in _SECTION.iter_unpack(raw)
        ]

    def _section_names(self) -> bytes:
        index = self._string_index
        if index == _STRING_INDEX_EXTENDED:
            index = self._sections[0].link
        if index >= len(self._sections):
            raise self._error(
                "invalid ELF string table index", f"{index} of {len(self._sections)} sections"
            )
        table = self._sections[index]
        return self._read(
            table.offset,
            table.size,
            "truncated ELF string table",
            "failed to read ELF string table",
        )

    def _read(self, offset: int, size: int, outside: str, short: str) -> bytes:
        """Reads a range; `outside` is the message of a small file, `short` of a failed read."""
        if offset + size > self._size:
            raise self._error(outside, f"bytes {offset}..{offset + size} of {self._size}")
        try:
            self._stream.seek(offset)
            data = self._stream.read(size)
        except OSError as error:
            raise self._error(short, str(error)) from error
        if len(data) != size:
            raise self._error(short, f"got {len(data)} of {size} bytes")
        return data

    def _error(self, message: str, detail: str) -> BinaryFormatError:
        return BinaryFormatError(
            f"{message}: {self._path} ({detail}); delete the cache entry so that the kernel is "
            "compiled again"
        )


def _without_mix_suffix(name: str) -> str:
    for suffix in _MIX_SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _core_counts(record: bytes) -> CoreCounts:
    """Reads the entries of a record: the core ratio decides, else the kernel type."""
    counts: CoreCounts = (0, 0)
    offset = 0
    while offset + _META_ENTRY.size <= len(record):
        kind, length = _META_ENTRY.unpack_from(record, offset)
        body = record[offset + _META_ENTRY.size :][:length]
        offset += _META_ENTRY.size + length
        if kind == _META_CORE_RATIO and len(body) >= 4:
            first, second = struct.unpack_from("<HH", body)
            return first, second
        if kind == _META_KERNEL_TYPE and len(body) >= 4:
            counts = _CORES_OF_TYPE.get(struct.unpack_from("<I", body)[0], counts)
    return counts


def _is_entry(info: int, other: int, index: int) -> bool:
    return (info >> 4, info & 15, other & 3) == (
        _BIND_GLOBAL,
        _KIND_FUNCTION,
        _VISIBILITY_DEFAULT,
    ) and (index != _INDEX_UNDEFINED)
