"""Gradients through the autograd wrappers against autograd in float64."""

import torch

from tile_kernels import moe
from tile_kernels.moe.autograd import expand, gate
from tile_kernels.quant.autograd import norm, swiglu
from tile_kernels.testing.moe import construct_logits
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import moe_topk_gate_backward


def leaf(tensor):
    return tensor.clone().requires_grad_()


def close(got, wanted, tolerance=1e-5):
    scale = float(wanted.abs().max())
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance * scale)


def test_swiglu():
    x = leaf(quant_inputs(21, 256, torch.float32, spread=1.0))
    weights = leaf(torch.rand(21))
    model_x, model_weights = leaf(x.detach().double()), leaf(weights.detach().double())
    left, right = model_x.chunk(2, dim=-1)
    wanted = torch.nn.functional.silu(left) * right * (model_weights * 2.5)[:, None]
    got = swiglu(x, weights, routed_scaling_factor=2.5)
    close(got, wanted.detach())
    upstream = torch.randn(21, 128)
    got.backward(upstream)
    wanted.backward(upstream.double())
    close(x.grad, model_x.grad)
    close(weights.grad, model_weights.grad)


def test_norm():
    x, residual = (leaf(quant_inputs(21, 1056, torch.float32, seed=s, spread=1)) for s in (0, 1))
    weight = leaf(quant_inputs(1, 1056, torch.float32, seed=2, spread=0)[0])
    twins = [leaf(tensor.detach().double()) for tensor in (x, residual, weight)]
    total = twins[0] + twins[1]
    wanted = torch.nn.functional.rms_norm(total, (1056,), twins[2], 1e-6)
    out, norm_input = norm(x, weight, 1e-6, residual)
    close(out, wanted.detach())
    a, b = torch.randn(2, 21, 1056)
    torch.autograd.backward([out, norm_input], [a, b])
    torch.autograd.backward([wanted, total], [a.double(), b.double()])
    for tensor, twin in zip((x, residual, weight), twins, strict=True):
        close(tensor.grad, twin.grad)


def test_gate():
    logits, mask = leaf(construct_logits(21, 40, 3)), torch.arange(21) % 4 != 0
    topk_idx, weights = gate(logits, 3, 1, 2.5, mask=mask)
    assert not topk_idx.requires_grad
    upstream = torch.randn(21, 4)
    weights.backward(upstream)
    wanted = moe_topk_gate_backward(
        logits.detach(), topk_idx[:, :3], upstream[:, :3], 2.5, mask=mask
    )
    close(logits.grad, wanted)
    assert not logits.grad[~mask].any()


def test_expand():
    idx = torch.rand(21, 12).argsort(dim=1)[:, :3].contiguous()
    idx[::3, 0] = -1
    pos_to_expert, _, _, to_pos = moe.get_fused_mapping(idx, 12, 0, 4)[:4]
    x = leaf(quant_inputs(21, 300, torch.float32, spread=1.0))
    rows = expand(x, to_pos, pos_to_expert)
    upstream = torch.randn(rows.shape)
    rows.backward(upstream)
    picked = upstream.double()[to_pos.clamp(min=0).long()] * (to_pos >= 0)[:, :, None]
    close(x.grad, picked.sum(1))
