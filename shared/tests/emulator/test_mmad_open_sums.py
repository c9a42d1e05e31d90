"""Sums that fast mode leaves open, and operands whose columns of K lie apart (numerics/mmad.hpp).

Open sums must give the bits of multiplying at once, whatever happens to the operands meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deep_jit._shared.tests.emulator.mmad_case import Call, check, make_case
from deep_jit._shared.tests.emulator.mmad_native import FAST_ISAS, Numerics, settled_numerics

numerics = settled_numerics(FAST_ISAS)


def products(
    shape: tuple[int, int, int], count: int, *, seed: int, pair: tuple[str, str] = ("bf16", "bf16")
) -> list[Call]:
    """Products into the C of the first one; versions are all different."""
    m, k, n = shape
    calls = []
    for i in range(count):
        # The last slice of K is shorter.
        size = (m, k if i + 1 < count else max(1, k // 2 - 3), n)
        case = make_case(pair, size, init="accumulate" if i else "zero", seed=seed * 1000 + i)
        version = seed * 10000 + 2 * i + 1
        calls.append(Call(case, a_version=version, b_version=version + 1))
        calls[-1].problem.c = calls[0].problem.c
    return calls


def interleaved(groups: list[list[Call]]) -> Iterator[Call]:
    """One product of each group in turn."""
    for group in zip(*groups, strict=True):
        yield from group


# The last one holds more packed words than an OpenSums keeps.
@pytest.mark.parametrize("shape", [(16, 32, 16), (33, 64, 40), (1, 48, 16), (128, 128, 96)])
@pytest.mark.parametrize("count", [1, 3, 21])
def test_open_sums_equal_sums_at_once(
    numerics: Numerics, shape: tuple[int, int, int], count: int
) -> None:
    wanted = [products(shape, count, seed=seed) for seed in (1, 2)]
    for call in interleaved(wanted):
        numerics.mmad(call.problem, fast=True)
    got = [products(shape, count, seed=seed) for seed in (1, 2)]
    for call in interleaved(got):
        numerics.mmad_open(call.problem)
        call.a[:] = 0xFF  # a later copy to L0 replaces the operands
        call.b[:] = 0xFF
    numerics.settle()
    for group, reference in zip(got, wanted, strict=True):
        assert (group[0].result() == reference[0].result()).all(), (shape, count)


def test_sums_are_open_at_all(numerics: Numerics) -> None:
    """Otherwise the other tests of this file test nothing."""
    call = products((16, 32, 16), 1, seed=3)[0]
    before = call.c.copy()
    numerics.mmad_open(call.problem)
    assert (call.c == before).all()
    numerics.settle()
    assert (call.c != before).any()


def test_more_tiles_than_stay_open(numerics: Numerics) -> None:
    groups = [products((16, 32, 16), 2, seed=seed) for seed in range(10, 19)]
    for call in interleaved(groups):
        numerics.mmad_open(call.problem)
    numerics.settle()
    for seed, group in zip(range(10, 19), groups, strict=True):
        wanted = products((16, 32, 16), 2, seed=seed)
        for call in wanted:
            numerics.mmad(call.problem, fast=True)
        assert (group[0].result() == wanted[0].result()).all(), seed


@pytest.mark.parametrize("second", ["zero", "bias"])
def test_a_new_sum_replaces_an_open_one(numerics: Numerics, second: str) -> None:
    first = products((16, 32, 16), 3, seed=4)
    for call in first:
        numerics.mmad_open(call.problem)
    last = Call(make_case(("bf16", "bf16"), (16, 32, 16), init=second, seed=5))
    wanted = last.problem.c
    last.problem.c = first[0].problem.c
    numerics.mmad_open(last.problem)
    if last.bias is not None:
        last.bias[:] = 0x7FC00000  # the bias table may change after the instruction
    numerics.settle()
    alone = Call(make_case(("bf16", "bf16"), (16, 32, 16), init=second, seed=5))
    assert wanted == last.c.ctypes.data
    numerics.mmad(alone.problem, fast=True)
    assert (first[0].result() == alone.result()).all()


def test_overlapping_tiles_keep_their_order(numerics: Numerics) -> None:
    """A tile of 16 x 32 and one that covers its second half."""
    results = []
    for open_sums in (True, False):
        wide = products((16, 32, 32), 2, seed=6)
        narrow = products((16, 32, 16), 2, seed=7)
        for call in narrow:
            call.problem.c = wide[0].problem.c + 16 * 16 * 4
        for call in (wide[0], narrow[0], wide[1], narrow[1]):
            if open_sums:
                numerics.mmad_open(call.problem)
            else:
                numerics.mmad(call.problem, fast=True)
        numerics.settle()
        results.append(wide[0].c.copy())
    assert (results[0] == results[1]).all()


def test_the_exact_kernel_sees_open_sums(numerics: Numerics) -> None:
    """fp32 operands are multiplied at once, on top of a sum of bf16 products that was open."""
    results = []
    for open_sums in (True, False):
        calls = products((16, 32, 16), 2, seed=8)
        exact = Call(make_case(("f32", "f32"), (16, 8, 16), init="accumulate", seed=9))
        exact.problem.c = calls[0].problem.c
        for call in calls:
            if open_sums:
                numerics.mmad_open(call.problem)
            else:
                numerics.mmad(call.problem, fast=True)
        numerics.mmad_open(exact.problem)
        results.append(calls[0].result().copy())
    assert (results[0] == results[1]).all()


def test_nan_of_one_product_is_canonical(numerics: Numerics) -> None:
    calls = products((16, 32, 16), 3, seed=12)
    calls[1].a[0] = 0xC1  # a quiet NaN with a payload
    calls[1].a[1] = 0x7F
    for call in calls:
        numerics.mmad_open(call.problem)
    numerics.settle()
    row = calls[0].result()[0]
    assert (row == 0x7FC00000).all()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", ["bf16", "f32", "i8", "e4m3", "e2m1"])
def test_columns_of_k_apart(numerics: Numerics, name: str, *, fast: bool) -> None:
    """The operands of a view of L1: 32-byte columns of K with others between them."""
    case = make_case((name, name), (20, 150, 35), seed=13)
    dense, apart = Call(case), Call(case)
    spread = []
    for side, rows in (("a", 32), ("b", 48)):
        columns = getattr(apart, side).reshape(-1, rows * 32)
        wide = np.full((columns.shape[0], columns.shape[1] + 1024), 0xFF, np.uint8)
        wide[:, : columns.shape[1]] = columns
        setattr(apart.problem, side, wide.ctypes.data)
        setattr(apart.problem, f"{side}_pitch", wide.shape[1])
        spread.append(wide)
    for call in (dense, apart):
        numerics.mmad(call.problem, fast=fast)
    assert (dense.result() == apart.result()).all(), name


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("gap", [0, 7, 2048])
@pytest.mark.parametrize("name", ["bf16", "f32", "i8", "e4m3", "e2m1"])
def test_rows_apart(numerics: Numerics, name: str, gap: int, *, fast: bool) -> None:
    """Operands as rows of GM: all of K of a row together, `gap` bytes between the rows."""
    case = make_case((name, name), (37, 150, 50), seed=14)
    dense, apart = Call(case), Call(case)
    rows_of_gm = []
    for side, rows in (("a", 48), ("b", 64)):
        pieces = getattr(apart, side).reshape(-1, rows, 32).transpose(1, 0, 2)
        row_bytes = pieces.shape[1] * 32
        wide = np.full((rows, row_bytes + gap), 0xFF, np.uint8)
        wide[:, :row_bytes] = pieces.reshape(rows, row_bytes)
        setattr(apart.problem, side, wide.ctypes.data)
        setattr(apart.problem, f"{side}_pitch", 32)
        setattr(apart.problem, f"{side}_row_pitch", row_bytes + gap)
        rows_of_gm.append(wide)
    for call in (dense, apart):
        numerics.mmad(call.problem, fast=fast)
    assert (dense.result() == apart.result()).all(), (name, gap)


def test_the_suite_has_a_reference(numerics: Numerics) -> None:
    """Exact mode of these libraries, against the reference."""
    check(numerics, make_case(("bf16", "bf16"), (33, 64, 40)))
