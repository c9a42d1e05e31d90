"""SwiGLU forward: values against float64, codes bit for bit against a cast of those values."""

import pytest
import torch

import tile_kernels
from tile_kernels import emulator
from tile_kernels.quant import swiglu_forward, swiglu_forward_and_per_token_cast
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref
from tile_kernels.torch import swiglu as model

PACKED_COL = {
    "round_sf": True, "use_packed_ue8m0": True, "use_tma_aligned_col_major_sf": True,
}  # fmt: skip

COL = {"use_tma_aligned_col_major_sf": True}


@pytest.fixture
def experts():
    """psum of four experts, one empty, in 150 rows; alignment 32."""
    tile_kernels.set_token_alignment(32)
    yield torch.tensor([10, 37, 64, 143], dtype=torch.int32)
    tile_kernels.set_token_alignment(128)


def case(tokens=150, hidden=192, dtype=torch.bfloat16):
    x = quant_inputs(tokens, 2 * hidden, dtype, spread=1.0)
    weights = torch.rand(tokens, generator=torch.Generator().manual_seed(1)) + 0.1
    return x, weights


def test_values(experts):
    x, weights = case()
    count, wanted_count = torch.ones(4, dtype=torch.int64), torch.ones(4, dtype=torch.int64)
    got = swiglu_forward(x, "fp32", experts, weights, 2.5, 1.5, count)
    wanted = model.swiglu_forward(x, experts, weights, 2.5, 1.5, wanted_count)
    mask = model.get_mapping_from_psum(experts, 150)
    torch.testing.assert_close(got[mask].double(), wanted[mask], rtol=5e-7, atol=1e-30)
    assert torch.equal(count, wanted_count)


def test_padding_rows_are_not_written(experts):
    x, weights = case()
    x[~model.get_mapping_from_psum(experts, 150)] = float("nan")
    got = swiglu_forward(x, "fp32", experts, weights, 2.5, 1.5, torch.zeros(4, dtype=torch.int64))
    assert not got[model.get_mapping_from_psum(experts, 150)].isnan().any()


@pytest.mark.parametrize(("n", "options"), [(32, {}), (128, PACKED_COL)])
def test_codes(experts, n, options):
    x, weights = case(dtype=torch.float32)
    count = torch.zeros(4, dtype=torch.int64)
    values = swiglu_forward(x, "fp32", experts, weights, 2.5, 1.5, count)
    codes, sf = swiglu_forward_and_per_token_cast(
        x, "e4m3", n, experts, weights, 2.5, clamp_value=1.5, clamped_count=count, **options
    )
    wanted, wanted_sf = ref.cast(values, "e4m3", (1, n), **options)
    mask = model.get_mapping_from_psum(experts, 150)
    assert sf.stride() == wanted_sf.stride()
    assert_equal(codes[mask], wanted[mask])
    assert_equal(sf[mask], wanted_sf[mask], check_stride=False)


@pytest.mark.parametrize(
    ("n", "options", "limit"),
    [(32, {}, 1.5), (32, COL, 1.3), (32, PACKED_COL, 1.5), (128, {}, 1.3), (128, PACKED_COL, 1.5)],
    ids=["32", "32-col", "32-packed", "128", "128-packed"],
)
def test_codes_of_bf16(experts, n, options, limit):
    """1.5 is a number of bf16, 1.3 is not."""
    x, weights = case(hidden=704)
    values = swiglu_forward(x, "fp32", experts, weights, clamp_value=limit)
    codes, sf = swiglu_forward_and_per_token_cast(
        x, "e4m3", n, experts, weights, clamp_value=limit, **options
    )
    wanted, wanted_sf = ref.cast(values, "e4m3", (1, n), **options)
    mask = model.get_mapping_from_psum(experts, 150)
    assert_equal(codes[mask], wanted[mask])
    assert_equal(sf[mask], wanted_sf[mask], check_stride=False)


@pytest.mark.parametrize("n", [32, 128])
def test_all_checkers_of_casts(n):
    x, weights = case(hidden=704)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        codes, sf = swiglu_forward_and_per_token_cast(
            x, "e4m3", n, None, weights, clamp_value=1.5, **PACKED_COL
        )
    values = swiglu_forward(x, "fp32", None, weights, clamp_value=1.5)
    wanted, wanted_sf = ref.cast(values, "e4m3", (1, n), **PACKED_COL)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)


@pytest.mark.parametrize(("n", "options"), [(32, PACKED_COL), (128, {})])
def test_codes_of_rows_in_several_tiles(n, options):
    x, _ = case(9, 4672)  # two tiles, the second with a tail of half a group
    values = swiglu_forward(x, "fp32")
    torch.testing.assert_close(values.double(), model.swiglu_forward(x), rtol=5e-7, atol=1e-30)
    codes, sf = swiglu_forward_and_per_token_cast(x, "e4m3", n, **options)
    wanted, wanted_sf = ref.cast(values, "e4m3", (1, n), **options)
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)


def test_without_options():
    for tokens in (0, 1, 70):
        x, _ = case(tokens, 64)
        got = swiglu_forward(x, "bf16")
        wanted = model.swiglu_forward(x)
        torch.testing.assert_close(got.double(), wanted, rtol=2**-8, atol=1e-30)


def test_all_checkers(experts):
    x, weights = case()
    count = torch.zeros(4, dtype=torch.int64)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        swiglu_forward(x, "fp32", experts, weights, 2.5, 1.5, count)
    assert count[3] == 192 * int(model.get_mapping_from_psum(experts, 150).sum())


def test_bad_arguments():
    x, weights = case(8, 64)
    with pytest.raises(ValueError, match="fmt got 'e4m3'"):
        swiglu_forward(x, "e4m3")
    with pytest.raises(ValueError, match="num_per_channels got 64"):
        swiglu_forward_and_per_token_cast(x, "e4m3", 64)
    with pytest.raises(ValueError, match="needs topk_weights"):
        swiglu_forward(x, "bf16", routed_scaling_factor=2.0)
    with pytest.raises(ValueError, match="needs clamp_value"):
        swiglu_forward(x, "bf16", clamped_count=torch.zeros(4, dtype=torch.int64))
    with pytest.raises(TypeError, match="int32"):
        swiglu_forward(x, "bf16", torch.tensor([8]))
    with pytest.raises(ValueError, match="topk_weights is"):
        swiglu_forward(x, "bf16", topk_weights=weights[:4])
