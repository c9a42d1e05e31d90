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
        "2, 1, 1, 2",
        "1, 1, 0, 0",
    ]
    assert "other() { a" in text


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
