"""Literal addresses in UB and SSBuffer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deep_jit._shared.jit.source_pass import rewrite

Body = Callable[..., str]
UB = "::asc_emu::space_cast<::asc_emu::Space::ub, "
SSB = "::asc_emu::space_cast<::asc_emu::Space::ssb, "


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("reinterpret_cast<__ubuf__ float*>(0)", f"{UB}__ubuf__ float*>(0)"),
        ("reinterpret_cast<__ssbuf__ S<int, 2>*>(0)", f"{SSB}__ssbuf__ S<int, 2>*>(0)"),
        ("(__ssbuf__ S*)0", f"{SSB}__ssbuf__ S*>(0)"),
        ("*(__ubuf__ float*)(off + 4)", f"*{UB}__ubuf__ float*>((off + 4))"),
        ("return (__ubuf__ T*)0x100 + 2", f"return {UB}__ubuf__ T*>(0x100) + 2"),
        ("(const __ubuf__ T*)ns::kBase", f"{UB}const __ubuf__ T*>(ns::kBase)"),
        ("g((__ubuf__ T*) buf, 1)", f"g({UB}__ubuf__ T*>( buf), 1)"),
    ],
)
def test_casts(body: Body, expression: str, expected: str) -> None:
    assert body(f"void f() {{ {expression}; }}") == f"void f() {{ {expected}; }}"


@pytest.mark.parametrize(
    "text",
    [
        "void f() { auto p = (__cbuf__ half*)0; }",
        "void f() { auto p = reinterpret_cast<__cc__ float*>(0); }",
        "void f() { auto p = (__ubuf__ float*)a[1]; }",
        "void f() { auto p = (__ubuf__ float*)g(1); }",
        "void f(__ubuf__ float*);",
        "void f(int, void (*g)(__ubuf__ float*));",
        "void f() { __ubuf__ float* p = nullptr; }",
        "void f() { auto a = reinterpret_cast<uintptr_t>(ub); }",
        'void f() { puts("(__ubuf__ float*)0"); }',
    ],
)
def test_other_texts_stay(body: Body, text: str) -> None:
    assert body(text) == text


@pytest.mark.parametrize("value", ["nullptr", "0", "NULL"])
def test_null_constant_in_a_function(body: Body, value: str) -> None:
    out = body(f"void f() {{ constexpr __ubuf__ S* p = {value}; }}")
    assert out == f"void f() {{  __ubuf__ S* p = {UB}__ubuf__ S*>(0); }}"


def test_cast_constant_in_a_function(body: Body) -> None:
    out = body("void f() { static constexpr __ubuf__ S* p = (__ubuf__ S*)0; }")
    assert out == f"void f() {{  __ubuf__ S* p = {UB}__ubuf__ S*>(0); }}"


def test_file_scope_constant_becomes_a_function(body: Body) -> None:
    out = body("constexpr __ubuf__ S* p = nullptr;\nvoid f() { p->x = q->p + a.p; }")
    assert out == (
        f"static inline __ubuf__ S* p() {{ return {UB}__ubuf__ S*>(0); }}\n"
        "void f() { p()->x = q->p + a.p; }"
    )


def test_class_constant_becomes_a_function(body: Body) -> None:
    out = body("struct K { static constexpr __ubuf__ S* p = nullptr; };\nint a = K::p->x;")
    assert "static inline __ubuf__ S* p()" in out
    assert "K::p()->x" in out


def test_constant_of_a_header_is_known_in_the_root() -> None:
    header = "constexpr __ssbuf__ S* mailbox = nullptr;\n"
    out = rewrite("void f() { mailbox->x = 1; }", path="r", header_texts={"h": header}).text
    assert "mailbox()->x = 1;" in out
