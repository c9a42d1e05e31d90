"""RMSNorm forward against float64; its cast bit for bit against a cast of its result."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels._shared.emulator.timing import timed_launches
from tile_kernels.quant import norm_forward, norm_forward_and_per_token_cast
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref
from tile_kernels.torch.norm import norm_forward_ref

EPS = 1e-6
PACKED = {"round_sf": True, "use_packed_ue8m0": True}
PACKED_COL = {**PACKED, "use_tma_aligned_col_major_sf": True}


def check(x, weight, residual, **options):
    out, rstd, norm_input = norm_forward(x, weight, EPS, residual, 0.5, **options)
    wanted, wanted_rstd, wanted_input = norm_forward_ref(x, weight, EPS, residual, 0.5)
    rtol = 2**-8 if x.dtype == torch.bfloat16 else 2e-6
    torch.testing.assert_close(rstd.double(), wanted_rstd, rtol=2e-6, atol=0)
    torch.testing.assert_close(out.double(), wanted, rtol=rtol, atol=1e-30)
    assert_equal(norm_input, wanted_input, check_stride=False)
    return out, norm_input


def test_bf16_with_residual_and_checkers():
    for tokens, hidden in ((37, 1024), (0, 576), (1, 96)):
        wide = quant_inputs(tokens, hidden + 64)
        x, residual = wide[:, :hidden], quant_inputs(tokens, hidden, seed=1)
        weight = quant_inputs(1, hidden, seed=2, spread=0)[0]
        check(x, weight, residual)
        out, kept = torch.empty_like(residual), torch.empty_like(residual)
        with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
            result, norm_input = check(x, weight, residual, out=out, residual_out=kept)
        assert result is out
        assert norm_input is kept


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("hidden", [32, 1024, 2304, 2528])
def test_rows_on_vector_registers(hidden, dtype):
    # More rows than all cores hold at once, so that buffers are filled anew
    tokens = 600 if hidden == 2304 else 37
    x = quant_inputs(tokens, hidden + 64, dtype)[:, :hidden]
    weight = quant_inputs(1, hidden, dtype, seed=2, spread=0)[0]
    residual = quant_inputs(tokens, hidden, dtype, seed=1)
    check(x, None, None)
    check(x, weight, residual)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("hidden", [8192, 8224])
def test_longest_rows_on_registers_and_longer_ones_by_threads(hidden, dtype):
    x, residual = quant_inputs(3, hidden, dtype), quant_inputs(3, hidden, dtype, seed=1)
    weight = quant_inputs(1, hidden, dtype, seed=2, spread=0)[0]
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        check(x, weight, residual)


def test_fp32_without_options_in_three_dimensions():
    x = quant_inputs(22, 1056, torch.float32).view(2, 11, 1056)
    out, rstd, norm_input = norm_forward(x, None, EPS)
    wanted, wanted_rstd, _ = norm_forward_ref(x, None, EPS)
    assert norm_input is x
    assert rstd.shape == (2, 11)
    torch.testing.assert_close(rstd.double(), wanted_rstd, rtol=2e-6, atol=0)
    torch.testing.assert_close(out.double(), wanted, rtol=2e-6, atol=1e-30)


@pytest.mark.parametrize(
    ("dtype", "hidden", "group", "options", "with_out", "residual"),
    [
        (torch.bfloat16, 96, 128, {}, False, False),
        (torch.bfloat16, 416, 128, {"use_tma_aligned_col_major_sf": True}, False, False),
        (torch.bfloat16, 2080, 32, PACKED, False, True),
        (torch.bfloat16, 8192, 64, PACKED_COL, True, True),
        (torch.float32, 160, 128, {}, True, False),
        (torch.float32, 8192, 128, PACKED, True, True),
    ],
)
def test_one_kernel_makes_the_same_as_two(dtype, hidden, group, options, with_out, residual):
    # More rows than all cores hold at once, so that buffers are filled anew
    tokens = 1100 if hidden == 416 else 150 if hidden == 2080 else 37
    x = quant_inputs(tokens, hidden + 64, dtype)[:, :hidden]
    weight = quant_inputs(1, hidden, dtype, seed=2, spread=0)[0] if group == 32 else None
    other = quant_inputs(tokens, hidden, dtype, seed=1) if residual else None
    wanted_out, wanted_rstd, wanted_input = norm_forward(x, weight, EPS, other, 0.5)
    wanted, wanted_sf = ref.cast(wanted_out, "e4m3", (1, group), **options)
    with timed_launches() as launches, emulator(timing="fast"):
        (codes, sf), out, rstd, norm_input = norm_forward_and_per_token_cast(
            x, weight, EPS, "e4m3", group, other, 0.5, with_out_bf16=with_out, **options
        )
    assert [launch.short_name for launch in launches] == ["norm_cast_kernel"]
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)
    assert_equal(rstd, wanted_rstd)
    assert_equal(norm_input, wanted_input)
    if with_out:
        assert_equal(out, wanted_out)
    else:
        assert out is None


def test_groups_of_16_and_rows_over_8192_take_two_kernels():
    for hidden, group in ((96, 16), (8224, 64)):
        x = quant_inputs(5, hidden)
        (codes, sf), out, _, _ = norm_forward_and_per_token_cast(
            x, None, EPS, "e4m3", group, with_out_bf16=True
        )
        wanted, wanted_sf = ref.cast(out, "e4m3", (1, group))
        assert_equal(codes, wanted)
        assert_equal(sf, wanted_sf)


def test_cast_of_the_result():
    x, residual = quant_inputs(37, 576), quant_inputs(37, 576, seed=1)
    weight = quant_inputs(1, 576, seed=2, spread=0)[0]
    (codes, sf), out, _, _ = norm_forward_and_per_token_cast(
        x, weight, EPS, "e4m3", 32, residual, with_out_bf16=True
    )
    assert out is not None
    wanted, wanted_sf = ref.cast(out, "e4m3", (1, 32))
    assert_equal(codes, wanted)
    assert_equal(sf, wanted_sf)


@pytest.mark.parametrize("options", [{}, PACKED_COL], ids=["row", "packed-col"])
@pytest.mark.parametrize("hidden", [96, 576])
def test_three_dimensions(hidden, options):
    x = quant_inputs(74, hidden).view(2, 37, hidden)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        (codes, sf), out, rstd, _ = norm_forward_and_per_token_cast(
            x, None, EPS, "e4m3", 32, with_out_bf16=True, **options
        )
    assert rstd.shape == (2, 37)
    assert out is not None
    for batch in range(2):
        wanted, wanted_sf = ref.cast(out[batch], "e4m3", (1, 32), **options)
        assert_equal(codes[batch], wanted)
        assert_equal(sf[batch], wanted_sf)


def mega_row(token, block_m):
    block, i = divmod(token, block_m)
    return block * -(-block_m // 128) * 128 + i // 128 * 128 + i % 32 * 4 + i % 128 // 32


@pytest.mark.parametrize("options", [{"round_sf": True}, PACKED_COL], ids=["row", "packed-col"])
def test_exponents_for_mega_moe(options):
    tokens, hidden, block_m = 300, 256, 192
    x = quant_inputs(tokens, hidden)
    words = torch.full((2, 600), 77, dtype=torch.int32)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        (_, sf), _, _, _ = norm_forward_and_per_token_cast(
            x, None, EPS, "e4m3", 32, mega_moe_sf=words.T, mega_moe_block_m=block_m, **options
        )
    exponent = ref.decode_sf(sf, tokens, hidden, (1, 32)).view(torch.int32) >> 23
    wanted = torch.full((2, 600), 77, dtype=torch.int64)
    rows = torch.tensor([mega_row(token, block_m) for token in range(tokens)])
    shifts = torch.tensor([0, 8, 16, 24])
    wanted[:, rows] = (exponent.view(tokens, 2, 4).long() << shifts).sum(-1).T
    assert torch.equal(words.long() & 0xFFFFFFFF, wanted)


def test_bad_arguments():
    x = torch.zeros(4, 64)
    with pytest.raises(ValueError, match="eps must be"):
        norm_forward(x, None, 0.0)
    with pytest.raises(ValueError, match="hidden is 48"):
        norm_forward(torch.zeros(4, 48), None, EPS)
    with pytest.raises(ValueError, match="a row of"):
        norm_forward(torch.zeros(1, 65536), None, EPS)
    with pytest.raises(ValueError, match="residual_out needs residual"):
        norm_forward(x, None, EPS, residual_out=x)
    with pytest.raises(ValueError, match="weight is"):
        norm_forward(x, torch.ones(32), EPS)
    with pytest.raises(ValueError, match="needs mega_moe_sf"):
        norm_forward_and_per_token_cast(x, None, EPS, "e4m3", 32, mega_moe_block_m=64)
    words = torch.zeros(2, 128, dtype=torch.int32).T
    for options, text in (
        ({}, "needs round_sf=True"),
        ({"round_sf": True, "mega_moe_sf": words[:64]}, r"at least \(128, 2\)"),
        ({"round_sf": True, "mega_moe_sf": words.long()}, "int32"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            norm_forward_and_per_token_cast(
                torch.zeros(4, 256), None, EPS, "e4m3", 32,
                **{"mega_moe_sf": words, "mega_moe_block_m": 64, **options},
            )  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 0), (2, 4, 0), (0, 128), (0, 0)])
def test_nothing_to_normalise(shape):
    x, weight = torch.empty(shape), torch.empty(shape[-1])
    out, rstd, kept = norm_forward(x, weight, 1e-6)
    assert out.shape == shape
    assert kept is x
    assert rstd.shape == shape[:-1]
    assert rstd.isnan().all()
    out, rstd, kept = norm_forward(x, weight, 1e-6, x.clone())
    assert out.shape == kept.shape == shape
    assert rstd.isnan().all()
