"""The directive lexer: comments, literals, splices; property tests (deep_jit.md section 12)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_jit._shared.jit.include_lexer import Directive, find_directives, scan_lines


def names(text: str | bytes) -> list[str]:
    raw = text.encode() if isinstance(text, str) else text
    return [directive.name for directive in find_directives(raw)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("#include <a>", "a"),
        (" \t\f\v# \tinclude \t<a> // x", "a"),
        ("#include<a>\r\n", "a"),
        ('#include "a"', "a"),
        ("/**/ #include <a>", "a"),
        ("/* x\n*/ /* y */ # /* z */ include /* w */ <a>", "a"),
        ("#inc\\\nlude <a>", "a"),
        ("#include \\\r\n <a>", "a"),
        ("#include \\  \n <a>", "a"),
        ("#include_next <a>", "a"),
        ("#import <a>", "a"),
        ("%:include <a>", "a"),
        ("int x = 1'000'000; char c = '\"';\n#include <a>", "a"),
        ("auto e = 0x1p+1'0; auto b = .5'0;\n#include <a>", "a"),
        ("char a = u8'\"', b = L'\\'';\n#include <a>", "a"),
        ("#error don't\n#include <a>", "a"),
        ('auto s = "unfinished\n#include <a>', "a"),
        ('auto r = R"(/*)";\n#include <a>', "a"),
        ('auto r = R"x( )" )x";\n#include <a>', "a"),
        ('auto r = u8R"(\\\n)";\n#include <a>', "a"),
        ('auto r = R"(\\\n\\\n)"; \\\n\n#include <a>', "a"),
        ('#define XR "(" \n#include <a>', "a"),
        ('auto s = barR"(";\n#include <a>', "a"),
        ('auto s = "/*";\n#include <a>', "a"),
        ("// /*\n#include <a>", "a"),
        ("#include <lib//a>", "lib//a"),
        ("#include <ä ö>", "ä ö"),
    ],
)
def test_found(text: str, name: str) -> None:
    assert names(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "// #include <a>",
        "// \\\n#include <a>",
        "/* #include <a> */",
        "/*\n#include <a>\n*/",
        "/* \n#include <a>",
        'auto s = "\\\n#include <a>";',
        'auto s = "\\"\\\n#include <a>";',
        'auto r = R"(\n#include <a>\n)";',
        'auto r = LR"xy(\n#include <a>\n)x" )xy";',
        'auto r = R"(\n#include <a>',
        "int x; #include <a>",
        "int x; /*\n*/ #include <a>",
        "#include MACRO",
        "#included <a>",
        "#include <a",
        "#define include <a>",
        "include <a>",
        "",
    ],
)
def test_not_found(text: str) -> None:
    assert names(text) == []


def test_conditional_depth() -> None:
    text = (
        b"#include <a>\n#if 0\n#ifdef X\n#include <b>\n#endif\n#include <c>\n#endif\n#include <d>\n"
    )
    assert [d.conditional for d in find_directives(text)] == [False, True, True, False]


def test_has_include_is_a_probe() -> None:
    text = b"#if __has_include(<lib/a>) && __has_include( <lib/b> )\n#endif\n"
    assert find_directives(text) == [
        Directive("probe", "lib/a", False, True),
        Directive("probe", "lib/b", False, True),
    ]


def test_probe_after_the_last_include() -> None:
    assert names("#include <a>\n#if __has_include(<b>)\n#endif\n") == ["a", "b"]


def test_bytes_that_are_not_utf8() -> None:
    assert find_directives(b"#include <\xff>")[0].name.encode("utf-8", "surrogateescape") == b"\xff"


def test_long_texts_take_linear_time() -> None:
    for text in (
        "/*" * 20000,
        "'" * 50000,
        '"' * 50001,
        "#" * 50000,
        "/**/" * 20000 + "#x",
        "\\\n" * 20000,
    ):
        assert names(text + "\n#define include\n") == []


NOISE = st.sampled_from(
    [
        "int x = 1'000;",
        "// #include <no> it's\n",
        "// a \\\n#include <no>\n",
        "/* #include <no>\n */",
        "/* ' \" */",
        'auto s = "#include <no> \\" /*";',
        "char c = '\\'';",
        "char c = '\"';",
        'auto r = R"(\n#include <no>\n)";',
        'auto r = uR"d(\n)" #include <no>\n)d";',
        "#define A don't\n",
        '#define B "\n',
        "a \\\n b;",
        " ",
        "\t",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.lists(NOISE, max_size=4), st.text("abc/.", min_size=1, max_size=6))))
def test_directives_survive_any_noise(parts: list[tuple[list[str], str]]) -> None:
    """Between any noise, exactly the real directives are found, in order."""
    text = "".join("".join(noise) + f"\n#include <{name}>\n" for noise, name in parts)
    assert names(text) == [name for _, name in parts]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NOISE, st.text("abc", min_size=1, max_size=3)), max_size=5), st.data())
def test_splices_outside_raw_strings_change_nothing(
    parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    """A line splice may stand anywhere outside raw strings."""
    text = "".join(noise + f"\n#include <{name}>\n" for noise, name in parts if 'R"' not in noise)
    cuts = [cut for cut in range(len(text) + 1) if text[cut - 1 : cut] != "\\"]
    cut = data.draw(st.sampled_from(cuts))
    assert names(text[:cut] + "\\\n" + text[cut:]) == names(text)


@settings(max_examples=200, deadline=None)
@given(st.text("#include<>\"'/*\\\n R(x)%:1", max_size=60))
def test_never_raises(text: str) -> None:
    for directive in find_directives(text.encode()):
        assert "\n" not in directive.name


def test_strict_scan() -> None:
    text = b"""#include <a>
 //
\t#\v include "b" x
/*
#include <c >
*/
/**/ #include <d>
#include <e\""""
    expected = [("<", "a", ">"), ('"', "b", '"'), ("<", "c ", ">"), ("<", "e", '"')]
    assert scan_lines(text) == expected
