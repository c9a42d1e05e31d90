"""The default include tree: what changes the digest and what must not (deep_jit.md section 12)."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_jit._shared.jit.errors import IncludeError
from deep_jit._shared.jit.includes import IncludeParser, check_used_headers

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write ``inc/<name>`` with a modification time well in the past."""

    def write_file(name: str, text: str, directory: str = "inc") -> Path:
        path = tmp_path / directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
        return path

    (tmp_path / "inc").mkdir()
    return write_file


@pytest.fixture
def parser(tmp_path: Path) -> IncludeParser:
    return IncludeParser([tmp_path / "inc"], ["lib/"])


def digest(parser: IncludeParser, text: str) -> str:
    return parser.parse(text.encode()).digest


def tracked(parser: IncludeParser, text: str) -> list[str]:
    return [item.name for item in parser.parse(text.encode()).tracked]


def test_only_prefixed_names_are_tracked(write: Write, parser: IncludeParser) -> None:
    write("lib/a.hpp", "")
    write("lib_extra/b.hpp", "")
    text = "#include <lib/a.hpp>\n#include <lib_extra/b.hpp>\n#include <vector>\n"
    assert tracked(parser, text) == ["lib/a.hpp"]


def test_untracked_headers_do_not_matter(write: Write, parser: IncludeParser) -> None:
    write("other.hpp", "1")
    before = digest(parser, "#include <other.hpp>\n")
    write("other.hpp", "2")
    assert digest(parser, "#include <other.hpp>\n") == before


def test_an_edit_is_noticed_by_the_same_parser(write: Write, parser: IncludeParser) -> None:
    write("lib/a.hpp", "#include <lib/b.hpp>\n")
    write("lib/b.hpp", "int x;")
    before = digest(parser, "#include <lib/a.hpp>\n")
    write("lib/b.hpp", "int y;")  # same size, same mtime: ctime and inode differ
    assert digest(parser, "#include <lib/a.hpp>\n") != before
    write("lib/b.hpp", "int x;")
    assert digest(parser, "#include <lib/a.hpp>\n") == before


def test_recent_files_are_read_again(write: Write, parser: IncludeParser) -> None:
    """Within the clock's resolution a stat proves nothing."""
    path = write("lib/a.hpp", "1")
    os.utime(path)
    before = digest(parser, "#include <lib/a.hpp>\n")
    status = path.stat()
    with path.open("r+") as file:
        file.write("2")
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert digest(parser, "#include <lib/a.hpp>\n") != before


def test_an_unchanged_tree_is_not_scanned_again(
    write: Write, parser: IncludeParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("lib/a.hpp", "#include <lib/b.hpp>\n")
    write("lib/b.hpp", "")
    text = "#include <lib/a.hpp>\n"
    tree = parser.parse(text.encode())
    with monkeypatch.context() as patch:
        patch.setattr("deep_jit._shared.jit.includes.find_directives", None)
        assert parser.parse(text.encode()) is tree
    path.unlink()
    with pytest.raises(IncludeError, match="failed to open: lib/a.hpp"):
        parser.parse(text.encode())


def test_files_from_the_future_are_read_again(write: Write, parser: IncludeParser) -> None:
    path = write("lib/a.hpp", "1")
    future = time.time() + 1e6
    os.utime(path, (future, future))
    before = digest(parser, "#include <lib/a.hpp>\n")
    with path.open("r+") as file:
        file.write("2")
    os.utime(path, (future, future))
    assert digest(parser, "#include <lib/a.hpp>\n") != before


def test_relocation_keeps_the_digest(write: Write, parser: IncludeParser, tmp_path: Path) -> None:
    write("lib/a.hpp", '#include "sub/b.hpp"\n')
    write("lib/sub/b.hpp", "")
    shutil.copytree(tmp_path / "inc", tmp_path / "ö moved")
    moved = IncludeParser([tmp_path / "ö moved"], ["lib/"])
    assert digest(moved, "#include <lib/a.hpp>\n") == digest(parser, "#include <lib/a.hpp>\n")


def test_quoted_next_to_the_includer(write: Write, parser: IncludeParser) -> None:
    write("lib/a.hpp", '#include "sub/../b.hpp"\n#include "cuda_runtime.h"\n')
    write("lib/b.hpp", "1")
    text = "#include <lib/a.hpp>\n"
    assert tracked(parser, text) == ["lib/a.hpp", "lib/b.hpp"]
    before = digest(parser, text)
    write("lib/b.hpp", "2")
    assert digest(parser, text) != before


def test_quoted_in_an_include_directory(write: Write, parser: IncludeParser) -> None:
    write("other.hpp", "1")
    assert tracked(parser, '#include "other.hpp"\n') == ["other.hpp"]


def test_a_quoted_header_that_appears_changes_the_digest(
    write: Write, parser: IncludeParser
) -> None:
    before = digest(parser, '#include "late.hpp"\n')
    write("late.hpp", "")
    assert digest(parser, '#include "late.hpp"\n') != before


def test_cycles_are_fine(write: Write, parser: IncludeParser) -> None:
    write("lib/a.hpp", "#pragma once\n#include <lib/b.hpp>\n")
    write("lib/b.hpp", "#pragma once\n#include <lib/a.hpp>\n#include <lib/b.hpp>\n")
    assert tracked(parser, "#include <lib/a.hpp>\n") == ["lib/a.hpp", "lib/b.hpp"]


def test_shadowing_header_changes_the_digest(write: Write, tmp_path: Path) -> None:
    """Negative look-ups count, even when the new header has the same bytes."""
    write("lib/a.hpp", "1", "second")
    parser = IncludeParser([tmp_path / "inc", tmp_path / "second"], ["lib/"])
    before = digest(parser, "#include <lib/a.hpp>\n")
    write("lib/a.hpp", "1", "inc")
    assert digest(parser, "#include <lib/a.hpp>\n") != before


def test_missing_header(parser: IncludeParser) -> None:
    with pytest.raises(IncludeError, match=r"failed to open: lib/no\.hpp \(included by <source>"):
        parser.parse(b"#include <lib/no.hpp>\n")


def test_missing_header_in_a_condition_is_absent(write: Write, parser: IncludeParser) -> None:
    text = "#if 0\n#include <lib/no.hpp>\n#endif\n"
    before = digest(parser, text)
    write("lib/no.hpp", "")
    assert digest(parser, text) != before


def test_probed_header_changes_the_digest(write: Write, parser: IncludeParser) -> None:
    text = "#if __has_include(<lib/opt.hpp>)\n#endif\n"
    before = digest(parser, text)
    write("lib/opt.hpp", "")
    assert digest(parser, text) != before


def test_include_next_tracks_every_candidate(write: Write, tmp_path: Path) -> None:
    write("lib/a.hpp", "#include_next <lib/a.hpp>\n", "inc")
    write("lib/a.hpp", "1", "second")
    parser = IncludeParser([tmp_path / "inc", tmp_path / "second"], ["lib/"])
    assert tracked(parser, "#include <lib/a.hpp>\n") == ["lib/a.hpp", "lib/a.hpp"]


def test_directory_with_a_headers_name_is_no_header(write: Write, tmp_path: Path) -> None:
    (tmp_path / "inc" / "lib" / "a.hpp").mkdir(parents=True)
    write("lib/a.hpp", "", "second")
    parser = IncludeParser([tmp_path / "inc", tmp_path / "second"], ["lib/"])
    assert parser.parse(b"#include <lib/a.hpp>\n").tracked[0].path.parent.parent.name == "second"


def test_symlinks_hash_content_and_logical_name(
    write: Write, parser: IncludeParser, tmp_path: Path
) -> None:
    target = write("store/one", "1", "data")
    (tmp_path / "inc" / "lib").mkdir()
    link = tmp_path / "inc" / "lib" / "a.hpp"
    link.symlink_to(target)
    before = digest(parser, "#include <lib/a.hpp>\n")
    link.unlink()
    write("lib/a.hpp", "1")
    assert digest(parser, "#include <lib/a.hpp>\n") == before


def test_strange_names(parser: IncludeParser) -> None:
    for name in ("lib/" + "x" * 5000, "lib/\0", "lib/a/" * 40):
        with pytest.raises(IncludeError, match="failed to open: lib/"):
            parser.parse(f"#include <{name}>\n".encode())


def test_used_headers(write: Write, parser: IncludeParser, tmp_path: Path) -> None:
    a, b = write("lib/a.hpp", ""), write("lib/b.hpp", "")
    shadow = write("lib/a.hpp", "", "elsewhere")
    tree = parser.parse(b"#include <lib/a.hpp>\n")
    dirs = [tmp_path / "inc"]
    check_used_headers([a, Path("/usr/include/stdio.h")], tree.tracked, dirs, ["lib/"])
    with pytest.raises(IncludeError, match=r"b\.hpp, a tracked header that the include scan did"):
        check_used_headers([a, b], tree.tracked, dirs, ["lib/"])
    with pytest.raises(IncludeError, match="remove the -I that shadows it"):
        check_used_headers([shadow], tree.tracked, dirs, ["lib/"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sets(st.integers(0, 7), max_size=4), min_size=8, max_size=8), st.integers(0, 7))
def test_any_graph_notices_exactly_reachable_edits(
    tmp_path_factory: pytest.TempPathFactory, graph: list[set[int]], edited: int
) -> None:
    """Editing a header changes the digest if and only if the source reaches it."""
    root = tmp_path_factory.mktemp("graph")
    (root / "lib").mkdir()

    def write_node(index: int, salt: str) -> None:
        lines = [f"#include <lib/{other}>\n" for other in sorted(graph[index])]
        (root / "lib" / str(index)).write_text("".join(lines) + salt)

    for index in range(8):
        write_node(index, "")
    parser = IncludeParser([root], ["lib/"])
    before = digest(parser, "#include <lib/0>\n")
    write_node(edited, "// edited")
    after = digest(parser, "#include <lib/0>\n")
    reached, queue = {0}, [0]
    while queue:
        new = graph[queue.pop()] - reached
        reached |= new
        queue += new
    assert (after != before) == (edited in reached)
    assert digest(IncludeParser([root], ["lib/"]), "#include <lib/0>\n") == after
