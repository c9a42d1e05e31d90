"""The element-wise cast: to nearest bit for bit, at random against the published hash."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import cast, cast_kernel
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_level_rank
from tile_kernels.torch import cast_elements, cast_to_bf16_at_random, cast_to_e4m3_at_random

SPECIAL = torch.tensor([0.0, -0.0, 448.0, 464.0, 1e9, -1e9, torch.inf, -torch.inf, 2.0**-9, 1e-40])


@pytest.fixture(autouse=True)
def all_checkers():
    """Every case under all checkers, so that they share their kernels."""
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        yield


def inputs(count):
    x = torch.randn(count) * torch.exp2(torch.randint(-12, 9, (count,)).float())
    x[: len(SPECIAL)] = SPECIAL[:count]
    return x


def without_nan_signs(x):
    return x.float().nan_to_num(1e9)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_to_nearest(dtype):
    for count in (1, 16384 * 9 + 7):
        x = inputs(count)
        assert_equal(cast(x, dtype), cast_elements(x, dtype))
    nans = cast(torch.tensor([torch.nan, 1.0, -torch.nan]), dtype)
    assert nans.isnan().tolist() == [True, False, True]


def test_every_e4m3_code_and_no_elements():
    codes = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).view(16, 1, 16)
    result = cast(codes, torch.bfloat16)
    torch.testing.assert_close(result, codes.to(torch.bfloat16), rtol=0, atol=0, equal_nan=True)
    assert cast(codes[:0], torch.bfloat16).shape == (0, 1, 16)
    assert cast(torch.tensor(1.5), torch.bfloat16).shape == ()


def test_bf16_at_random_has_the_published_bits():
    for count in (1, 6, 256, 512 + 127, 8192 * 65 + 131):
        x = inputs(count)
        got = cast(x, torch.bfloat16, stochastic_rounding=True)
        assert_equal(got, cast_to_bf16_at_random(x))
    middle = torch.full((40000,), 1.0 + 2.0**-9)
    middle += torch.arange(40000) * 2.0**-23 % 2.0**-16  # other bits, so other random numbers
    share = (cast(middle, torch.bfloat16, True) > 1.0).double().mean()
    assert abs(share - 0.25) < 10 * (0.25 * 0.75 / 40000) ** 0.5


def test_e4m3_at_random_picks_neighbours_without_bias():
    x = inputs(40000).bfloat16()
    x[5] = torch.nan
    got = cast(x, torch.float8_e4m3fn, stochastic_rounding=True)
    assert_equal(got, cast(x, torch.float8_e4m3fn, stochastic_rounding=True))
    nearest = cast_elements(x, torch.float8_e4m3fn)
    distance = (quant_level_rank(got, "e4m3") - quant_level_rank(nearest, "e4m3")).abs()
    assert distance.max() == 1
    part = torch.full((40000,), 1.0 + 2.0**-5).bfloat16()  # a quarter of the way to the next
    share = (cast(part, torch.float8_e4m3fn, True).float() > 1.0).double().mean()
    assert abs(share - 0.25) < 10 * (0.25 * 0.75 / 40000) ** 0.5


def test_e4m3_at_random_bit_for_bit():
    for count in (1, 6, 256, 512 + 127, 8192 * 65 + 131):
        bits = torch.randint(-(2**31), 2**31, (count,))  # all kinds of numbers, some NaN
        for x in (inputs(count), bits.to(torch.int32).view(torch.float32)):
            wanted = cast_to_e4m3_at_random(x)
            assert_equal(without_nan_signs(cast(x, "e4m3", True)), without_nan_signs(wanted))
            # NaNs of the hash keep their bits
            short = (x.view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)
            wanted = cast_to_e4m3_at_random(
                (short.view(torch.int16).int() << 16).view(torch.float32)
            )
            assert_equal(without_nan_signs(cast(short, "e4m3", True)), without_nan_signs(wanted))


def test_e4m3_at_random_beside_the_random_number():
    # The second number of each group is just above a multiple of 2 ** -25, or this itself. The
    # others are zeros, so 2 ** -16 of the random numbers are the part that rounding drops.
    k = torch.arange(1 << 14).float() * 2.0**-25
    x = torch.zeros(2, len(k), 4)
    x[0, :, 1], x[1, :, 1] = k, torch.nextafter(k, torch.tensor(1.0))
    assert_equal(cast(x, "e4m3", True), cast_to_e4m3_at_random(x))


def test_large_tensors_go_in_several_launches(monkeypatch):
    monkeypatch.setattr(cast_kernel, "LAUNCH", 8192 + 4)
    x = inputs(16384 * 3 + 5)
    assert_equal(cast(x, "bf16", True), cast_to_bf16_at_random(x))


def test_bad_arguments():
    x = torch.zeros(4, 8)
    with pytest.raises(TypeError, match=r"dtype got torch\.int8"):
        cast(x, torch.int8)
    with pytest.raises(ValueError, match="fmt got 'fp64'"):
        cast(x, "fp64")
    with pytest.raises(TypeError, match="x has dtype"):
        cast(x.int(), torch.float32)
    with pytest.raises(ValueError, match="stochastic_rounding from"):
        cast(x, torch.float16, True)
    with pytest.raises(ValueError, match="contiguous"):
        cast(x.T, torch.bfloat16)
