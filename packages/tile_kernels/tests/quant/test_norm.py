"""RMSNorm forward against float64; its cast bit for bit against a cast of its result."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import norm_forward, norm_forward_and_per_token_cast
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref
from tile_kernels.torch.norm import norm_forward_ref

EPS = 1e-6


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


@pytest.mark.parametrize("hidden", [256, 1024, 2304])
def test_bf16_rows_on_vector_registers(hidden):
    x = quant_inputs(37, hidden + 64)[:, :hidden]
    for weight in (None, quant_inputs(1, hidden, seed=2, spread=0)[0]):
        check(x, weight, None)


def test_fp32_without_options_in_three_dimensions():
    x = quant_inputs(22, 1056, torch.float32).view(2, 11, 1056)
    out, rstd, norm_input = norm_forward(x, None, EPS)
    wanted, wanted_rstd, _ = norm_forward_ref(x, None, EPS)
    assert norm_input is x
    assert rstd.shape == (2, 11)
    torch.testing.assert_close(rstd.double(), wanted_rstd, rtol=2e-6, atol=0)
    torch.testing.assert_close(out.double(), wanted, rtol=2e-6, atol=1e-30)


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
    with pytest.raises(ValueError, match="mega_moe_sf is not there yet"):
        norm_forward_and_per_token_cast(x, None, EPS, "e4m3", 32, mega_moe_block_m=64)
