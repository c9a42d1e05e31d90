"""Properties of whole texts: lines stay, other text stays, cost stays low; headers follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_jit._shared.jit.source_pass import rewrite, rewrite_headers, rewrite_tree

STATEMENTS = [
    "__cbuf__ half NAME[A\n * B];",
    "__ca__ T<int, 2> NAME[4][2], other_NAME[1];",
    "while (p->x == NAME) {\n  y();\n}",
    "do { z(); }\n while (NAME);",
    "auto NAME = reinterpret_cast<\n __ubuf__ float*>(0);",
    "auto NAME = (__ssbuf__ S*)0;",
    "constexpr __ubuf__ S* NAME = nullptr;",
    "if constexpr (ASC_IS_AIC) {\n  f(NAME);\n}",
    "k<A>\n<<<n, 0,\n s>>>(\nNAME);",
    "int NAME = 1'000; // while (1) <<<\n",
    'puts("NAME __cbuf__ half a[4]; \\" <<<");',
    "/* while (1);\n */ f(NAME);",
    "#define NAME while (1) \\\n  ;\n",
    'auto NAME = R"(\nwhile (1) <<< )";',
    "for (int NAME = 0; NAME < 4; ++NAME) { g(NAME); }",
]


@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=12), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_line_keeps_its_number(statements: list[str], file_scope: bool) -> None:
    lines = []
    for number, statement in enumerate(statements):
        lines += [statement.replace("NAME", f"v{number}"), f"mark({number});"]
    text = "\n".join(lines)
    if not file_scope:
        text = f"void f() {{\n{text}\n}}\n"
    out = rewrite(text, path="user.asc", program=True).text
    rewritten = out.partition('#line 1 "user.asc"\n')[2] or out
    assert rewritten.count("\n") == text.count("\n")
    marks = {i: line for i, line in enumerate(text.split("\n")) if line.startswith("mark(")}
    assert {i: rewritten.split("\n")[i] for i in marks} == marks


@given(st.lists(st.sampled_from(STATEMENTS[-6:]), max_size=12))
@settings(max_examples=30, deadline=None)
def test_texts_that_need_nothing_stay(statements: list[str]) -> None:
    lines = [s.replace("NAME", f"v{i}") for i, s in enumerate(statements)]
    text = "void f() {\n" + "\n".join(lines) + "\n}\n"
    result = rewrite(text, path="user.asc")
    assert result.text == text
    assert result.kernels == ()


def test_a_rewritten_text_needs_nothing_more() -> None:
    text = "void f() {\n" + "\n".join(STATEMENTS) + "\n}\n"
    once = rewrite(text.replace("k<A>\n<<<n, 0,\n s>>>(\nNAME);", ""), path="user.asc").text
    hints = once.count("::asc_emu::spin")
    again = rewrite(once, path="user.asc").text
    assert again.count("local_array") == once.count("local_array")
    assert again.count("space_cast") == once.count("space_cast")
    assert again.count("::asc_emu::spin") == 2 * hints  # a second hint in a loop does no harm


def test_headers_are_returned_together_or_not_at_all() -> None:
    assert rewrite_headers({"a.hpp": "int a;\n", "b.hpp": "int b;\n"}) == {}
    both = rewrite_headers({"a.hpp": "int a;\n", "b.hpp": "inline void f() { while (x); }\n"})
    assert both["a.hpp"] == '#line 1 "a.hpp"\nint a;\n'
    assert both["b.hpp"].startswith('#include "asc_emu/source_pass.hpp"\n#line 1 "b.hpp"\n')


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program whose headers lie beside it and in another folder, one of them included twice."""
    folder = tmp_path / "a b"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "common").mkdir()
    (folder / "main.asc").write_text(
        '#include "acl/acl.h"\n#include "sub/one.h"\n  #  include "../common/two.h"\n'
        '// #include "sub/gone.h"\nint main() { while (wait()); return 0; }\n'
    )
    (folder / "sub" / "one.h").write_text('#pragma once\n#include "../../common/two.h"\n')
    (tmp_path / "common" / "two.h").write_text(
        "#pragma once\ninline void f() { __cbuf__ half a[4]; }\n"
    )
    return folder / "main.asc"


def test_tree_redirects_quoted_includes(project: Path) -> None:
    tree = rewrite_tree(project)
    assert sorted(tree.files) == ["0_one.h", "1_two.h", "program.cpp"]
    names = {path.name: name for name, path in tree.originals.items()}
    root = tree.files["program.cpp"]
    assert f'#include "{names["one.h"]}"' in root
    assert f'  #  include "{names["two.h"]}"' in root
    assert '#include "acl/acl.h"' in root
    assert '// #include "sub/gone.h"' in root
    assert f'#include "{names["two.h"]}"' in tree.files[names["one.h"]]
    assert "local_array" in tree.files[names["two.h"]]
    assert '#line 1 "' in tree.files[names["two.h"]]


def test_tree_is_written_to_one_folder(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "build"
    target.mkdir()
    root = rewrite_tree(project).write(target)
    assert root == target / "program.cpp"
    assert len(list(target.iterdir())) == 3
