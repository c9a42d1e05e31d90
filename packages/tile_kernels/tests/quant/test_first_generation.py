"""Calls with the arguments of the first generation, where names are shared."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels._gather import gathered
from tile_kernels.quant import (
    per_token_cast_with_precomputed_sf,
    per_token_cast_with_sf_only,
    swiglu_forward,
    swiglu_forward_and_per_token_cast,
)
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref


def test_gathered():
    values = torch.randn(7, 3)
    index = torch.randint(-3, 21, (3000,), dtype=torch.int32)
    wanted = torch.where(index >= 0, values.flatten()[index.clamp(min=0).long()], 0.0)
    assert_equal(gathered(values, index), wanted)
    assert gathered(values, index[:0]).shape == (0,)
    with pytest.raises(TypeError, match="index has dtype"):
        gathered(values, index.long())


def test_swiglu_with_mappings_and_a_count_of_three():
    rows, hidden = 100, 192
    x = quant_inputs(rows, 2 * hidden, spread=1.0)
    weights = torch.rand(60, 2)
    slots = torch.randint(-1, 120, (rows,), dtype=torch.int32)
    experts = torch.where(torch.arange(rows) % 5 == 0, -1, 3).int()
    count = torch.ones(3, dtype=torch.int64)
    before = x.clone()
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        codes, sf = swiglu_forward_and_per_token_cast(
            x, "e4m3", hidden, slots, weights, experts, swiglu_clamp_value=1.5,
            clamped_count=count, sf_clamp_min=2.0,
        )  # fmt: skip
    used = (experts >= 0) & (slots >= 0)
    expanded = torch.where(slots >= 0, weights.flatten()[slots.clamp(min=0).long()], 0.0)
    values = swiglu_forward(x, "fp32", None, expanded, None, 1.5)
    amax = values.abs().amax(1, keepdim=True).clamp(min=2.0)
    assert_equal(sf[used], (amax / 448)[used])
    wanted = (values * (torch.full_like(amax, 448.0) / amax)).to(torch.float8_e4m3fn)
    assert_equal(codes[used], wanted[used])
    left, right = x[experts >= 0].float().chunk(2, dim=1)
    sums = [1 + int(part.sum()) for part in (left > 1.5, right > 1.5, right < -1.5)]
    assert count.tolist() == sums
    assert_equal(x, before)


def test_block_size_behind_the_group_size():
    x = ref.cast(quant_inputs(40, 128), "e4m3", (1, 32))
    wanted, wanted_sf = ref.cast(x, "e4m3", (1, 128), x_block_size=(1, 32))
    sf = per_token_cast_with_sf_only(x, "e4m3", 128, (1, 32), False)
    assert_equal(sf, wanted_sf)
    got = per_token_cast_with_precomputed_sf(x, "e4m3", 128, sf, (1, 32))
    assert_equal(got, ref.cast(x, "e4m3", (1, 128), sf, (1, 32))[0])
    assert wanted.shape == got.shape


def test_bad_arguments():
    x = torch.zeros(4, 128)
    index = torch.zeros(4, dtype=torch.int32)
    with pytest.raises(ValueError, match="needs pos_to_token_topk"):
        swiglu_forward_and_per_token_cast(x, "e4m3", 32, pos_to_token_topk=index)
    with pytest.raises(ValueError, match="cannot be column-major"):
        swiglu_forward_and_per_token_cast(
            x, "e4m3", 64, swiglu_clamp_value=1.0, use_tma_aligned_col_major_sf=True
        )
    with pytest.raises(ValueError, match="clamped_count has shape"):
        swiglu_forward_and_per_token_cast(
            x, "e4m3", 32, swiglu_clamp_value=1.0, clamped_count=torch.zeros(4, dtype=torch.int64)
        )
