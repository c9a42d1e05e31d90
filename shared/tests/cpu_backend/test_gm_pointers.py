"""Texts whose plain C++ follows pointers to GM are told from those that only pass them on."""

from __future__ import annotations

import pytest

from deep_jit._shared.jit.backends.cpu.gm_pointers import follows_gm_pointers

FOLLOWS = [
    "dst[n] = 1;",
    "int v = *src;",
    "if (n) *dst = 1;",
    "x = y * *dst;",
    "x = n > *src;",
    "*dst++ = 1;",
    "return *dst;",
    "auto* p = reinterpret_cast<__gm__ float*>(src); p[0] = 1;",
    "auto p = src + 3; auto q = p + 1; *q = 1;",
    "*(dst + n) = 2;",
    "(dst + n)[0] = 2;",
    "*reinterpret_cast<__gm__ float*>(dst) = 1;",
    "((__gm__ float*)dst)[1] = 2;",
    "*(__gm__ const float*)dst;",
    "n = static_cast<__gm__ Head*>(src)->n;",
    "__gm__ uint32_t *a, *b; n = b[0];",
    "__gm__ uint32_t& word = first(dst);",
    "volatile __gm__ uint32_t* f = (volatile __gm__ uint32_t*)dst; while (*f == 0);",
    "n = args.p[2];",
    "n = *args.p;",
    "*row(n * (n + 1)) = 1;",
    "Words w = words; n = w[1];",
    "Word* v = words; n = v[1];",
]
PASSES_ON = [
    "asc_copy_gm2ub_align(ub, src + n * 3, n);",
    "auto p = src + n; copy(p, n * 4);",
    "copy(reinterpret_cast<__gm__ float*>(src) + 1);",
    "src += block_idx * n; ub[2] = 1;",
    "n = n * (src - dst);",
    "// dst[n] = 1;",
    "asc_store_dev(args.p, 1);",
]
TEXT = """
using Words = __gm__ uint32_t*;
typedef __gm__ uint8_t Word;
struct Args {{ __gm__ float* p; }};
__gm__ float* row(uint32_t index);
__global__ __vector__ void k(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t n) {{
    {body}
}}
"""


@pytest.mark.parametrize("body", FOLLOWS)
def test_what_follows_a_pointer(body: str) -> None:
    assert follows_gm_pointers(TEXT.format(body=body))


@pytest.mark.parametrize("body", PASSES_ON)
def test_what_passes_pointers_on(body: str) -> None:
    assert not follows_gm_pointers(TEXT.format(body=body))


def test_texts_without_global_memory() -> None:
    assert not follows_gm_pointers("int main() { int* p = nullptr; return p[0]; }")
