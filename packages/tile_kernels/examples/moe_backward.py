"""Forward and backward of one mixture-of-experts layer, against autograd in float64.

norm -> gate -> fused mapping -> expand -> expert GEMM -> SwiGLU with weights -> expert GEMM ->
combine. Norm, gate, SwiGLU and the ways of rows and weights are kernels of tile_kernels in both
directions, joined by its autograd functions; the GEMMs are torch, in this example only.

Run: python moe_backward.py
"""

from __future__ import annotations

import torch

import tile_kernels
from tile_kernels import moe
from tile_kernels.moe.autograd import combine, expand, expand_weights, gate
from tile_kernels.quant.autograd import norm, swiglu

TOKENS, EXPERTS, TOPK, HIDDEN, INNER, ALIGNMENT = 50, 8, 2, 128, 64, 16
FACTOR, EPS = 1.5, 1e-6
NAMES = ("x", "norm weight", "router", "up", "down")

Parameters = list[torch.Tensor]


def by_expert(
    rows: torch.Tensor, weight: torch.Tensor, start: torch.Tensor, end: torch.Tensor
) -> torch.Tensor:
    """rows[expert's part] @ weight[expert].T for each expert; other rows are 0."""
    parts, last = [], 0
    for expert, (first, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        parts.append(rows.new_zeros(first - last, weight.shape[1]))
        parts.append(rows[first:stop] @ weight[expert].T)
        last = stop
    parts.append(rows.new_zeros(rows.shape[0] - last, weight.shape[1]))
    return torch.cat(parts)


def layer(x: torch.Tensor, scale: torch.Tensor, router: torch.Tensor, up: torch.Tensor,
          down: torch.Tensor) -> torch.Tensor:  # fmt: skip
    """One layer with the kernels of this package."""
    normed, _ = norm(x, scale, EPS)
    topk_idx, weights = gate(normed @ router.T, TOPK, routed_scaling_factor=FACTOR)
    mapping = moe.get_fused_mapping(topk_idx, EXPERTS, 0, ALIGNMENT)
    pos_to_expert, _, pos_to_slot, slot_to_pos, start, end = mapping[:6]
    rows = by_expert(expand(normed, slot_to_pos, pos_to_expert), up, start, end)
    row_weights = expand_weights(weights, pos_to_slot, slot_to_pos)
    active = swiglu(rows, row_weights)
    return combine(by_expert(active, down, start, end), slot_to_pos, pos_to_expert)


def model(x: torch.Tensor, scale: torch.Tensor, router: torch.Tensor, up: torch.Tensor,
          down: torch.Tensor) -> torch.Tensor:  # fmt: skip
    """The same layer without mappings: every expert for every token, times its weight or 0."""
    normed = torch.nn.functional.rms_norm(x, (HIDDEN,), scale, EPS)
    scores = torch.nn.functional.softplus(normed @ router.T).sqrt()
    weights, chosen = scores.topk(TOPK, dim=1)
    weights = weights / weights.sum(1, keepdim=True) * FACTOR
    spread = torch.zeros_like(scores).scatter(1, chosen, weights)
    left, right = torch.einsum("th,eih->tei", normed, up).chunk(2, dim=-1)
    active = torch.nn.functional.silu(left) * right * spread[..., None]
    return torch.einsum("tei,ehi->th", active, down)


def parameters() -> Parameters:
    """Random input and weights, fp32."""
    return [
        torch.randn(TOKENS, HIDDEN),
        torch.rand(HIDDEN) + 0.5,
        torch.randn(EXPERTS, HIDDEN) * HIDDEN**-0.5,
        torch.randn(EXPERTS, 2 * INNER, HIDDEN) * HIDDEN**-0.5,
        torch.randn(EXPERTS, HIDDEN, INNER) * INNER**-0.5,
    ]


def main() -> None:
    """Runs the layer and the model forward and backward and compares all gradients."""
    torch.manual_seed(0)
    tile_kernels.set_token_alignment(ALIGNMENT)
    given = [item.requires_grad_() for item in parameters()]
    wide = [item.detach().double().requires_grad_() for item in given]
    out, expected = layer(*given), model(*wide)
    upstream = torch.randn(TOKENS, HIDDEN)
    out.backward(upstream)
    expected.backward(upstream.double())
    pairs = [("output", out.detach(), expected.detach())]
    for name, mine, other in zip(NAMES, given, wide, strict=True):
        assert mine.grad is not None
        assert other.grad is not None
        pairs.append((f"gradient of {name}", mine.grad, other.grad))
    for name, mine, other in pairs:
        error = float((mine.double() - other).square().sum() / other.square().sum())
        assert error < 1e-10, (name, error)
        print(f"{name}: ok, relative squared error {error:.1e}")


if __name__ == "__main__":
    main()
