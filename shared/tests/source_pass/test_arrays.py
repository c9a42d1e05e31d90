"""Arrays in an on-chip memory."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from deep_jit._shared.jit.source_pass import rewrite

Body = Callable[..., str]
SITE = "static char site1; "


def plain(text: str) -> str:
    """Drops the hash of the path and the namespace, which say nothing here."""
    return re.sub(r"asc_emu_site_[0-9a-f]{8}_", "site", text).replace("::asc_emu::", "")


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        (
            "__cbuf__ half a[N];",
            "static char site1; auto& a = local_array<Space::l1, half[(N)]>(&site1, 0);",
        ),
        (
            "__ca__ int8_t a[M][2 * K];",
            SITE + "auto& a = local_array<Space::l0a, int8_t[(M)][(2 * K)]>(&site1, 0);",
        ),
        (
            "__cb__ T a[1], b[2];",
            SITE
            + "auto& a = local_array<Space::l0b, T[(1)]>(&site1, 0); static char site2; "
            + "auto& b = local_array<Space::l0b, T[(2)]>(&site2, 0);",
        ),
        (
            "__cc__ ns::Box<int, (3 > 2)>::type a[n[0]];",
            SITE
            + "auto& a = local_array<Space::l0c, ns::Box<int, (3 > 2)>::type[(n[0])]>(&site1, 0);",
        ),
        (
            "static alignas(512) __fbuf__ unsigned long a[8];",
            "static char site1; auto& a = local_array<Space::fb, unsigned long[(8)]>(&site1, 512);",
        ),
        (
            "__biasbuf__ const float a[8];",
            "static char site1; auto& a = local_array<Space::bt, const float[(8)]>(&site1, 0);",
        ),
        (
            "extern __ubuf__ uint8_t a[];",
            "auto& a = dynamic_array<uint8_t[]>();",
        ),
        (
            "__ssbuf__ Message a[4];",
            "static char site1; auto& a = local_array<Space::ssb, Message[(4)]>(&site1, 0);",
        ),
    ],
)
def test_declarations_in_functions(body: Body, declaration: str, expected: str) -> None:
    assert plain(body(f"void f() {{ {declaration} }}")) == f"void f() {{ {expected} }}"


@pytest.mark.parametrize(
    "head", ["if ASC_IS_AIC {", "if constexpr (X) {", "for (;a < b; ++a) {", "case 1: {"]
)
def test_declarations_in_blocks(body: Body, head: str) -> None:
    text = f"void f() {{ {head} __cbuf__ half a[N]; }} }}"
    assert "local_array<Space::l1, half[(N)]>" in plain(body(text))


@pytest.mark.parametrize(
    "text",
    [
        "void f(__cbuf__ half* a, __cbuf__ half b[16]);",
        "void f() { __cbuf__ half* a = b; }",
        "void f() { __ubuf__ float* rows[2] = {a, b}; }",
        "void f() { g((__cbuf__ half*)a[1]); }",
        "void f() { using P = __cbuf__ half*; }",
        "template <class T> void f(__cbuf__ T (&a)[16]) {}",
        "// __cbuf__ half a[N];\n/* __cbuf__ half b[N]; */",
        'const char* s = "__cbuf__ half a[N];";',
        "#define ARRAY __cbuf__ half a[N];\n",
        "void f() { __gm__ half* a[4]; half b[4]; }",
    ],
)
def test_other_texts_stay(body: Body, text: str) -> None:
    assert body(text) == text


def test_line_breaks_in_a_declaration_are_kept(body: Body) -> None:
    text = "void f() {\n  __cbuf__ half a[M *  // rows\n      N];\n  g(a);\n}\n"
    out = body(text)
    assert "half[(M * N)]" in out
    assert out.split("\n")[3] == "  g(a);"


def test_sites_differ_between_files_and_declarations() -> None:
    text = "void f() { __cbuf__ half a[1], b[1]; }"
    sites = {
        site
        for path in ("one.hpp", "two.hpp")
        for site in re.findall(r"static char (\w+);", rewrite(text, path=path).text)
    }
    assert len(sites) == 4


def test_file_scope_array_becomes_a_function(body: Body) -> None:
    out = plain(body("namespace n { __ubuf__ float a[4]; }\nvoid f() { g(n::a + 1, s.a, p->a); }"))
    assert "inline auto& a() { static char site1; return local_array<Space::ub, float[(4)]>" in out
    assert "g(n::a() + 1, s.a, p->a);" in out


def test_file_scope_array_of_a_header_is_known_in_the_root() -> None:
    header = "extern __ubuf__ uint8_t dynamic_buffer[];\n"
    root = "void f() { g(dynamic_buffer); }\nextern __ubuf__ uint8_t dynamic_buffer[];\n"
    out = rewrite(root, path="r.asc", header_texts={"h.hpp": header}).text
    assert "g((::asc_emu::dynamic_array<uint8_t[]>()));" in out
    assert "extern" not in out


def test_member_array_is_reported() -> None:
    result = rewrite("struct S {\n  __ubuf__ float a[4];\n};", path="s.asc")
    assert "__ubuf__ float a[4];" in result.text
    assert len(result.notes) == 1
    assert result.notes[0].startswith("s.asc:2: member array a keeps its place in the object; ")
