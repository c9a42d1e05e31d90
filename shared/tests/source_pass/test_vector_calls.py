"""Direct calls of vector functions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deep_jit._shared.jit.source_pass import rewrite, rewrite_headers

Body = Callable[..., str]
DEFINITIONS = (
    "__simd_vf__ inline void vf(__ubuf__ float* a, uint32_t n) {}\n"
    "struct S { template <class T> static __simd_vf__ void member(T a) {} };\n"
)
START = "::asc_emu::call_vector_function([](auto... asc_emu_args) { "
ARGS = "(asc_emu_args...); }"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("vf(a, 1);", f"{START}vf{ARGS}, a, 1);"),
        ("vf( );", f"{START}vf{ARGS} );"),
        ("if (x) vf(a,\n 1); else vf(b, 2);",
         f"if (x) {START}vf{ARGS}, a,\n 1); else {START}vf{ARGS}, b, 2);"),
        ("S::member<half>(a);", f"{START}S::member<half>{ARGS}, a);"),
        ("::vf(a, 1);", f"{START}::vf{ARGS}, a, 1);"),
    ],
)  # fmt: skip
def test_calls(body: Body, call: str, expected: str) -> None:
    kernel = "__global__ __vector__ void k() {{ {} }}"
    assert body(DEFINITIONS + kernel.format(call)) == DEFINITIONS + kernel.format(expected)


@pytest.mark.parametrize(
    "text",
    [
        "__simd_vf__ void outer(int n) { if (n) { vf(a, 1); } }",
        "__simd_callee__ void helper() { vf(a, 1); }",
        "__global__ __vector__ void k() { asc_vf_call<vf>(a, 1); }",
        "__global__ __vector__ void k() { asc_vf_call<S::member<half>>(a); }",
        "void k() { x.vf(a, 1); p->vf(a, 1); other::novf(1); vf_2(3); }",
        "__simd_vf__ inline void vf(__ubuf__ float* a, uint32_t n);",
        'void k() { puts("vf(a)"); /* vf(a); */ }',
    ],
)
def test_other_texts_stay(body: Body, text: str) -> None:
    assert body(DEFINITIONS + text) == DEFINITIONS + text


def test_functions_of_headers_are_known_in_the_root() -> None:
    header = "__simd_vf__ inline void vf(int n) {}\n"
    out = rewrite("void k() { vf(1); }", path="r", header_texts={"h": header}).text
    assert '#include "asc_emu/vector_direct.hpp"' in out
    assert f"{START}vf{ARGS}, 1);" in out


def test_headers_may_call_functions_of_other_headers() -> None:
    out = rewrite_headers(
        {"vf.hpp": "__simd_vf__ inline void vf(int n) {}\n", "use.hpp": "void f() { vf(1); }\n"}
    )
    assert f"{START}vf{ARGS}, 1);" in out["use.hpp"]
