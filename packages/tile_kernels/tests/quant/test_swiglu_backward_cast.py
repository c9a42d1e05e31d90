"""SwiGLU backward of quantised activations: values against float64, codes bit for bit."""

import pytest
import torch

import tile_kernels
from tile_kernels import emulator
from tile_kernels.quant import swiglu_backward_and_per_token_cast
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import quant_cast as ref
from tile_kernels.torch import swiglu as model

PACKED_COL = {
    "round_sf": True, "use_packed_ue8m0": True, "use_tma_aligned_col_major_sf": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def all_checkers():
    """Every case under all checkers, so that they share their kernels."""
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        yield


def case(tokens=150, hidden=192, n=32):
    x = ref.cast(quant_inputs(tokens, 2 * hidden, spread=1.0), "e4m3", (1, n))
    grad = quant_inputs(tokens, hidden, spread=1.0, seed=1)
    return x, ref.cast_back(x, "fp32", (1, n)), grad


def close(got, wanted):
    scale = float(wanted.abs().max())
    torch.testing.assert_close(got.double(), wanted, rtol=2**-8, atol=2e-6 * scale)


def test_everything():
    tile_kernels.set_token_alignment(32)
    psum = torch.tensor([10, 37, 64, 143], dtype=torch.int32)
    weights = torch.rand(150)
    x, values, grad = case()
    x_grad, (codes, sf), weight_grad, act = swiglu_backward_and_per_token_cast(
        x, grad, "e4m3", 32, psum, weights, 2.5, clamp_value=1.5, do_recompute=True,
        **PACKED_COL,
    )  # fmt: skip
    wanted = model.swiglu_backward(values, grad, psum, weights, 2.5, 1.5)
    assert x_grad.dtype == act.dtype == torch.bfloat16
    close(x_grad, wanted[0])
    close(weight_grad, wanted[1])
    close(act, wanted[2])
    codes_ref, sf_ref = ref.cast(x_grad, "e4m3", (1, 32), **PACKED_COL)
    assert_equal(codes, codes_ref)
    assert_equal(sf, sf_ref)


@pytest.mark.parametrize(
    ("n", "hidden", "options"),
    [
        (128, 1280, {}),  # a second tile, which is not full
        (32, 1088, {"round_sf": True, "use_packed_ue8m0": True}),
        (128, 4352, {"round_sf": True, "use_packed_ue8m0": True}),  # wide tiles
        (128, 1088, {}),  # a group has channels of both halves
    ],
)
def test_groups_and_tiles(n, hidden, options):
    x, values, grad = case(19, hidden, n)
    x_grad, (codes, sf) = swiglu_backward_and_per_token_cast(x, grad, "e4m3", n, **options)
    close(x_grad, model.swiglu_backward(values, grad)[0])
    codes_ref, sf_ref = ref.cast(x_grad, "e4m3", (1, n), **options)
    assert_equal(codes, codes_ref)
    assert_equal(sf, sf_ref)


def test_bf16_input_and_no_tokens():
    _, values, grad = case(5)
    x_grad, (codes, _) = swiglu_backward_and_per_token_cast(values.bfloat16(), grad, "e4m3", 32)
    close(x_grad, model.swiglu_backward(values.bfloat16(), grad)[0])
    assert_equal(codes, ref.cast(x_grad, "e4m3", (1, 32))[0])
    x, _, grad = case(0)
    x_grad, (codes, sf) = swiglu_backward_and_per_token_cast(x, grad, "e4m3", 32)
    assert x_grad.shape == codes.shape == (0, 384)
    assert sf.shape == (0, 12)


def mapping():
    """Positions of 40 tokens with two slots in 100 rows, some rows and slots without."""
    order = torch.randperm(100)[:80].int().view(40, 2)
    order[::7, 1] = -1
    back = torch.full((100,), -1, dtype=torch.int32)
    slots = torch.arange(80, dtype=torch.int32).view(40, 2)
    back[order[order >= 0].long()] = slots[order >= 0]
    return back, order


@pytest.mark.parametrize("by_name", [False, True])
def test_call_of_the_first_generation(by_name):
    pos_to_token_topk, token_topk_to_pos = mapping()
    x, values, grad = case(100)
    weights = torch.rand(40, 2)
    if by_name:
        results = swiglu_backward_and_per_token_cast(
            x, grad_out=grad, weight=weights, pos_to_token_topk=pos_to_token_topk,
            token_topk_to_pos=token_topk_to_pos, num_per_channels=32, swiglu_clamp_value=1.5,
        )  # fmt: skip
    else:
        results = swiglu_backward_and_per_token_cast(
            x, grad, weights, pos_to_token_topk, token_topk_to_pos, 32, False, 1.5
        )
    act, (codes, sf), x_grad, weight_grad = results
    valid = pos_to_token_topk >= 0
    expanded = torch.where(valid, weights.flatten()[pos_to_token_topk.clamp(min=0).long()], 0.0)
    wanted = model.swiglu_backward(values, grad, None, expanded, None, 1.5)
    close(x_grad, wanted[0])
    close(act, wanted[2])
    assert not x_grad[~valid].any()
    picked = wanted[1][token_topk_to_pos.clamp(min=0).long()]
    close(weight_grad, torch.where(token_topk_to_pos >= 0, picked, 0.0))
    assert_equal(codes, ref.cast(x_grad, "e4m3", (1, 32))[0])
    assert_equal(sf, ref.cast(x_grad, "e4m3", (1, 32))[1])


def test_bad_arguments():
    x, values, grad = case(4)
    with pytest.raises(ValueError, match="fmt got 'bf16'"):
        swiglu_backward_and_per_token_cast(x, grad, "bf16", 32)
    with pytest.raises(ValueError, match="num_per_channels got 64"):
        swiglu_backward_and_per_token_cast(x, grad, "e4m3", 64)
    with pytest.raises(TypeError, match="x has dtype"):
        swiglu_backward_and_per_token_cast(values, grad, "e4m3", 32)
    with pytest.raises(ValueError, match="act_x_grad is"):
        swiglu_backward_and_per_token_cast(x, grad[:2], "e4m3", 32)


@pytest.mark.parametrize("quantised", [True, False])
def test_bad_gradients_and_inputs_without_dimensions(quantised):
    x, values, grad = case(4, 64, 32)
    given = x if quantised else values.bfloat16()
    for bad, error in (
        (grad.long(), TypeError), (grad.double(), TypeError), (grad.float()[0, 0], ValueError),
        (grad[:3], ValueError),
    ):  # fmt: skip
        with pytest.raises(error, match="act_x_grad"):
            swiglu_backward_and_per_token_cast(given, bad, "e4m3", 32)
    if not quantised:
        with pytest.raises(ValueError, match="x is"):
            swiglu_backward_and_per_token_cast(given[0, 0], grad, "e4m3", 32)
