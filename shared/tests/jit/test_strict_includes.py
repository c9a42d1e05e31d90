"""Upstream's include scanner and its errors (deep_jit.md section 12, upstream's parser cases)."""

from __future__ import annotations

from pathlib import Path

import pytest

from deep_jit._shared.jit.errors import IncludeError
from deep_jit._shared.jit.key import compat_hash
from deep_jit._shared.jit.strict_includes import StrictIncludeParser


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    return tmp_path / "lib"


@pytest.fixture
def parser(lib: Path) -> StrictIncludeParser:
    return StrictIncludeParser([lib.parent], ["lib/"], compat_hash)


@pytest.mark.parametrize(
    "text",
    [
        '#include "lib/a"',
        '#include "cuda_runtime.h"',
        '/*\n#include "x"\n*/',
        "#include <>",
        "#include < lib/a>",
        "#include <lib/a >",
        '#include <lib/a"',
        '#if 0\n#include "x"\n#endif',
    ],
)
def test_non_standard(parser: StrictIncludeParser, text: str) -> None:
    with pytest.raises(IncludeError, match="non-standard include: "):
        parser.parse(text.encode())
    assert not parser.visiting


@pytest.mark.parametrize(
    "text",
    [
        "/**/ #include <lib/no>",
        "#import <lib/no>",
        "#include_next <lib/no>",
        "#include MACRO",
        "#include /*c*/ <lib/no>",
        "%:include <lib/no>",
        "#include <lib/no",
        "#include <lib_extra/no>",
    ],
)
def test_ignored(parser: StrictIncludeParser, text: str) -> None:
    assert parser.parse(text.encode()).digest == compat_hash(text)


def test_digest_recursion_repeats_duplicates(parser: StrictIncludeParser, lib: Path) -> None:
    (lib / "b").write_text("b")
    (lib / "a").write_text("#include <lib/b>\n")
    b = compat_hash("b")
    a = compat_hash("#include <lib/b>\n", b)
    text = "#include <lib/a>\n# include <lib/b> // x\n#include <lib/a>\n"
    tree = parser.parse(text.encode())
    assert tree.digest == compat_hash(text, a, b, a)
    assert [item.name for item in tree.tracked] == ["lib/a", "lib/b"]


def test_cycle_is_an_error_and_leaves_no_state(parser: StrictIncludeParser, lib: Path) -> None:
    (lib / "a").write_text("#pragma once\n#include <lib/b>\n")
    (lib / "b").write_text("#pragma once\n#include <lib/a>\n")
    with pytest.raises(IncludeError, match="circular include may occur: lib/a"):
        parser.parse(b"#include <lib/a>\n")
    assert not parser.visiting
    (lib / "b").write_text("")
    assert parser.parse(b"#include <lib/a>\n").digest


def test_missing_is_an_error_even_in_a_false_branch(parser: StrictIncludeParser) -> None:
    with pytest.raises(IncludeError, match="failed to open: lib/no"):
        parser.parse(b"#if 0\n#include <lib/no>\n#endif\n")


def test_edits_are_seen_by_new_parsers_only(parser: StrictIncludeParser, lib: Path) -> None:
    (lib / "a").write_text("1")
    before = parser.parse(b"#include <lib/a>\n").digest
    (lib / "a").write_text("2")
    assert parser.parse(b"#include <lib/a>\n").digest == before
    fresh = StrictIncludeParser([lib.parent], ["lib/"], compat_hash)
    assert fresh.parse(b"#include <lib/a>\n").digest != before


def test_deep_graph_with_shared_nodes(parser: StrictIncludeParser, lib: Path) -> None:
    for index in range(64):
        below = [i for i in (index + 1, index + 2) if i < 64]
        (lib / str(index)).write_text("".join(f"#include <lib/{i}>\n" for i in below))
    tree = parser.parse(b"#include <lib/0>\n")
    assert len(tree.tracked) == 64
