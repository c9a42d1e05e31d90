"""SIMD functions that follow pointers to UB by plain C++ are told from those that pass them on."""

from __future__ import annotations

import pytest

from deep_jit._shared.jit.backends.cpu.ub_pointers import simd_follows_ub_pointers

FOLLOWS = [
    "n = a[3];",
    "a[n] = 1;",
    "*a = 2;",
    "n = ((__ubuf__ float*)b)[3];",
    "auto* w = reinterpret_cast<volatile __ubuf__ float*>(a + 70); *w = 1;",
    "asc_loadalign(x, &a[*a]); n = a[1];",
]
PASSES_ON = [
    "asc_loadalign(x, a + n * 64);",
    "asc_loadalign(x, &a[3]);",
    "asc_loadalign(x, (__ubuf__ float*)(&(((__ubuf__ float*)a)[n & (n - 1)])));",
    "asc_storealign(a, *(vector_f32*)(&y), all);",
    "asc_storealign_pack((__ubuf__ uint32_t*)a, (vector_uint32_t&)x, all);",
    "asc_loadalign_postupdate(x, a, 64); // n = a[3];",
]


def simd(body: str) -> str:
    return f"__simd_vf__ inline void run(__ubuf__ float* a, __ubuf__ uint8_t* b) {{ {body} }}"


@pytest.mark.parametrize("body", FOLLOWS)
def test_following(body):
    assert simd_follows_ub_pointers(simd(body))
    assert simd_follows_ub_pointers(simd(body).replace("vf", "callee"))


@pytest.mark.parametrize("body", PASSES_ON)
def test_passing_on(body):
    assert not simd_follows_ub_pointers(simd(body))


@pytest.mark.parametrize("body", FOLLOWS)
def test_other_functions_do_not_count(body):
    assert not simd_follows_ub_pointers(simd(body).replace("__simd_vf__", "__aicore__"))
    assert not simd_follows_ub_pointers(simd("") + simd(body).replace("__simd_vf__", "__aicore__"))
