"""Counts of work in SIMT functions (source pass for the timing model)."""

from __future__ import annotations

import re

import pytest

from deep_jit._shared.jit.source_pass import rewrite_work
from deep_jit._shared.jit.source_pass.simt.work import Work, count_work

GM = {"x": 2, "out": 4}


@pytest.mark.parametrize(
    ("code", "work"),
    [
        ("", Work()),
        ("int32_t a = b;", Work()),
        ("a = b + c * d;", Work(instructions=2)),
        ("a = (float)b;", Work()),
        ("tile[i] = 1;", Work(instructions=1, ub=1)),
        ("v = x[i];", Work(instructions=1, gm_loads=1, gm_bytes=2)),
        ("out[i + 1] = v;", Work(instructions=2, gm_bytes=4)),
        ("if (x[i] == v) ", Work(instructions=2, gm_loads=1, gm_bytes=2)),
        ("a = b / c;", Work(instructions=8)),
        ("a = expf(b);", Work(instructions=8)),
        ("mine[0] = mine[1];", Work()),
        ("a = b <= c && !d;", Work(instructions=3)),
    ],
)
def test_a_statement(code, work):
    assert count_work(code, GM, frozenset({"mine"})) == work


TEXT = """
__simt_vf__ inline void f(__gm__ bfloat16_t* x, __ubuf__ float* tile, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    if (i + 1 < n) {
      tile[i] = x[i];
    } else {
      tile[i] = 0;
    }
  }
}
void other() { a = b + c; }
"""


def test_blocks_are_told_apart():
    text = rewrite_work(TEXT, "kernel.asc")
    assert text.count("\n") == TEXT.count("\n")
    assert re.findall(r"ASC_EMU_SIMT_WORK\(([^)]*)\)", text) == [
        "4, 0, 0, 0",  # condition and step of the loop, condition of the if
        "2, 0, 1, 2",
        "1, 0, 0, 0",
    ]
    assert "ASC_EMU_SIMT_UB(tile[i]) = x[i];" in text
    assert "other() { a" in text


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        ("v = tile[i];", "v = UB(tile[i]);"),
        ("tile[at[i]] += 1;", "UB(tile[UB(at[i])]) += 1;"),
        ("v = rows[i][j] * v;", "v = UB(rows[i][j]) * v;"),
        ("asc_atomic_add(&tile[i], 1);", "asc_atomic_add(&UB(tile[i]), 1);"),
        ("return tile[i];", "return UB(tile[i]);"),
        ("v = a *tile[i];", "v = a *UB(tile[i]);"),
        ("__ubuf__ float own[8]; own[i] = 1;", "__ubuf__ float own[8]; UB(own[i]) = 1;"),
        ("float mine[8]; mine[i] = 1;", "float mine[8]; mine[i] = 1;"),
        ("float *p[2]; v = out[i];", "float *p[2]; v = out[i];"),
        ("v = s.part[i] + s->part[i] + n::part[i];", "v = s.part[i] + s->part[i] + n::part[i];"),
        ("auto f = [&](int i) { return i; };", "auto f = [&](int i) { return i; };"),
        ("if (tile[i] > 0) { }", "if (UB(tile[i]) > 0) { }"),
    ],
)
def test_elements_in_ub_are_marked(code, marked):
    head = "__simt_vf__ inline void f(__gm__ float* out, __ubuf__ float* tile)"
    text = rewrite_work(f"{head} {{ {code} }}", "kernel.asc")
    text = re.sub(r" ASC_EMU_SIMT_WORK\([^)]*\);", "", text)
    text = text.replace("ASC_EMU_SIMT_UB(", "UB(")
    assert text == f"{head} {{ {marked} }}"


def test_unrolled_loops_have_no_steps():
    loop = "for (int i = 0; i < 8; ++i) { b += 2; }"
    text = f"__simt_vf__ void f(__ubuf__ float* a) {{\n#pragma unroll\n{loop} }}"
    assert "ASC_EMU_SIMT_WORK(1, 0, 0, 0)" in rewrite_work(text, "kernel.asc")


def test_texts_without_simt_stay():
    assert rewrite_work("void f() { a = b + c; }", "kernel.asc") == "void f() { a = b + c; }"


def test_kernels_of_threads_count_and_those_of_the_scalar_unit_do_not():
    """Pointers of a kernel are to global memory, also without a qualifier."""
    body = "(const float* x, __gm__ float* out) { out[threadIdx.x] = x[threadIdx.x]; }"
    text = rewrite_work(f"__global__ __launch_bounds__(64) void f{body}", "program.asc")
    assert "ASC_EMU_SIMT_WORK(2, 0, 1, 8);" in text
    for qualifiers in ("__vector__", "__aicore__ __launch_bounds__(64)"):
        scalar = f"__global__ {qualifiers} void f{body}"
        assert rewrite_work(scalar, "program.asc") == scalar
