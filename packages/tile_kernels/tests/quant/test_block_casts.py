"""Per-block and per-channel casts against the reference, bit for bit."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import (
    per_block_cast,
    per_block_cast_with_precomputed_sf,
    per_block_cast_with_sf_only,
    per_channel_cast,
    set_packed_ue8m0_pack_factor,
)
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref

PACKED = {"round_sf": True, "use_packed_ue8m0": True}
PACKED_COL = {**PACKED, "use_tma_aligned_col_major_sf": True}
CHECKS = ("memcheck", "racecheck", "initcheck", "synccheck")


@pytest.mark.parametrize(
    ("dtype", "fmt", "block", "options"),
    [
        (torch.bfloat16, "e4m3", (32, 32), {}),
        (torch.bfloat16, "e2m1", (32, 32), PACKED_COL),
        (torch.float32, "e4m3", (128, 128), PACKED_COL),
        (torch.float32, "e2m1", (128, 128), PACKED),
    ],
)
def test_per_block(dtype, fmt, block, options):
    for tokens, hidden in ((1, 64), (130, 704), (300, 2112)):
        x = quant_inputs(tokens, hidden, dtype)
        codes, sf = per_block_cast(x, fmt, block, **options)
        wanted, wanted_sf = ref.cast(x, fmt, block, **options)
        assert_equal(codes, wanted)
        assert_equal(sf, wanted_sf)


def test_per_block_scales_only_and_given_scales():
    x = quant_inputs(100, 320)
    wanted_sf = ref.cast(x, "e4m3", (32, 32))[1]
    sf = per_block_cast_with_sf_only(x, "e4m3", (32, 32))
    assert_equal(sf, wanted_sf)
    codes = per_block_cast_with_precomputed_sf(x, "e4m3", (32, 32), sf)
    assert_equal(codes, ref.cast(x, "e4m3", (32, 32), sf=sf)[0])


@pytest.mark.parametrize("options", [{}, PACKED_COL])
def test_given_scales_of_blocks(options):
    x = quant_inputs(1100, 1408)
    for fmt, block in (("e4m3", (128, 128)), ("e2m1", (32, 32))):
        sf = ref.cast(x.flip(0), fmt, block, **options)[1]
        codes = per_block_cast_with_precomputed_sf(x, fmt, block, sf, **options)
        assert_equal(codes, ref.cast(x, fmt, block, sf=sf, **options)[0])


@pytest.mark.parametrize("packed", [False, True])
def test_per_channel(packed):
    options = {"round_sf": packed, "use_packed_ue8m0": packed}
    for tokens, hidden in ((1, 64), (97, 320), (130, 2112)):
        x = quant_inputs(tokens, hidden)
        codes, sf = per_channel_cast(x, "e4m3", 32, **options)
        wanted, wanted_sf = ref.cast(x, "e4m3", (32, 1), **options)
        assert_equal(codes, wanted)
        assert_equal(sf, wanted_sf)


@pytest.mark.parametrize(
    ("n", "width", "form", "packed"),
    [
        (128, 32, {}, False),
        (128, 128, {}, True),
        (32, 128, {"use_tma_aligned_col_major_sf": True}, False),
        (32, 32, PACKED_COL, True),
        (128, 128, {"round_sf": True, "use_packed_ue8m0": True}, False),
    ],
)
def test_per_channel_of_quantised_input(n, width, form, packed):
    options = {"round_sf": packed, "use_packed_ue8m0": packed}
    for tokens, hidden in ((300, 320), (1, 1088)):
        data = ref.cast(quant_inputs(tokens, hidden), "e4m3", (1, width), **form)
        codes, sf = per_channel_cast(data, "e4m3", n, num_per_channels=width, **options)
        wanted, wanted_sf = ref.cast(data, "e4m3", (n, 1), x_block_size=(1, width), **options)
        assert_equal(codes, wanted)
        assert_equal(sf, wanted_sf)


def test_four_bytes_in_a_word():
    x = quant_inputs(300, 1152)
    set_packed_ue8m0_pack_factor(4)
    try:
        blocks = per_block_cast(x, "e4m3", (128, 128), **PACKED_COL)
        channels = per_channel_cast(x, "e4m3", 32, round_sf=True, use_packed_ue8m0=True)
    finally:
        set_packed_ue8m0_pack_factor(2)
    wanted, wanted_sf = ref.cast(x, "e4m3", (128, 128), **PACKED_COL, pack=4)
    assert_equal(blocks[0], wanted)
    assert_equal(blocks[1], wanted_sf, check_stride=False)
    options = {"round_sf": True, "use_packed_ue8m0": True, "pack": 4}
    wanted, wanted_sf = ref.cast(x, "e4m3", (32, 1), **options)
    assert_equal(channels[0], wanted)
    assert_equal(channels[1], wanted_sf)


@pytest.mark.parametrize("block", [(128, 128), (32, 1)])
def test_infinity_and_nan_stay_in_their_block(block):
    x = quant_inputs(300, 320)
    x[3, 5], x[40, 200], x[290, 310] = float("inf"), float("nan"), float("-inf")
    cast = per_channel_cast if block[1] == 1 else per_block_cast
    codes, sf = cast(x, "e4m3", block[0] if block[1] == 1 else block)
    wanted, wanted_sf = ref.cast(x, "e4m3", block)
    assert torch.equal(codes.float().nan_to_num(1e9), wanted.float().nan_to_num(1e9))
    assert torch.equal(sf.nan_to_num(1e9, 2e9), wanted_sf.nan_to_num(1e9, 2e9))


def test_no_tokens():
    codes, sf = per_block_cast(quant_inputs(0, 128), "e4m3", (32, 32), **PACKED_COL)
    assert codes.shape == (0, 128)
    assert sf.shape == (0, 2)
    codes, sf = per_channel_cast(quant_inputs(0, 128), "e4m3", 32)
    assert sf.shape == (0, 128)


@pytest.mark.parametrize("options", [PACKED, PACKED_COL])
def test_tiles_share_a_word_of_four_bytes(options):
    set_packed_ue8m0_pack_factor(4)
    try:
        for hidden in (1152, 704, 320):  # three, two and one byte of the last word are spare
            x = quant_inputs(130, hidden, torch.float32)
            with emulator(checks=CHECKS):
                codes, sf = per_block_cast(x, "e4m3", (128, 128), **options)
            wanted, wanted_sf = ref.cast(x, "e4m3", (128, 128), **options, pack=4)
            assert_equal(codes, wanted)
            assert_equal(sf, wanted_sf, check_stride=False)
    finally:
        set_packed_ue8m0_pack_factor(2)


def test_all_checkers():
    x = quant_inputs(70, 1152)
    with emulator(checks=CHECKS):
        assert_equal(per_block_cast(x, "e4m3", (32, 32))[0], ref.cast(x, "e4m3", (32, 32))[0])
        assert_equal(per_channel_cast(x, "e4m3", 32)[0], ref.cast(x, "e4m3", (32, 1))[0])


def test_bad_arguments():
    x = torch.zeros(32, 64)
    with pytest.raises(ValueError, match=r"block_size got \(64, 64\)"):
        per_block_cast(x, "e4m3", (64, 64))
    with pytest.raises(ValueError, match=r"x\.contiguous\(\)"):
        per_block_cast(torch.zeros(32, 128)[:, :64], "e4m3", (32, 32))
    with pytest.raises(ValueError, match="num_per_tokens got 64"):
        per_channel_cast(x, "e4m3", 64)
    with pytest.raises(ValueError, match="allows 'e4m3'"):
        per_channel_cast(x, "e2m1", 32)
    with pytest.raises(ValueError, match=r"sf is \(1, 1\)"):
        per_block_cast_with_precomputed_sf(x, "e4m3", (32, 32), torch.ones(1, 1))
    with pytest.raises(ValueError, match="must be row-major"):
        per_block_cast_with_sf_only(
            x, "e4m3", (32, 32), use_tma_aligned_col_major_sf=True, out_sf=torch.ones(1, 2)
        )
