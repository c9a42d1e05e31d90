"""RMSNorm backward against float64."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import norm_backward
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch.norm import norm_backward_ref, norm_forward_ref


def case(tokens, hidden, dtype):
    x = quant_inputs(tokens, hidden, dtype)
    weight = quant_inputs(1, hidden, dtype, seed=2, spread=0)[0]
    rstd = norm_forward_ref(x, weight, 1e-6)[1].float()
    return quant_inputs(tokens, hidden, dtype, seed=1), x, weight, rstd


@pytest.mark.parametrize("tokens", [1, 70])
def test_with_everything_and_checkers(tokens):
    grad, x, weight, rstd = case(tokens, 1056, torch.float32)
    extra = quant_inputs(tokens, 1056, torch.float32, seed=3)
    start = quant_inputs(1, 1056, torch.float32, seed=4)[0]
    total = start.clone()
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        x_grad, weight_grad = norm_backward(grad, x, weight, rstd, extra, 0.5, total)
    wanted, wanted_weight = norm_backward_ref(grad, x, weight, rstd, extra, 0.5)
    assert weight_grad is total
    scale = float(wanted.abs().max())
    torch.testing.assert_close(x_grad.double(), wanted, rtol=1e-5, atol=1e-6 * scale)
    wanted_weight = wanted_weight + start.double()
    scale = float(wanted_weight.abs().max())
    torch.testing.assert_close(weight_grad.double(), wanted_weight, rtol=1e-5, atol=1e-5 * scale)


def test_bf16_without_weight_and_without_tokens():
    grad, x, weight, rstd = case(9, 96, torch.bfloat16)
    x_grad, nothing = norm_backward(grad, x, None, rstd)
    assert nothing is None
    wanted = norm_backward_ref(grad, x, None, rstd)[0]
    torch.testing.assert_close(x_grad.double(), wanted, rtol=2**-8, atol=1e-4)
    x_grad, weight_grad = norm_backward(grad[:0], x[:0], weight, rstd[:0])
    assert x_grad.shape == (0, 96)
    assert not weight_grad.any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    ("tokens", "hidden", "has_residual"), [(1200, 2336, True), (70, 96, False), (130, 8192, True)]
)
def test_strided_rows_and_buffers_that_are_filled_anew(tokens, hidden, has_residual, dtype):
    wide = quant_inputs(tokens, 2 * hidden, dtype)
    grad, x = wide[:, :hidden], wide[:, hidden:]
    weight = quant_inputs(1, hidden, dtype, seed=2, spread=0)[0]
    rstd = norm_forward_ref(x, weight, 1e-6)[1].float()
    extra = quant_inputs(tokens, hidden, dtype, seed=3) if has_residual else None
    total = torch.zeros(hidden)
    norm_backward(grad, x, weight, rstd, extra, 0.5, total)
    x_grad, weight_grad = norm_backward(grad, x, weight, rstd, extra, 0.5)
    wanted, wanted_weight = norm_backward_ref(grad, x, weight, rstd, extra, 0.5)
    rtol = 2**-8 if dtype == torch.bfloat16 else 1e-5
    scale = float(wanted.abs().max())
    torch.testing.assert_close(x_grad.double(), wanted, rtol=rtol, atol=1e-6 * scale)
    scale = float(wanted_weight.abs().max())
    torch.testing.assert_close(total.double(), wanted_weight, rtol=1e-5, atol=1e-5 * scale)
    torch.testing.assert_close(weight_grad, total.to(dtype), rtol=0, atol=0)


@pytest.mark.parametrize(("dtype", "hidden"), [(torch.bfloat16, 17408), (torch.float32, 10240)])
def test_longest_rows(dtype, hidden):
    grad, x, weight, rstd = case(3, hidden, dtype)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        x_grad, weight_grad = norm_backward(grad, x, weight, rstd, x)
    wanted, wanted_weight = norm_backward_ref(grad, x, weight, rstd, x)
    rtol = 2**-8 if dtype == torch.bfloat16 else 1e-5
    for got, exact in ((x_grad, wanted), (weight_grad, wanted_weight)):
        atol = 1e-5 * float(exact.abs().max())
        torch.testing.assert_close(got.double(), exact, rtol=rtol, atol=atol)


def test_bad_arguments():
    grad, x, weight, rstd = case(4, 64, torch.float32)
    with pytest.raises(ValueError, match="rstd is"):
        norm_backward(grad, x, weight, rstd[:2])
    with pytest.raises(ValueError, match="weight_grad needs weight"):
        norm_backward(grad, x, None, rstd, weight_grad=torch.zeros(64))
    with pytest.raises(TypeError, match="weight_grad has dtype"):
        norm_backward(grad, x, weight, rstd, weight_grad=torch.zeros(64, dtype=torch.float64))
    with pytest.raises(ValueError, match="out_grad is"):
        norm_backward(grad[:2], x, weight, rstd)
