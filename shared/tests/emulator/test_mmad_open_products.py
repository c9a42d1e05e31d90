"""Products of lasting operands, which exact mode may join along K (numerics/open_products.hpp).

Joined products must give the bits of multiplying one after the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from deep_jit._shared.tests.emulator.mmad_case import Case, make_case
from deep_jit._shared.tests.emulator.mmad_native import EXACT_ISAS, Numerics, settled_numerics
from deep_jit._shared.tests.emulator.mmad_tile import ACCUMULATE, ZERO, Tile

numerics = settled_numerics(EXACT_ISAS)


def at_once(numerics: Numerics, case: Case, step: int) -> npt.NDArray[np.uint32]:
    """C `[m, n]` of the slices, one after the other."""
    tile = Tile.of(case)
    for problem in tile.products(step, lasting=False):
        numerics.mmad(problem)
    return tile.result()


def joined(numerics: Numerics, case: Case, step: int) -> npt.NDArray[np.uint32]:
    """C `[m, n]` of the slices, settled at the end."""
    tile = Tile.of(case)
    for problem in tile.products(step, lasting=True):
        numerics.mmad_exact_open(problem)
    numerics.settle()
    return tile.result()


@pytest.mark.parametrize("init", ["zero", "accumulate"])
@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "i8", "e4m3", "e2m1"])
@pytest.mark.parametrize("shape", [(16, 256, 16), (37, 500, 90), (1, 320, 150)])
def test_joined_products_have_the_bits_of_single_ones(
    numerics: Numerics, shape: tuple[int, int, int], name: str, init: str
) -> None:
    case = make_case((name, name), shape, init=init, seed=1)
    want = case.expected()
    assert (joined(numerics, case, 64) == want).all()
    assert (at_once(numerics, case, 64) == want).all()


def test_products_stay_open(numerics: Numerics) -> None:
    """Otherwise the other tests of this file test nothing."""
    tile = Tile.of(make_case(("bf16", "bf16"), (16, 64, 16), seed=2))
    for problem in tile.products(32, lasting=True):
        numerics.mmad_exact_open(problem)
    assert not tile.c.any()
    numerics.settle_range(tile.c.ctypes.data + 4 * tile.c.size, 64)
    assert not tile.c.any()
    numerics.settle_range(tile.c.ctypes.data + 4 * tile.c.size - 4, 4)
    assert tile.c.any()


def test_a_product_longer_than_what_stays_open(numerics: Numerics) -> None:
    case = make_case(("bf16", "bf16"), (256, 1100, 33), seed=3)
    assert (joined(numerics, case, 128) == at_once(numerics, case, 128)).all()


def test_tiles_that_share_rows(numerics: Numerics) -> None:
    """Two tiles of the same A take turns, as in a GEMM whose block has two of them."""
    cases = [make_case(("bf16", "bf16"), (64, 640, 48), seed=seed) for seed in (4, 5)]
    tiles = [Tile.of(case) for case in cases]
    tiles[1].case, tiles[1].a = cases[0], tiles[0].a
    shared = [problem for tile in tiles for problem in tile.products(64, lasting=True)]
    for problem in shared:
        problem.a_version = problem.b_version = shared[0].a_version
    half = len(shared) // 2
    for first, second in zip(shared[:half], shared[half:], strict=True):
        numerics.mmad_exact_open(first)
        numerics.mmad_exact_open(second)
    numerics.settle_range(tiles[0].c.ctypes.data, 4)
    numerics.settle()
    for tile, b in zip(tiles, cases, strict=True):
        want = Case("bf16", "bf16", a=cases[0].a, b=b.b)
        assert (tile.result() == at_once(numerics, want, 64)).all()


def test_more_tiles_than_stay_open(numerics: Numerics) -> None:
    cases = [make_case(("bf16", "bf16"), (20, 128, 30), seed=seed) for seed in range(10, 17)]
    tiles = [Tile.of(case) for case in cases]
    for group in zip(*(tile.products(32, lasting=True) for tile in tiles), strict=True):
        for problem in group:
            numerics.mmad_exact_open(problem)
    numerics.settle()
    for tile in tiles:
        assert (tile.result() == tile.case.expected()).all()


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 2, 1, 0), (0, 0, 1, 1), (0, 1, 3, 3)])
def test_products_that_do_not_follow_each_other(numerics: Numerics, order: tuple[int, ...]) -> None:
    case = make_case(("bf16", "bf16"), (20, 128, 30), seed=20)
    results = []
    for lasting in (True, False):
        tile = Tile.of(case)
        slices = list(tile.products(32, lasting=lasting))
        for place, i in enumerate(order):
            slices[i].init = ACCUMULATE if place else ZERO
            numerics.mmad_exact_open(slices[i])
        numerics.settle()
        results.append(tile.result())
    assert (results[0] == results[1]).all()


def test_an_immediate_product_finds_the_sums(numerics: Numerics) -> None:
    """A product of operands that do not last, and one that starts anew, between open ones."""
    case = make_case(("bf16", "bf16"), (20, 128, 30), seed=21)
    results = []
    for kinds in ((True, False, True, True), (False,) * 4):
        tile = Tile.of(case)
        slices = [list(tile.products(32, lasting=lasting)) for lasting in (False, True)]
        for i, lasting in enumerate(kinds):
            numerics.mmad_exact_open(slices[lasting][i])
        slices[kinds[0]][2].init = ZERO
        other = Tile.of(case)
        slices[kinds[0]][2].c = other.c.ctypes.data
        numerics.mmad_exact_open(slices[kinds[0]][1])
        numerics.mmad_exact_open(slices[kinds[0]][2])
        numerics.settle()
        results.append([tile.result(), other.result()])
    for got, want in zip(*results, strict=True):
        assert (got == want).all()


@pytest.mark.parametrize("where", [0, 70, 127])
def test_nan_of_one_slice_is_canonical(numerics: Numerics, where: int) -> None:
    case = make_case(("bf16", "bf16"), (20, 128, 30), init="accumulate", seed=22)
    assert case.start is not None
    case.start[3, 5] = 0xFFC12345  # a NaN that C starts from
    case.a[7, where] = 0x7FC1
    got = joined(numerics, case, 32)
    assert (got == at_once(numerics, case, 32)).all()
    assert (got[7] == 0x7FC00000).all()
    assert got[3, 5] == 0x7FC00000
