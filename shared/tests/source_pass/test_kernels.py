"""The kernel table: which functions, which cores."""

from __future__ import annotations

import pytest

from deep_jit._shared.jit.source_pass import KernelDecl, rewrite


def kernels(text: str, **headers: str) -> tuple[KernelDecl, ...]:
    """Returns the kernels of a root text."""
    return rewrite(text, path="kernel.asc", header_texts=headers).kernels


@pytest.mark.parametrize(
    ("qualifiers", "cores"),
    [
        ("__global__ __cube__ void", (1, 0)),
        ("__global__ __vector__ void", (0, 1)),
        ("__global__ __mix__(1, 2) void", (1, 2)),
        ('extern "C" __global__ __mix__( 1 , 1 ) __aicore__ void', (1, 1)),
        ("__global__ __aicore__ __schedmode__(1) __cube__ void", (1, 0)),
        ("__cube__ __global__ void", (1, 0)),
        ("__global__ __attribute__((aligned(64))) __vector__ void", (0, 1)),
    ],
)
def test_cores_come_from_qualifiers(qualifiers: str, cores: tuple[int, int]) -> None:
    assert kernels(f"{qualifiers} k(__gm__ half* a, int n) {{ }}") == (KernelDecl("k", *cores),)


@pytest.mark.parametrize(
    ("body", "cores"),
    [
        ("asc_mmad(c, a, b);", (1, 0)),
        ("asc_copy_gm2ub(a, b, 1);", (0, 1)),
        ("asc_copy_gm2l1(a, b); asc_copy_ub2gm(b, a);", (1, 2)),
        ("", (0, 1)),
    ],
)
def test_cores_without_qualifier_come_from_the_instructions(
    body: str, cores: tuple[int, int]
) -> None:
    assert kernels(f"__global__ __aicore__ void k() {{ {body} }}") == (KernelDecl("k", *cores),)


def test_names_are_qualified_and_in_order() -> None:
    text = """
    namespace a::b { __global__ __cube__ void second(); __global__ __cube__ void first() {} }
    namespace { __global__ __vector__ void hidden() {} }
    struct S { static __global__ __vector__ void member() {} };
    __global__ __vector__ void a_declaration(int);
    """
    assert [kernel.expression for kernel in kernels(text)] == ["a::b::first", "hidden", "S::member"]


def test_instances_are_found_by_their_address() -> None:
    header = "template <class T, int N>\n__global__ __mix__(1, 2) void gemm(__gm__ T* a) {}"
    text = """
    using namespace deep_gemm;
    static void entry() {
        auto ptr = reinterpret_cast<void*>(&deep_gemm::gemm<
            half, 64>);
        auto other = reinterpret_cast<const void *>( &gemm<float, 1> );
    }
    """
    assert kernels(text, **{"gemm.hpp": header}) == (
        KernelDecl("deep_gemm::gemm< half, 64>", 1, 2),
        KernelDecl("gemm<float, 1>", 1, 2),
    )


def test_address_of_a_plain_kernel_in_a_header() -> None:
    header = "__global__ __cube__ void k(int) {}"
    text = "void f() { g(reinterpret_cast<void*>(&k), reinterpret_cast<void*>(&variable)); }"
    assert kernels(text, **{"k.hpp": header}) == (KernelDecl("k", 1, 0),)


def test_a_kernel_is_listed_once() -> None:
    text = "__global__ __cube__ void k() {} void* p = reinterpret_cast<void*>(&k);"
    assert kernels(text) == (KernelDecl("k", 1, 0),)


def test_templates_and_declarations_are_no_kernels() -> None:
    assert kernels("template <int N> __global__ __cube__ void k() {}\n") == ()
    assert kernels('const char* s = "__global__ void k() {}"; // __global__ void k() {}') == ()


def test_table_is_appended_behind_the_text() -> None:
    text = "__global__ __cube__ void k(int a) { }"
    out = rewrite(text, path='dir/a"b.asc').text
    assert out == (
        '#include "asc_emu/entry.hpp"\n'
        '#line 1 "dir/a\\"b.asc"\n'
        f"{text}\n"
        '#line 1 "<kernel table>"\n'
        "ASC_EMU_KERNELS_BEGIN\n"
        "ASC_EMU_KERNEL(1, 0, k)\n"
        "ASC_EMU_KERNELS_END\n"
    )


def test_programs_get_no_table() -> None:
    text = "__global__ __cube__ void k() { }\nint main() { }\n"
    assert rewrite(text, path="p.asc", program=True).text == text
