"""Scales of weights in both directions, byte for byte."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.errors import LaunchError
from tile_kernels.quant import batched_transpose_weight_sf, set_packed_ue8m0_pack_factor
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.torch import batched_transpose_weight_sf as reference


@pytest.fixture(autouse=True)
def all_checkers():
    """Every case under all checkers, so that they share their kernels."""
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        yield


def scales(*shape):
    return (torch.randint(1, 255, shape, dtype=torch.int32) << 23).view(torch.float32)


@pytest.fixture(params=[(32, 2), (128, 4)], ids=["32-int16", "128-int32"])
def block(request):
    """Block size; the words of packed scales change with it."""
    set_packed_ue8m0_pack_factor(request.param[1])
    yield request.param[0]
    set_packed_ue8m0_pack_factor(2)


def test_both_directions_and_given_results(block):
    sf = [scales(8, 44), scales(2, 4, 12)] if block == 32 else [scales(1, 9), scales(2, 10, 3)]
    flags = [False, True]
    first = batched_transpose_weight_sf(sf, block, flags, [None, None])
    wanted = reference(sf, block, flags)
    for got, pair in zip(first, wanted, strict=True):
        for mine, other in zip(got, pair, strict=True):
            assert mine.stride() == other.stride()
            assert_equal(mine.contiguous(), other.contiguous())
    assert first[0][0].untyped_storage().data_ptr() == first[1][1].untyped_storage().data_ptr()
    other = [item * 2 for item in sf]
    second = batched_transpose_weight_sf(other, block, flags, first)
    assert second[1][0].data_ptr() == first[1][0].data_ptr()
    assert_equal(second[1][1].contiguous(), reference(other, block, flags)[1][1].contiguous())


def test_no_weights_and_scales_that_are_no_powers():
    assert batched_transpose_weight_sf([], 32, [], []) == []
    for bad in (1.5, -2.0):
        sf = scales(4, 4)
        sf[2, 3] = bad
        with pytest.raises(LaunchError):
            batched_transpose_weight_sf([sf], 32, [False], [None])


def test_bad_arguments():
    sf = scales(4, 4)
    with pytest.raises(ValueError, match="lengths 1, 1 and 0"):
        batched_transpose_weight_sf([sf], 32, [False], [])
    with pytest.raises(ValueError, match="block_size got 64"):
        batched_transpose_weight_sf([sf], 64, [False], [None])
    with pytest.raises(ValueError, match="multiples of 128"):
        batched_transpose_weight_sf([scales(4, 5)], 32, [False], [None])
    out = batched_transpose_weight_sf([sf], 32, [False], [None])[0]
    with pytest.raises(ValueError, match=r"outs\[0\]\[1\] is"):
        batched_transpose_weight_sf([sf], 32, [True], [out])
    with pytest.raises(TypeError, match="int16"):
        batched_transpose_weight_sf([sf], 32, [False], [(out[0].int(), out[1])])
