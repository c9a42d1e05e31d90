"""SwiGLU backward against float64."""

import pytest
import torch

import tile_kernels
from tile_kernels import emulator
from tile_kernels.quant import swiglu_backward
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import swiglu as model

HIDDEN = 704  # more than a step of columns, with a tail


@pytest.fixture
def experts():
    """psum of four experts in 150 rows; alignment 32."""
    tile_kernels.set_token_alignment(32)
    yield torch.tensor([10, 37, 64, 143], dtype=torch.int32)
    tile_kernels.set_token_alignment(128)


def check(x, grad, psum, weights):
    got = swiglu_backward(x, grad, "fp32", psum, weights, 2.5, 1.5, do_recompute=True)
    wanted = model.swiglu_backward(x, grad, psum, weights, 2.5, 1.5)
    assert len(got) == 3
    for result, reference in zip(got, wanted, strict=True):
        scale = float(reference.abs().max())
        torch.testing.assert_close(result.double(), reference, rtol=2e-6, atol=2e-6 * scale)
    clamped = (x[:, :HIDDEN] > 1.5) | ~model.get_mapping_from_psum(psum, len(x))[:, None]
    assert not got[0][:, :HIDDEN][clamped].any()


def test_gradients_and_checkers(experts):
    x = quant_inputs(150, 2 * HIDDEN, torch.float32, spread=1.0)
    grad = quant_inputs(150, HIDDEN, torch.float32, spread=1.0, seed=1)
    weights = torch.rand(150, generator=torch.Generator().manual_seed(2))
    check(x, grad, experts, weights)
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        check(x, grad, experts, weights)


def test_plain_bf16_in_three_dimensions():
    x = quant_inputs(22, 128, spread=1.0)
    grad = quant_inputs(22, 64, spread=1.0, seed=1)
    (got,) = swiglu_backward(x.view(2, 11, 128), grad.view(2, 11, 64), "bf16")
    wanted = model.swiglu_backward(x, grad)[0].view(2, 11, 128)
    torch.testing.assert_close(got.double(), wanted, rtol=2**-8, atol=1e-6)
    (nothing,) = swiglu_backward(x[:0], grad[:0], "bf16")
    assert nothing.shape == (0, 128)


def test_bad_arguments():
    x, grad = torch.zeros(4, 128), torch.zeros(4, 64)
    with pytest.raises(TypeError, match="wanted that of 'bf16'"):
        swiglu_backward(x, grad, "bf16")
    with pytest.raises(ValueError, match=r"wanted \(4, 64\)"):
        swiglu_backward(x, torch.zeros(4, 128), "fp32")
    with pytest.raises(ValueError, match="hidden is 32"):
        swiglu_backward(torch.zeros(4, 64), torch.zeros(4, 32), "fp32")
    with pytest.raises(ValueError, match="clamp_value must be positive"):
        swiglu_backward(x, grad, "fp32", clamp_value=-1.0)
