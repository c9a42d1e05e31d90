"""Casts back to numbers, and round trips in place, against the reference."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import cast_back, per_token_cast_and_cast_back, per_token_cast_back
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref

PACKED = {"round_sf": True, "use_packed_ue8m0": True}
PACKED_COL = {**PACKED, "use_tma_aligned_col_major_sf": True}


@pytest.mark.parametrize(
    ("fmt", "block", "back", "options"),
    [
        ("e4m3", (1, 32), "bf16", {}),
        ("e2m1", (32, 32), "fp32", PACKED_COL),
        ("e4m3", (32, 1), "bf16", {**PACKED, "pack": 4}),
        ("e2m1", (128, 128), "bf16", {"use_tma_aligned_col_major_sf": True}),
        ("e4m3", (1, 64), "fp32", {"use_tma_aligned_col_major_sf": True}),
        ("e2m1", (1, 128), "bf16", PACKED),
        ("e4m3", (128, 128), "bf16", {**PACKED_COL, "pack": 4}),
        ("e4m3", (1, 16), "bf16", {}),
    ],
)
def test_cast_back(fmt, block, back, options):
    for tokens, hidden in ((1, 64), (150, 1344)):
        quantised = ref.cast(quant_inputs(tokens, hidden), fmt, block, **options)
        assert_equal(cast_back(quantised, back, block), ref.cast_back(quantised, back, block))


def test_one_scale_per_row_and_strided_data():
    data, sf = ref.cast(quant_inputs(9, 576), "e4m3", (1, 576))
    wide = torch.zeros(9, 640, dtype=data.dtype)
    wide[:, :576] = data
    result = per_token_cast_back((wide[:, :576], sf), "bf16", 576)
    assert_equal(result, ref.cast_back((data, sf), "bf16", (1, 576)))


@pytest.mark.parametrize("options", [{}, {**PACKED_COL, "pack": 4}, PACKED])
def test_one_scale_per_row_of_e2m1(options):
    quantised = ref.cast(quant_inputs(600, 1088), "e2m1", (1, 1088), **options)
    result = per_token_cast_back(quantised, "fp32", 1088)
    assert_equal(result, ref.cast_back(quantised, "fp32", (1, 1088)))


def test_every_code():
    codes = torch.arange(256, dtype=torch.uint8).repeat(2, 1)
    sf = torch.tensor([[1.0] * 8, [0.5] * 8])
    result = per_token_cast_back((codes.view(torch.float8_e4m3fn), sf), "bf16", 32)
    wanted = codes.view(torch.float8_e4m3fn).float() * torch.tensor([[1.0], [0.5]])
    torch.testing.assert_close(result.float(), wanted, rtol=0, atol=0, equal_nan=True)


def test_no_tokens():
    quantised = ref.cast(quant_inputs(0, 128), "e4m3", (1, 32))
    assert cast_back(quantised, "bf16", (1, 32)).shape == (0, 128)


@pytest.mark.parametrize(
    ("dtype", "fmt", "n", "options"),
    [
        (torch.bfloat16, "e4m3", 32, {}),
        (torch.bfloat16, "e2m1", 32, {"round_sf": True}),
        (torch.bfloat16, "e2m1", 64, {}),
        (torch.float32, "e4m3", 64, {}),
        (torch.float32, "e2m1", 32, {}),
        (torch.float32, "e2m1", 16, {"use_e4m3_sf": True}),
        (torch.bfloat16, "e4m3", 16, {}),
        (torch.bfloat16, "e4m3", 64, {"use_e4m3_sf": True}),
    ],
)
def test_round_trip(dtype, fmt, n, options):
    wide = quant_inputs(37, 768, dtype)
    before = wide.clone()
    per_token_cast_and_cast_back(wide[:, 64:640], fmt, n, **options)
    quantised = ref.cast(before[:, 64:640], fmt, (1, n), **options)
    back = "bf16" if dtype == torch.bfloat16 else "fp32"
    assert_equal(wide[:, 64:640], ref.cast_back(quantised, back, (1, n)), check_stride=False)
    assert_equal(wide[:, :64], before[:, :64])
    assert_equal(wide[:, 640:], before[:, 640:])


@pytest.mark.parametrize(
    ("dtype", "fmt"), [(torch.bfloat16, "e4m3"), (torch.float32, "e2m1")], ids=["bf16", "fp32"]
)
def test_round_trip_of_many_tiles_with_infinity_and_nan(dtype, fmt):
    x = quant_inputs(1100, 1408, dtype)
    x[2, 5], x[30, 400], x[1099, 1407] = float("inf"), float("-inf"), float("nan")
    quantised = ref.cast(x, fmt, (1, 128))
    wanted = ref.cast_back(quantised, "bf16" if dtype == torch.bfloat16 else "fp32", (1, 128))
    per_token_cast_and_cast_back(x, fmt, 128)
    assert torch.equal(x.isnan(), wanted.isnan())
    assert_equal(x.nan_to_num(1e9), wanted.nan_to_num(1e9))


def test_all_checkers():
    x = quant_inputs(37, 320)
    quantised = ref.cast(x, "e4m3", (1, 32))
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        assert_equal(
            cast_back(quantised, "bf16", (1, 32)), ref.cast_back(quantised, "bf16", (1, 32))
        )
        per_token_cast_and_cast_back(x, "e4m3", 32)
    assert_equal(x, ref.cast_back(quantised, "bf16", (1, 32)))


def test_bad_arguments():
    quantised = ref.cast(quant_inputs(8, 128), "e4m3", (1, 32))
    with pytest.raises(ValueError, match="fmt got 'fp16'"):
        cast_back(quantised, "fp16", (1, 32))
    with pytest.raises(ValueError, match=r"wanted \(8, 2\)"):
        cast_back(quantised, "bf16", (1, 64))
    with pytest.raises(ValueError, match="x_special_fmt"):
        cast_back(quantised, "bf16", (1, 32), "e3m4")
    with pytest.raises(ValueError, match="x_block_size"):
        cast_back(quantised, "bf16", None)
    with pytest.raises(ValueError, match="multiples of 128"):
        per_token_cast_and_cast_back(torch.zeros(4, 192), "e4m3", 128)
