"""Packed operands that fast mode keeps for a launch (numerics/kept_operands.hpp).

Whatever is kept, the bits are those of packing every operand anew.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from deep_jit._shared.tests.emulator.mmad_case import Case, make_case
from deep_jit._shared.tests.emulator.mmad_native import FAST_ISAS, Numerics, settled_numerics
from deep_jit._shared.tests.emulator.mmad_tile import ACCUMULATE, VERSIONS, Tile

BF16 = ("bf16", "bf16")
Bits = npt.NDArray[np.uint32]


numerics = settled_numerics(FAST_ISAS)


def packed_anew(numerics: Numerics, case: Case, step: int) -> Bits:
    """C `[m, n]` of operands that do not last."""
    tile = Tile.of(case)
    for problem in tile.products(step, lasting=False):
        numerics.mmad(problem, fast=True)
    return tile.result()


def run(numerics: Numerics, tile: Tile, step: int, version: int | None = None) -> Bits:
    """C `[m, n]` of lasting operands, settled at the end."""
    for problem in tile.products(step, lasting=True, version=version):
        numerics.mmad_open(problem)
    numerics.settle()
    return tile.result()


@pytest.mark.parametrize("names", [BF16, ("e4m3", "e5m2"), ("e2m1", "e2m1")])
@pytest.mark.parametrize("shape", [(16, 256, 16), (37, 500, 90), (1, 320, 150), (128, 96, 33)])
def test_lasting_operands(
    numerics: Numerics, shape: tuple[int, int, int], names: tuple[str, str]
) -> None:
    case = make_case(names, shape, seed=1)
    assert (run(numerics, Tile.of(case), 64) == packed_anew(numerics, case, 64)).all()


def test_tiles_of_a_grid_share_operands(numerics: Numerics) -> None:
    """As in a GEMM of 2 x 3 tiles: each A serves three of them, each B two."""
    cases = [make_case(BF16, (48, 320, 40), seed=seed) for seed in range(3)]
    left, right = cases[:2], cases
    rows = [Tile.of(case) for case in cases]
    version = next(VERSIONS)
    for m, n in [(m, n) for m in range(2) for n in range(3)]:
        case = Case("bf16", "bf16", a=left[m].a, b=right[n].b)
        tile = Tile.of(case)
        tile.a, tile.b = rows[m].a, rows[n].b
        got = run(numerics, tile, 64, version)
        assert (got == packed_anew(numerics, case, 64)).all(), (m, n)


def test_a_new_launch_reads_memory_again(numerics: Numerics) -> None:
    first, second = (make_case(BF16, (32, 128, 32), seed=seed) for seed in (5, 6))
    tile, other = Tile.of(first), Tile.of(second)
    assert (run(numerics, tile, 64) == packed_anew(numerics, first, 64)).all()
    tile.a[:], tile.b[:] = other.a, other.b
    assert (run(numerics, tile, 64) == packed_anew(numerics, second, 64)).all()


def test_what_is_kept_is_not_read_again(numerics: Numerics) -> None:
    """Otherwise nothing was kept, and the other tests of this file test nothing."""
    case = make_case(BF16, (32, 128, 32), seed=7)
    tile, version = Tile.of(case), next(VERSIONS)
    want = run(numerics, tile, 64, version).copy()
    tile.a[:], tile.b[:] = 0xFF, 0xFF
    assert (run(numerics, tile, 64, version) == want).all()


@pytest.mark.parametrize(("step", "rows"), [(64, 16), (32, 48), (64, 48)])
def test_other_parts_that_start_at_the_same_byte(numerics: Numerics, step: int, rows: int) -> None:
    """Of an operand of 48 rows in slices of 64, then less of it, or the same once more."""
    case = make_case(BF16, (48, 128, 48), seed=8)
    tile, version = Tile.of(case), next(VERSIONS)
    run(numerics, tile, 64, version)
    part = Case("bf16", "bf16", a=case.a[:rows], b=case.b[:rows])
    smaller = Tile.of(part)
    smaller.a, smaller.b = tile.a, tile.b
    assert (run(numerics, smaller, step, version) == packed_anew(numerics, part, step)).all()
    assert (run(numerics, tile, 64, version) == packed_anew(numerics, case, 64)).all()


def test_more_operands_than_are_kept(numerics: Numerics) -> None:
    """18 MB of A: the first slices make room for the last ones, also while a sum is open."""
    case = make_case(BF16, (1024, 64 * 144, 16), seed=9)
    tile, version = Tile.of(case), next(VERSIONS)
    want = packed_anew(numerics, case, 64)
    for _ in range(2):
        assert (run(numerics, tile, 64, version) == want).all()


def test_operands_for_the_exact_kernel(numerics: Numerics) -> None:
    """A subnormal in one slice: the pair units would flush it."""
    case = make_case(BF16, (20, 192, 30), seed=10)
    case.a[3, 70] = 0x0001
    results = []
    for lasting in (True, False):
        tile = Tile.of(case)
        for problem in tile.products(64, lasting=lasting):
            assert problem.init == ACCUMULATE or not tile.c.any()
            numerics.mmad_open(problem)
        numerics.settle()
        results.append(tile.result())
    assert (results[0] == results[1]).all()


def test_nan_of_a_kept_operand_is_canonical(numerics: Numerics) -> None:
    case = make_case(BF16, (20, 128, 30), seed=11)
    case.a[7, 70] = 0x7FC1
    tile, version = Tile.of(case), next(VERSIONS)
    for _ in range(2):
        got = run(numerics, tile, 64, version)
        assert (got[7] == 0x7FC00000).all()
        assert (got == packed_anew(numerics, case, 64)).all()
