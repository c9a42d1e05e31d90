"""Kernel discovery in ELF files (deep_jit.md section 8): records, mix kernels, pairs, damage."""

from __future__ import annotations

import contextlib
import io
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_jit._shared.jit import elf
from deep_jit._shared.testing.stand_ins.elf_writer import (
    AARCH64,
    SHARED_OBJECT,
    Section,
    Symbol,
    dynamic_symbol_sections,
    kernel_record,
    write_elf,
)

KERNEL_OBJECT = write_elf(
    [
        Section(".text", b"\0" * 32),
        Section(".ascend.meta", b"whole file"),
        Section(".ascend.meta.plain", kernel_record(0, 1)),
        Section(".ascend.meta._Z3mixv_mix_aic", kernel_record(1, 2)),
        Section(".ascend.meta._Z3mixv_mix_aiv", kernel_record(1, 2)),
    ]
)
AICPU_OBJECT = write_elf(
    dynamic_symbol_sections(
        [
            Symbol("add"),
            Symbol("add_interface"),
            Symbol("helper"),
            Symbol("lonely_interface"),
            Symbol("local", binding=0),
            Symbol("local_interface"),
            Symbol("hidden", visibility=2),
            Symbol("hidden_interface"),
            Symbol("missing", section=0),
            Symbol("missing_interface"),
            Symbol("data", kind=1),
            Symbol("data_interface"),
        ]
    ),
    kind=SHARED_OBJECT,
    machine=AARCH64,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kernel.o"


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_records_name_kernels_and_mix_counts_once(file: Path) -> None:
    assert elf.aicore_kernels(_write(file, KERNEL_OBJECT)) == {"_Z3mixv": (1, 2), "plain": (0, 1)}


def test_writer_makes_what_pyelftools_reads(file: Path) -> None:
    sections = [section.name for section in ELFFile(io.BytesIO(KERNEL_OBJECT)).iter_sections()]
    assert sections[3:6] == [
        ".ascend.meta.plain",
        ".ascend.meta._Z3mixv_mix_aic",
        ".ascend.meta._Z3mixv_mix_aiv",
    ]


@pytest.mark.parametrize(
    ("section", "kernel"),
    [
        ("a_mix_aic", "a"),
        ("a_mix_aiv", "a"),
        ("a_mix_aiv_mix_aic", "a_mix_aiv"),
        ("mix_aic_a", "mix_aic_a"),
        ("_mix_aic", None),
        ("", None),
    ],
)
def test_one_mix_suffix_is_cut(file: Path, section: str, kernel: str | None) -> None:
    content = write_elf([Section(f".ascend.meta.{section}", b"")])
    expected = [] if kernel is None else [kernel]
    assert list(elf.aicore_kernels(_write(file, content))) == expected


@pytest.mark.parametrize(
    ("record", "cores"),
    [
        (kernel_record(1, 0), (1, 0)),
        (kernel_record(0, 1), (0, 1)),
        (kernel_record(1, 1), (1, 1)),
        (b"", (0, 0)),
        (b"\x03\0\xff\xff\x01\0", (0, 0)),
        (struct.pack("<HHI", 77, 4, 5) + kernel_record(1, 0), (1, 0)),
    ],
)
def test_cores_of_a_block(file: Path, record: bytes, cores: tuple[int, int]) -> None:
    content = write_elf([Section(".ascend.meta.k", record)])
    assert elf.aicore_kernels(_write(file, content)) == {"k": cores}


def test_extended_string_index(file: Path) -> None:
    sections = [Section(".ascend.meta.k", b"")]
    content = write_elf(sections, header={"shstrndx": 0xFFFF}, section_zero_link=2)
    assert list(elf.aicore_kernels(_write(file, content))) == ["k"]


def test_bad_name_offsets_are_skipped(file: Path) -> None:
    content = bytearray(KERNEL_OBJECT)
    (table,) = struct.unpack_from("<Q", content, 40)
    struct.pack_into("<I", content, table + 64 * 3, 0xFFFFFF)
    assert list(elf.aicore_kernels(_write(file, bytes(content)))) == ["_Z3mixv"]


def _patched(content: bytes, offset: int, layout: str, value: int) -> bytes:
    patched = bytearray(content)
    struct.pack_into(layout, patched, offset, value)
    return bytes(patched)


STRING_TABLE = struct.unpack_from("<Q", KERNEL_OBJECT, 40)[0] + 64 * 6
AICORE_FAULTS = {
    "invalid Ascend binary": KERNEL_OBJECT[:63],
    "not an ELF file": b"\x7fELG" + KERNEL_OBJECT[4:],
    "unsupported ELF format": _patched(KERNEL_OBJECT, 4, "<B", 1),
    "unsupported ELF format: ": _patched(KERNEL_OBJECT, 5, "<B", 2),
    "invalid ELF section table": _patched(KERNEL_OBJECT, 58, "<H", 40),
    "invalid ELF section table: ": _patched(KERNEL_OBJECT, 60, "<H", 0),
    "truncated ELF section table": _patched(KERNEL_OBJECT, 60, "<H", 900),
    "truncated ELF section table: ": _patched(KERNEL_OBJECT, 40, "<Q", (1 << 64) - 1),
    "invalid ELF string table index": _patched(KERNEL_OBJECT, 62, "<H", 7),
    "truncated ELF string table": _patched(KERNEL_OBJECT, STRING_TABLE + 32, "<Q", 1 << 40),
}


@pytest.mark.parametrize("message", AICORE_FAULTS)
def test_structural_errors(file: Path, message: str) -> None:
    with pytest.raises(elf.BinaryFormatError) as caught:
        elf.aicore_kernels(_write(file, AICORE_FAULTS[message]))
    assert str(caught.value).startswith(message)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("name", ["absent.o", "."])
def test_unreadable_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(elf.BinaryFormatError, match="^failed to open Ascend binary: "):
        elf.aicore_kernels(tmp_path / name)


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        (0, "invalid Ascend binary"),
        (1, "failed to read ELF section table"),
        (2, "failed to read ELF string table"),
    ],
)
@pytest.mark.parametrize("how", ["short", "error"])
def test_failing_reads(
    file: Path, monkeypatch: pytest.MonkeyPatch, reads: int, message: str, how: str
) -> None:
    class Failing(io.BytesIO):
        left = reads

        def read(self, size: int | None = -1) -> bytes:
            if self.left:
                self.left -= 1
                return super().read(size)
            if how == "error":
                raise OSError(5, "Input/output error")
            return super().read(size)[:-1]

    monkeypatch.setattr(elf, "_open", lambda path: Failing(KERNEL_OBJECT))
    with pytest.raises(elf.BinaryFormatError) as caught:
        elf.aicore_kernels(file)
    assert str(caught.value).startswith(message)


def test_aicpu_pairs(file: Path) -> None:
    assert elf.aicpu_kernels(_write(file, AICPU_OBJECT)) == ("add",)


@pytest.mark.parametrize(("offset", "value"), [(16, 2), (18, 62)])
def test_aicpu_needs_an_aarch64_shared_object(file: Path, offset: int, value: int) -> None:
    assert elf.aicpu_kernels(_write(file, _patched(AICPU_OBJECT, offset, "<H", value))) == ()


SYMBOL_TABLE = struct.unpack_from("<Q", AICPU_OBJECT, 40)[0] + 64
SYMBOL_STRINGS = SYMBOL_TABLE + 64
STRING_BYTES = struct.unpack_from("<Q", AICPU_OBJECT, SYMBOL_STRINGS + 32)[0]
FIRST_SYMBOL = struct.unpack_from("<Q", AICPU_OBJECT, SYMBOL_TABLE + 24)[0] + 24
AICPU_FAULTS = {
    "truncated AICPU ELF": _patched(AICPU_OBJECT, SYMBOL_TABLE + 24, "<Q", 1 << 50),
    "truncated AICPU ELF: ": _patched(AICPU_OBJECT, SYMBOL_STRINGS + 32, "<Q", 1 << 50),
    "invalid AICPU ELF symbol table": _patched(AICPU_OBJECT, SYMBOL_TABLE + 56, "<Q", 16),
    "invalid AICPU ELF symbol table: ": _patched(AICPU_OBJECT, SYMBOL_TABLE + 32, "<Q", 25),
    "invalid AICPU ELF string table": _patched(AICPU_OBJECT, SYMBOL_TABLE + 40, "<I", 99),
    "invalid AICPU ELF string table: ": _patched(AICPU_OBJECT, SYMBOL_TABLE + 40, "<I", 1),
    "invalid AICPU ELF symbol name": _patched(AICPU_OBJECT, FIRST_SYMBOL, "<I", STRING_BYTES),
    "unterminated AICPU ELF symbol name": _patched(
        AICPU_OBJECT, SYMBOL_STRINGS + 32, "<Q", STRING_BYTES - 1
    ),
}


@pytest.mark.parametrize("message", AICPU_FAULTS)
def test_aicpu_structural_errors(file: Path, message: str) -> None:
    with pytest.raises(elf.BinaryFormatError) as caught:
        elf.aicpu_kernels(_write(file, AICPU_FAULTS[message]))
    assert str(caught.value).startswith(message)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content, cut and with some of its bytes replaced; the header is hit most."""
    mutated = bytearray(content[: draw(st.integers(0, len(content)))])
    for _ in range(draw(st.integers(0, 6))):
        if not mutated:
            break
        place = draw(st.one_of(st.integers(0, min(63, len(mutated) - 1)), _place(mutated)))
        mutated[place] = draw(st.integers(0, 255))
    return bytes(mutated)


def _place(content: bytearray) -> st.SearchStrategy[int]:
    return st.integers(0, len(content) - 1)


@settings(max_examples=300, deadline=None)
@given(content=st.one_of(damaged(KERNEL_OBJECT), damaged(AICPU_OBJECT), st.binary(max_size=200)))
def test_damage_never_crashes(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.o"
    path.write_bytes(content)
    for discover in (elf.aicore_kernels, elf.aicpu_kernels):
        with contextlib.suppress(elf.BinaryFormatError):
            names = list(discover(path))
            assert names == sorted(set(names))


KERNEL_NAMES = st.lists(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True).filter(
        lambda name: not name.endswith(("_mix_aic", "_mix_aiv"))
    ),
    max_size=5,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(names=KERNEL_NAMES)
def test_agrees_with_pyelftools(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "agrees.o"
    path.write_bytes(write_elf([Section(f".ascend.meta.{name}", b"x") for name in names]))
    with path.open("rb") as stream:
        sections = [section.name for section in ELFFile(stream).iter_sections()]
    records = [name for name in sections if name.startswith(".ascend.meta.")]
    assert list(elf.aicore_kernels(path)) == sorted(
        name.removeprefix(".ascend.meta.") for name in records
    )
