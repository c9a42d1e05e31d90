"""Lexing: the mask, bracket matching, scopes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_jit._shared.jit.source_pass.scan import Edits, Source

PIECES = st.lists(
    st.sampled_from(
        [
            "// line <<< \n",
            "/* block\n __cbuf__ half a[4]; */",
            '"text \\" // while (1);"',
            "'\"'",
            "'\\''",
            'R"(raw " ) \\)"',
            'R"x(raw )" \n)x"',
            "#define LOOP while (1) \\\n  ;\n",
            "\n#if 0 /* spans\n lines */\n",
            "1'000'000",
            "0xFF'FF",
            "int a = b / c;",
            "{ (x[1]) }\n",
            "\n",
            " ",
        ]
    ),
    max_size=30,
)


@given(PIECES)
def test_mask_keeps_length_and_line_breaks(pieces: list[str]) -> None:
    text = "".join(pieces)
    code = Source(text, "t").code
    assert len(code) == len(text)
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(code) if c == "\n"
    ]


@given(PIECES)
def test_mask_only_blanks_out(pieces: list[str]) -> None:
    text = "".join(pieces)
    for before, after in zip(text, Source(text, "t").code, strict=True):
        assert after == before or after in ' "'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a // b\nc", "a     \nc"),
        ("a // b \\\n still\nc", "a       \n      \nc"),
        ("a /* // */ b", "a          b"),
        ('f("x // y")', 'f("      ")'),
        ("f('\"', 1)", 'f(" ", 1)'),
        ("n = 1'000 + 'c'", 'n = 1\'000 + " "'),
        ('s = R"d(a)" // )d";', 's = R"           ";'),
        ("#define A \\\n b\nc", "           \n  \nc"),
        ("x = a / b; // c", "x = a / b;     "),
        ("u8'a'", 'u8" "'),
    ],
)
def test_mask_examples(text: str, code: str) -> None:
    assert Source(text, "t").code == code


def test_brackets_in_literals_do_not_count() -> None:
    source = Source("f(')', \"]\", [&] { return 1; })", "t")
    assert source.closing(1) == len(source.text) - 1


@pytest.mark.parametrize("text", ["f(", "f(]", "f({)}"])
def test_unbalanced_brackets_have_no_end(text: str) -> None:
    assert Source(text, "t").closing(1) == -1


def test_angle_brackets_end_at_the_first_unnested_one() -> None:
    source = Source("f<(a > b), g<int>>(x)", "t")
    assert source.closing_angle(1) == 17
    assert source.opening_angle(17) == 1


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("@", "file", "k"),
        ("namespace a { @ }", "file", "a::k"),
        ("namespace a::b { inline namespace c { @ } }", "file", "a::b::c::k"),
        ("namespace { @ }", "file", "k"),
        ('extern "C" { @ }', "file", "k"),
        ("struct S { @ };", "type", "S::k"),
        ("template <class T> struct alignas(16) S : Base<T> { @ };", "type", "S::k"),
        ("void f() { @ }", "code", "k"),
        ("namespace n { struct S f(int a) { if (a) { @ } } }", "code", "n::k"),
        ("struct S { void f() const { @ } };", "code", "S::k"),
        ("void f() {} @", "file", "k"),
        ("int a[] = { @ };", "code", "k"),
    ],
)
def test_scopes(text: str, kind: str, name: str) -> None:
    at = text.index("@")
    source = Source(text.replace("@", " "), "t")
    assert source.scopes.kind(at) == kind
    assert source.scopes.qualified(at, "k") == name


def test_edits_are_applied_in_order_of_position() -> None:
    edits = Edits()
    edits.replace(4, 5, "E")
    edits.insert(0, ">")
    edits.insert(0, "!")
    assert edits.apply("abcdef") == ">!abcdEf"


def test_overlapping_edits_are_refused() -> None:
    edits = Edits()
    edits.replace(0, 4, "x")
    edits.replace(2, 6, "y")
    with pytest.raises(AssertionError, match="overlap"):
        edits.apply("abcdef")
