"""Per-channel casts that gather, activate or transpose, bit for bit."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import (
    per_channel_cast_and_transpose,
    per_channel_cast_fused,
    swiglu_forward,
    swiglu_forward_and_per_channel_cast_and_transpose,
)
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import per_channel_cast_fused as reference
from tile_kernels.torch import quant_cast as ref
from tile_kernels.utils import str_to_dtype

ALL = ("memcheck", "racecheck", "initcheck", "synccheck")


def test_gathered_rows():
    data = ref.cast(quant_inputs(50, 320), "e4m3", (1, 32))
    for rows in (150, 1, 0):
        positions = torch.randint(-2, 50, (rows,), dtype=torch.int32)
        options = ("e4m3", 128, True, 32, positions)
        with emulator(checks=ALL):
            codes, sf = per_channel_cast_fused(data, *options)
        wanted, wanted_sf = reference(data, *options)
        assert_equal(sf, wanted_sf)
        # A gathered zero is +0 times the sign of nothing; -0 and +0 are the same number.
        assert torch.equal(codes.float(), wanted.float())


def test_gathered_bf16_and_all_rows_in_order():
    x = quant_inputs(40, 64)
    positions = torch.tensor([39, -1, 0, 0, 7], dtype=torch.int32)
    codes, sf = per_channel_cast_fused(x, "e4m3", 32, pos_to_token=positions)
    wanted, wanted_sf = reference(x, "e4m3", 32, pos_to_token=positions)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)
    assert_equal(per_channel_cast_fused(x, "e4m3", 32)[0], reference(x, "e4m3", 32)[0])


def test_transposed():
    for tokens, hidden in ((97, 320), (1, 64), (0, 64)):
        wide = quant_inputs(tokens, hidden + 64)
        x = wide[:, :hidden]
        with emulator(checks=ALL):
            codes, sf = per_channel_cast_and_transpose(x, "e4m3", 32)
        wanted, wanted_sf = ref.cast(x, "e4m3", (32, 1))
        assert_equal(codes, wanted.T.contiguous(), check_stride=tokens > 1)
        assert_equal(sf, wanted_sf)


def test_transposed_fp32():
    x = quant_inputs(200, 192, torch.float32)
    codes, sf = per_channel_cast_and_transpose(x, "e4m3", 128)
    wanted, wanted_sf = ref.cast(x, "e4m3", (128, 1))
    assert_equal(codes, wanted.T.contiguous())
    assert_equal(sf, wanted_sf)


@pytest.mark.parametrize(
    ("n", "turned", "fmt"), [(32, True, "bf16"), (128, False, "bf16"), (128, True, "fp32")]
)
def test_swiglu(n, turned, fmt):
    x = quant_inputs(150, 640, str_to_dtype(fmt), spread=1.0)
    activation = swiglu_forward(x, fmt, clamp_value=1.5)
    with emulator(checks=ALL):
        codes, sf = swiglu_forward_and_per_channel_cast_and_transpose(
            x, "e4m3", n, True, not turned, 1.5
        )
    wanted, wanted_sf = ref.cast(activation, "e4m3", (n, 1), round_sf=True)
    assert_equal(codes, wanted.T.contiguous() if turned else wanted)
    assert_equal(sf, wanted_sf)


def test_bad_arguments():
    x, positions = torch.zeros(32, 64), torch.zeros(4, dtype=torch.int32)
    with pytest.raises(ValueError, match="num_per_tokens got 64"):
        per_channel_cast_and_transpose(x, "e4m3", 64)
    with pytest.raises(ValueError, match="allowed: 'e4m3'"):
        per_channel_cast_fused(x, "e2m1", 32, pos_to_token=positions)
    with pytest.raises(TypeError, match="pos_to_token has dtype"):
        per_channel_cast_fused(x, "e4m3", 32, pos_to_token=positions.long())
    packed = ref.cast(x, "e4m3", (1, 32), round_sf=True, use_packed_ue8m0=True)
    with pytest.raises(ValueError, match="row-major float32 scales"):
        per_channel_cast_fused(packed, "e4m3", 32, False, 32, positions)
    with pytest.raises(ValueError, match="multiples of 128"):
        swiglu_forward_and_per_channel_cast_and_transpose(x, "e4m3", 32)
