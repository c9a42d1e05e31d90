"""Per-token casts against the reference, bit for bit."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.config import get_amax_clamp_for_quant, set_amax_clamp_for_quant
from tile_kernels.quant import (
    per_token_cast,
    per_token_cast_with_precomputed_sf,
    per_token_cast_with_sf_only,
    set_packed_ue8m0_pack_factor,
)
from tile_kernels.testing.numeric import assert_equal, check_bias
from tile_kernels.testing.quant import quant_inputs as inputs
from tile_kernels.testing.quant import quant_level_rank
from tile_kernels.torch import quant_cast as ref
from tile_kernels.torch.cast_elements import random_of_places, round_at_random

PLAIN = {}
ROUNDED = {"round_sf": True}
COL = {"use_tma_aligned_col_major_sf": True}
PACKED = {"round_sf": True, "use_packed_ue8m0": True}
PACKED_COL = {**COL, **PACKED}
E4M3_SF = {"use_e4m3_sf": True}


def assert_same_numbers(codes, wanted):
    """Codes are equal but for the sign of NaN."""
    if codes.dtype == torch.float8_e4m3fn:
        codes, wanted = codes.float().nan_to_num(1e9), wanted.float().nan_to_num(1e9)
    assert_equal(codes, wanted)


def check(x, fmt, n, **options):
    codes, sf = per_token_cast(x, fmt, n, **options)
    options.pop("x_block_size", None)
    wanted, wanted_sf = ref.cast(x, fmt, (1, n), **options)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)
    return codes, sf


@pytest.mark.parametrize("tokens", [1, 37])
@pytest.mark.parametrize("hidden", [64, 576])
@pytest.mark.parametrize("options", [PLAIN, ROUNDED], ids=["plain", "rounded"])
def test_bf16_e4m3(tokens, hidden, options):
    check(inputs(tokens, hidden), "e4m3", 32, **options)


@pytest.mark.parametrize(
    ("dtype", "fmt", "n", "options"),
    [
        (torch.float32, "e2m1", 16, PACKED_COL),
        (torch.float32, "e2m1", 32, PACKED_COL),
        (torch.bfloat16, "e2m1", 32, COL),
        (torch.bfloat16, "e2m1", 64, PACKED),
        (torch.bfloat16, "e2m1", 128, {**COL, **ROUNDED}),
        (torch.bfloat16, "e4m3", 128, PACKED),
        (torch.float32, "e4m3", 64, E4M3_SF),
        (torch.bfloat16, "e4m3", 16, COL),
        (torch.bfloat16, "e2m1", 16, PACKED),
        (torch.bfloat16, "e2m1", 16, {**COL, **E4M3_SF}),
        (torch.float32, "e4m3", 16, PLAIN),
        (torch.bfloat16, "e4m3", 128, E4M3_SF),
    ],
)
def test_formats_and_layouts(dtype, fmt, n, options):
    for tokens, hidden in ((67, 704), (1, 64)):
        check(inputs(tokens, hidden, dtype), fmt, n, **options)


def test_four_bytes_in_a_word():
    x = inputs(37, 576)
    set_packed_ue8m0_pack_factor(4)
    try:
        codes, sf = per_token_cast(x, "e4m3", 32, **PACKED_COL)
    finally:
        set_packed_ue8m0_pack_factor(2)
    wanted, wanted_sf = ref.cast(x, "e4m3", (1, 32), **PACKED_COL, pack=4)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf, check_stride=False)
    assert sf.stride() == (1, 40)


@pytest.mark.parametrize(
    ("dtype", "fmt", "options"),
    [
        (torch.bfloat16, "e4m3", PLAIN),
        (torch.bfloat16, "e4m3", PACKED_COL),
        (torch.bfloat16, "e2m1", COL),
        (torch.float32, "e2m1", PACKED),
    ],
)
def test_one_scale_per_row(dtype, fmt, options):
    check(inputs(3, 1088, dtype), fmt, 1088, **options)
    hidden = 576
    x = inputs(600, hidden, dtype)
    sf = check(x, fmt, hidden, **options)[1]
    assert_equal(per_token_cast_with_sf_only(x, fmt, hidden, **options), sf)
    other = x.flip(0)
    codes = per_token_cast_with_precomputed_sf(other, fmt, hidden, sf, **options)
    assert_equal(codes, ref.cast(other, fmt, (1, hidden), sf=sf, **options)[0])


def test_infinity_and_nan_stay_in_their_row():
    x = inputs(8, 576)
    x[2, 5], x[3, 40], x[4, 570] = float("inf"), float("-inf"), float("nan")
    codes, sf = per_token_cast(x, "e4m3", 576)
    wanted, wanted_sf = ref.cast(x, "e4m3", (1, 576))
    assert_same_numbers(codes, wanted)
    assert_equal(sf.nan_to_num(1e9, 2e9), wanted_sf.nan_to_num(1e9, 2e9))


def test_many_tiles_and_cores():
    check(inputs(2100, 64), "e4m3", 32)


def test_strided_rows_are_read_in_place():
    x = inputs(33, 1024)[:, 64 : 64 + 576]
    assert not x.is_contiguous()
    check(x, "e4m3", 32)


def test_ties_and_saturation():
    steps = torch.arange(0, 128, dtype=torch.float32) / 16  # every tie of e2m1, with scale 1
    x = torch.stack((steps, -steps)).repeat(1, 5)
    x[:, 0] = 6
    sf = torch.ones(2, 20)
    codes = per_token_cast_with_precomputed_sf(x, "e2m1", 32, sf)
    assert_equal(codes, ref.cast(x, "e2m1", (1, 32), sf=sf)[0])


def test_infinity_and_nan_stay_in_their_group():
    x = inputs(8, 128)
    x[2, 5], x[3, 40], x[4, 70] = float("inf"), float("-inf"), float("nan")
    for options in (PLAIN, ROUNDED):
        codes, sf = per_token_cast(x, "e4m3", 32, **options)
        wanted, wanted_sf = ref.cast(x, "e4m3", (1, 32), **options)
        assert torch.equal(codes.float().nan_to_num(1e9), wanted.float().nan_to_num(1e9))
        assert torch.equal(sf.nan_to_num(1e9, 2e9), wanted_sf.nan_to_num(1e9, 2e9))
        assert codes.float().isnan().sum(1).gt(0).nonzero().flatten().tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("dtype", "n", "fmt"),
    [(torch.bfloat16, 16, "e2m1"), (torch.bfloat16, 32, "e4m3"), (torch.float32, 16, "e4m3")],
)
def test_e4m3_scales_of_infinity_and_nan(dtype, n, fmt):
    """Tiles of odd rows and units; scales from the smallest on to 448, where codes saturate."""
    x = inputs(67, 704, dtype) * 4.0 ** torch.arange(-9, 58).view(-1, 1).to(dtype)
    x[2, 5], x[3, 40], x[66, 703] = float("inf"), float("-inf"), float("nan")
    codes, sf = per_token_cast(x, fmt, n, **E4M3_SF)
    wanted, wanted_sf = ref.cast(x, fmt, (1, n), **E4M3_SF)
    assert_same_numbers(codes, wanted)
    assert_equal(sf.float().nan_to_num(1e9), wanted_sf.float().nan_to_num(1e9))
    assert sf.float().isnan().sum() == 1
    assert sf.float()[:, :1].unique().numel() > 9
    only = per_token_cast_with_sf_only(x, fmt, n, **E4M3_SF)
    assert_equal(only.view(torch.uint8), sf.view(torch.uint8))


def test_e4m3_scales_that_round_to_zero():
    before = get_amax_clamp_for_quant("e4m3", True)
    set_amax_clamp_for_quant("e4m3", True, 1e-6)
    try:
        x = inputs(5, 64) * 1e-4
        x[1, 7], x[3] = float("nan"), 0.0
        codes, sf = per_token_cast(x, "e4m3", 16, **E4M3_SF)
        wanted, wanted_sf = ref.cast(x, "e4m3", (1, 16), **E4M3_SF)
    finally:
        set_amax_clamp_for_quant("e4m3", True, before)
    assert_same_numbers(codes, wanted)
    assert_equal(sf.float().nan_to_num(1e9), wanted_sf.float().nan_to_num(1e9))


@pytest.mark.parametrize("packed", [False, True])
def test_no_tokens(packed):
    options = PACKED_COL if packed else PLAIN
    codes, sf = per_token_cast(inputs(0, 192), "e4m3", 32, **options)
    assert codes.shape == (0, 192)
    assert sf.shape == ((0, 3) if packed else (0, 6))


@pytest.mark.parametrize("block", [(32, 32), (128, 128)])
def test_quantised_input(block):
    x = inputs(150, 640)
    fmt = "e4m3" if block[0] == 128 else "e2m1"
    data = ref.cast(x, fmt, block, round_sf=True, use_packed_ue8m0=block[0] == 32,
                    use_tma_aligned_col_major_sf=block[0] == 32)  # fmt: skip
    codes, sf = per_token_cast(data, "e4m3", 32, x_block_size=block)
    wanted, wanted_sf = ref.cast(data, "e4m3", (1, 32), x_block_size=block)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)


@pytest.mark.parametrize(
    ("given", "block", "form", "fmt", "n", "options"),
    [
        ("e4m3", (1, 128), PLAIN, "e4m3", 128, PLAIN),
        ("e4m3", (1, 128), COL, "e4m3", 32, PACKED_COL),
        ("e4m3", (32, 32), PACKED_COL, "e2m1", 32, PACKED),
        ("e2m1", (1, 32), PACKED, "e4m3", 64, ROUNDED),
        ("e2m1", (1, 32), PLAIN, "e4m3", 128, COL),
        ("e2m1", (1, 64), PACKED_COL, "e2m1", 128, PLAIN),
    ],
)
def test_quantised_rows(given, block, form, fmt, n, options):
    for tokens, hidden in ((500, 1408), (3, 1088)):
        data = ref.cast(inputs(tokens, hidden), given, block, **form)
        codes, sf = per_token_cast(data, fmt, n, block, **options)
        wanted, wanted_sf = ref.cast(data, fmt, (1, n), x_block_size=block, **options)
        assert_equal(codes, wanted)
        assert_equal(sf, wanted_sf)
        only = per_token_cast_with_sf_only(data, fmt, n, x_block_size=block, **options)
        assert_equal(only, wanted_sf)


def test_infinite_scales_of_quantised_rows_stay_in_their_groups():
    data, scales = ref.cast(inputs(40, 1408), "e4m3", (1, 128))
    scales[0, 2], scales[1, 10], scales[16:, 3] = float("inf"), float("nan"), float("inf")
    codes, sf = per_token_cast((data, scales), "e4m3", 128, (1, 128))
    wanted, wanted_sf = ref.cast((data, scales), "e4m3", (1, 128), x_block_size=(1, 128))
    assert_same_numbers(codes, wanted)
    assert_equal(sf.nan_to_num(1e9, 2e9), wanted_sf.nan_to_num(1e9, 2e9))


def test_scales_only_and_given_scales():
    x = inputs(37, 576)
    buffer = torch.empty(37, 18)
    sf = per_token_cast_with_sf_only(x, "e4m3", 32, out_sf=buffer)
    assert sf is buffer
    assert_equal(sf, ref.cast(x, "e4m3", (1, 32))[1])
    out = torch.empty(37, 576, dtype=torch.float8_e4m3fn)
    given = per_token_cast_with_precomputed_sf(x, "e4m3", 32, sf, out=out)
    assert given is out
    assert_equal(given, ref.cast(x, "e4m3", (1, 32), sf=sf)[0])


@pytest.mark.parametrize(
    ("dtype", "fmt", "n", "options"),
    [
        (torch.bfloat16, "e4m3", 128, PLAIN),
        (torch.bfloat16, "e4m3", 32, COL),
        (torch.bfloat16, "e2m1", 64, PACKED),
        (torch.float32, "e2m1", 128, PACKED_COL),
        (torch.float32, "e4m3", 64, {"use_e4m3_sf": True}),
        (torch.bfloat16, "e4m3", 16, PLAIN),
    ],
)
def test_scales_of_other_numbers(dtype, fmt, n, options):
    x = inputs(1100, 1408, dtype)
    sf = ref.cast(x.flip(0), fmt, (1, n), **options)[1]  # many products are too large
    x[0, 7], x[1, 600], x[700, 1407] = float("inf"), float("-inf"), float("nan")
    codes = per_token_cast_with_precomputed_sf(x, fmt, n, sf, **options)
    assert_same_numbers(codes, ref.cast(x, fmt, (1, n), sf=sf, **options)[0])


@pytest.mark.parametrize("packed", [False, True])
def test_given_scales_of_extreme_size(packed):
    x = inputs(8, 1024, torch.float32)
    x[:, ::7] = 0
    if packed:
        sf = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(torch.int16).view(8, 16)
    else:
        sf = torch.logspace(-120, 120, 256, 2.0).view(8, 32)
        sf[0, :3] = torch.tensor((0.0, float("inf"), float("nan")))
        x[:2] *= 1e30
        sf[1] = torch.exp2(torch.cat((torch.arange(112.0, 128), torch.arange(-139.0, -123))))
        x[1, 16 * 32 :] *= 1e-38 / 1e30
    codes = per_token_cast_with_precomputed_sf(x, "e4m3", 32, sf)
    assert_same_numbers(codes, ref.cast(x, "e4m3", (1, 32), sf=sf)[0])


@pytest.mark.parametrize("fmt", ["e4m3", "e2m1"])
def test_stochastic_rounding_is_fair_and_repeats(fmt):
    x = inputs(96, 512, torch.float32, spread=0)
    codes, sf = per_token_cast(x, fmt, 32, stochastic_cast=True)
    nearest, wanted_sf = ref.cast(x, fmt, (1, 32))
    assert_equal(sf, wanted_sf)
    assert_equal(codes, per_token_cast(x, fmt, 32, stochastic_cast=True)[0])
    distance = (quant_level_rank(codes, fmt) - quant_level_rank(nearest, fmt)).abs()
    assert int(distance.max()) == 1
    back = ref.cast_back((codes, sf), "fp32", (1, 32))
    error = (back - x).double()
    assert abs(float(error.mean())) < 6 * float(error.std()) / error.numel() ** 0.5
    check_bias(back[x != 0], x[x != 0])


@pytest.mark.parametrize(
    ("dtype", "fmt", "n", "options"),
    [
        (torch.float32, "e4m3", 32, PACKED_COL),
        (torch.bfloat16, "e4m3", 128, PLAIN),
        (torch.float32, "e2m1", 64, ROUNDED),
        (torch.bfloat16, "e2m1", 32, PACKED),
        (torch.float32, "e4m3", 16, ROUNDED),  # by threads
    ],
)
def test_stochastic_rounding_bit_for_bit(dtype, fmt, n, options):
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        for tokens, hidden in ((67, 1408), (1, 128)):
            x = inputs(tokens, hidden, dtype, spread=0)
            x[0, 5], x[0, 77], x[0, 100:120] = -0.0, 1e-40, torch.logspace(-30, -1, 20, 2.0)
            codes, sf = per_token_cast(x, fmt, n, stochastic_cast=True, **options)
            _, wanted_sf = ref.cast(x, fmt, (1, n), **options)
            assert_equal(sf, wanted_sf)
            if options is PLAIN:
                amax = x.float().abs().view(tokens, -1, n).amax(-1).clamp_min(1e-4)
                inverse = torch.tensor(448.0) / amax
            else:
                inverse = 1 / ref.decode_sf(sf, tokens, hidden, (1, n))
            values = x.float() * inverse.repeat_interleave(n, 1)
            rounded = round_at_random(values, random_of_places(values), fmt)
            wanted = ref.encode_e2m1(rounded) if fmt == "e2m1" else rounded.to(codes.dtype)
            assert_equal(codes, wanted)


@pytest.mark.parametrize("fmt", ["e4m3", "e2m1"])
def test_stochastic_rounding_of_numbers_that_are_not(fmt):
    x = inputs(8, 256, torch.float32)
    x[0, 7], x[1, 40], x[2, 200] = torch.nan, torch.inf, -torch.inf
    for row in (x, -x):
        codes, sf = per_token_cast(row, fmt, 32, stochastic_cast=True)
        nearest, wanted_sf = ref.cast(row, fmt, (1, 32))
        assert_equal(sf.nan_to_num(1e9), wanted_sf.nan_to_num(1e9))
        if fmt == "e4m3":
            assert torch.equal(codes.isnan(), nearest.isnan())
        else:
            assert codes[0, 3] >> 4 == 0  # NaN


def test_stochastic_rounding_of_codes():
    x = ref.cast(inputs(40, 640), "e2m1", (1, 32))
    values = ref.cast_back(x, "fp32", (1, 32))
    codes, sf = per_token_cast(x, "e4m3", 32, (1, 32), stochastic_cast=True)
    wanted = per_token_cast(values, "e4m3", 32, stochastic_cast=True)
    assert_equal(codes, wanted[0])
    assert_equal(sf, wanted[1])


def test_all_checkers():
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        check(inputs(37, 576), "e4m3", 32, **PLAIN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fmt": "e5m2"}, "fmt got 'e5m2'"),
        ({"num_per_channels": 48}, "num_per_channels got 48"),
        ({"use_packed_ue8m0": True}, "needs round_sf=True"),
        ({"round_sf": True, "use_e4m3_sf": True}, "exclude each other"),
        ({"x": torch.zeros(4, 96)}, "hidden is 96"),
        ({"x": torch.zeros(4, 64).half()}, "float16"),
        ({"x": torch.zeros(64, 4).T}, r"\.contiguous\(\)"),
        ({"x": torch.zeros(64)}, "2 dimensions"),
        ({"x_block_size": (32, 32)}, r"needs x as \(data, sf\)"),
        ({"out": torch.zeros(4, 64)}, "out has dtype"),
    ],
)
def test_bad_arguments(change, message):
    arguments = {"x": torch.zeros(4, 64), "fmt": "e4m3", "num_per_channels": 32, **change}
    with pytest.raises((ValueError, TypeError), match=message):
        per_token_cast(**arguments)
