"""Both ways to run a SIMT function give the same bits on random programs (emulator.md 2)."""

from __future__ import annotations

import random

import numpy as np
import pytest

from deep_jit._shared.jit.source_pass.simt import rewrite_lanes


class Program:
    """A random function over private variables, a shared array, barriers and warp operations."""

    def __init__(self, seed: int, threads: int) -> None:
        self._rng = random.Random(seed)
        self._threads = threads
        self._lines: list[str] = []
        self._names = 0

    def text(self) -> str:
        """Body of the function; p0 is the input, p1 the shared array, p2 the output."""
        self._lines = [
            "float a[4];",
            "int32_t b = (int32_t)threadIdx.x;",
            "for (int32_t i = 0; i < 4; ++i) { a[i] = p0[threadIdx.x * 4 + i]; }",
        ]
        for _ in range(self._rng.randint(4, 10)):
            self._step(0)
        self._lines.append(
            "for (int32_t i = 0; i < 4; ++i) { p2[threadIdx.x * 4 + i] = a[i] + (float)b; }"
        )
        return "\n".join(self._lines)

    def _step(self, depth: int) -> None:
        kinds = [self._arithmetic, self._branch, self._warp, self._exchange]
        if depth < 2:
            kinds += [self._loop, self._uniform_branch]
        self._rng.choice(kinds)(depth)

    def _arithmetic(self, depth: int) -> None:
        i, j = self._rng.randrange(4), self._rng.randrange(4)
        name = f"v{self._names}"
        self._names += 1
        self._lines.append(f"float {name} = a[{i}] * 0.5f + a[{j}];")
        self._lines.append(f"a[{j}] = max({name}, -100.0f) - expf(-{name} * {name});")

    def _branch(self, depth: int) -> None:
        i = self._rng.randrange(4)
        self._lines.append(
            f"if (b % {self._rng.randint(2, 5)} == 0) {{ a[{i}] = a[{i}] + 1.25f; }}"
        )
        self._lines.append("else { b = b * 3 + 1; }")

    def _warp(self, depth: int) -> None:
        i = self._rng.randrange(4)
        call = self._rng.choice(
            [
                f"asc_reduce_add(a[{i}])",
                f"asc_reduce_max(a[{i}] * 2.0f)",
                f"asc_shfl_xor(a[{i}], {1 << self._rng.randrange(5)})",
                f"asc_shfl_up(a[{i}], {self._rng.randint(0, 9)})",
                f"asc_shfl(a[{i}], b % 32)",
            ]
        )
        self._lines.append(f"a[{self._rng.randrange(4)}] = {call} * 0.25f;")
        if self._rng.random() < 0.3:
            self._lines.append(f"b = b + (int32_t)(asc_ballot(a[{i}] > 0.0f) & 15);")

    def _exchange(self, depth: int) -> None:
        i = self._rng.randrange(4)
        self._lines.append("asc_syncthreads();")
        self._lines.append(f"p1[threadIdx.x] = a[{i}];")
        self._lines.append("asc_syncthreads();")
        other = f"(threadIdx.x + {self._rng.randrange(self._threads)}) % {self._threads}"
        self._lines.append(f"a[{i}] = a[{i}] - p1[{other}];")

    def _loop(self, depth: int) -> None:
        name = f"k{self._names}"
        self._names += 1
        self._lines.append(
            f"for (int32_t {name} = 0; {name} < {self._rng.randint(1, 4)}; ++{name}) {{"
        )
        for _ in range(self._rng.randint(1, 3)):
            self._step(depth + 1)
        self._lines.append("}")

    def _uniform_branch(self, depth: int) -> None:
        self._lines.append(f"if (blockIdx.x == {self._rng.randrange(2)}) {{")
        self._step(depth + 1)
        self._lines.append("}")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threads", [32, 200])
def test_random_programs(simt, seed, threads):
    body = Program(seed, threads).text()
    data = np.random.default_rng(seed).standard_normal(threads * 4).astype(np.float32)
    results = []
    for mode in ("lanes", "threads"):
        shared, out = np.zeros(threads, np.float32), np.zeros(threads * 4, np.float32)
        simt.run(body, threads, data, shared, out, mode=mode)
        results.append(out)
    text = f"__simt_vf__ inline void f(float* p0, float* p1, float* p2) {{ {body} }}"
    assert rewrite_lanes(text, "kernel.asc").converted == ("f",), "the program was not split"
    assert np.isfinite(results[0]).all()
    assert (results[0].view(np.uint32) == results[1].view(np.uint32)).all(), body


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("while (p[0]) { }", "while"),
        ("if (p[0] > 1) return;", "return"),
        ("if (threadIdx.x < 3) { asc_syncthreads(); }", "depends on threadIdx"),
        ("for (int i = 0; i < p[1]; ++i) { asc_syncthreads(); }", "depends on memory"),
        ("helper(p);", "call of helper"),
        ("p = p + 1;", "parameter p is assigned to"),
        ("int n = asc_reduce_add(asc_shfl(p[0], 1));", "inside another"),
    ],
)
def test_what_is_not_split(statement, reason):
    text = f"__simt_vf__ inline void f(__gm__ int* p) {{ {statement} }}"
    result = rewrite_lanes(text, "kernel.asc")
    assert reason in result.kept["f"]
    assert result.text == text


def test_lines_of_the_text_keep_their_numbers():
    text = "__simt_vf__ inline void f(__gm__ int* p) {\n  p[0] = 1;\n}\nint after;\n"
    result = rewrite_lanes(text, "kernel.asc")
    assert result.converted == ("f",)
    assert result.text.splitlines()[3] == "int after;"
    assert '#line 2 "kernel.asc"' in result.text
