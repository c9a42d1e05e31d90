"""Launches in host code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deep_jit._shared.jit.source_pass import SourcePassError, rewrite

Body = Callable[..., str]
LAMBDA = "[=](auto... asc_emu_args) { "
CONFIG = "(asc_emu_args...); }, ::asc_emu::program::config("


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("k<<<n, 0, s>>>(a, b);", f'launch("k", 1, 0, {LAMBDA}k{CONFIG}n, 0, s), a, b);'),
        ("k<<<n, nullptr, s>>>();", f'launch("k", 1, 0, {LAMBDA}k{CONFIG}n, nullptr, s) );'),
        ("k<<<n, 0>>>(a);", f'launch("k", 1, 0, {LAMBDA}k{CONFIG}n, 0), a);'),
        (
            "ns::k<M, 2><<<f(a, b), 0, s>>>(a);",
            f'launch("ns::k<M, 2>", 1, 0, {LAMBDA}ns::k<M, 2>{CONFIG}f(a, b), 0, s), a);',
        ),
        (
            "k<B<int>>\n    <<<n, 0,\n       s>>>(a,\n  b);",
            f'launch("k<B<int>>", 1, 0, {LAMBDA}k<B<int>>\n    {CONFIG}n, 0,\n       s), a,\n  b);',
        ),
        (
            "k<<<config->blocks, (n >> 2), s>>>(a);",
            f'launch("k", 1, 0, {LAMBDA}k{CONFIG}config->blocks, (n >> 2), s), a);',
        ),
    ],
)
def test_launches(body: Body, launch: str, expected: str) -> None:
    kernel = "__global__ __cube__ void k(__gm__ half* a);\n"
    out = body(f"{kernel}int main() {{ {launch} }}")
    assert out == f"{kernel}int main() {{ ::asc_emu::program::{expected} }}"


def test_cores_come_from_the_definition() -> None:
    header = "template <int N> __global__ __mix__(1, 2) void k(int a) {}"
    out = rewrite("void f() { k<3><<<1, 0>>>(a); }", path="p", header_texts={"h": header})
    assert 'launch("k<3>", 1, 2, ' in out.text


def test_program_header_is_included_for_launches_only() -> None:
    assert "asc_emu/program.hpp" in rewrite("void f() { k<<<1, 0>>>(); }", path="p").text
    assert "asc_emu/program.hpp" not in rewrite("void f() { while (x); }", path="p").text


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 0>>>();\n",
        'puts("k<<<1, 0>>>()");',
        'auto s = R"(k<<<1, 0>>>())";',
        "#define LAUNCH k<<<1, 0>>>()\n",
        "a = b << c;",
    ],
)
def test_other_texts_stay(body: Body, text: str) -> None:
    assert body(text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nk<<<1, 0>>>;", "p.asc:3: cannot read this launch"),
        ("k<<<1, 0;", "p.asc:1: cannot read this launch"),
        ("<<<1, 0>>>();", "p.asc:1: cannot read this launch"),
        ("k<<<1>>>();", "1 values between <<< and >>>"),
        ("k<<<1, 2, 3, 4, 5>>>();", "5 values between <<< and >>>"),
    ],
)
def test_unreadable_launches_are_errors_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(SourcePassError, match=r"allowed: .*<<<numBlocks, ubBytes") as caught:
        rewrite(text, path="p.asc")
    assert message in str(caught.value)


def test_a_launch_with_threads_is_a_simt_kernel_on_vector_cores():
    text = "__global__ void k(int n) {}\nint main() { k<<<dim3(2, 3), threads, 0, s>>>(4); }\n"
    result = rewrite(text, path="p.asc", program=True).text
    assert 'launch("k", 0, 1, ' in result
    assert "config(dim3(2, 3), threads, 0, s)" in result
