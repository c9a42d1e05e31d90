"""The data path of one mixture-of-experts layer, compared with a plain model in float64.

gate -> fused mapping -> expand -> expert GEMM -> SwiGLU -> expert GEMM -> reduce. The routing
operators are kernels of tile_kernels; the GEMMs are deep_gemm's where it is installed, else torch,
and SwiGLU is torch, in this example only.

Run: python moe_data_path.py
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from tile_kernels import moe
from tile_kernels.testing.moe import construct_logits

TOKENS, EXPERTS, TOPK, HIDDEN, INNER, ALIGNMENT = 50, 8, 2, 128, 64, 16
FACTOR = 1.5


def gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [m, k] @ b [n, k].T in bf16, by deep_gemm if it is there."""
    try:
        import deep_gemm
    except ImportError:
        return a @ b.T
    out = torch.empty(a.shape[0], b.shape[0], dtype=torch.bfloat16)
    deep_gemm.bf16_gemm_nt(a, b, out)
    return out


def swiglu(x: torch.Tensor) -> torch.Tensor:
    """silu(left) * right."""
    left, right = x.float().chunk(2, dim=1)
    return (torch.nn.functional.silu(left) * right).bfloat16()


def experts_by_range(start: torch.Tensor, end: torch.Tensor) -> Iterable[tuple[int, slice]]:
    """Each expert that has rows, and the slice of its rows."""
    for expert, (first, last) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if last > first:
            yield expert, slice(first, last)


def layer(
    x: torch.Tensor, logits: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """One layer with the kernels of this package."""
    topk_idx, topk_weights = moe.moe_topk_gate(logits, TOPK, False, 0, FACTOR, ep_rank=0)
    pos_to_expert, _, _, to_pos, start, end, _, _ = moe.get_fused_mapping(
        topk_idx, EXPERTS, 0, ALIGNMENT
    )
    rows = moe.expand_to_fused(x, to_pos, pos_to_expert)
    results = torch.zeros_like(rows)
    for expert, part in experts_by_range(start, end):
        results[part] = gemm(swiglu(gemm(rows[part], up[expert])), down[expert])
    return moe.reduce_fused(results, topk_weights, to_pos)


def model(
    x: torch.Tensor, logits: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """The same layer token by token, in float64."""
    scores = torch.nn.functional.softplus(logits.double()).sqrt()
    weights, chosen = scores.topk(TOPK, dim=1)
    weights = weights / weights.sum(1, keepdim=True) * FACTOR
    out = torch.zeros(x.shape, dtype=torch.float64)
    for token in range(x.shape[0]):
        for weight, expert in zip(weights[token], chosen[token], strict=True):
            left, right = (up[expert].double() @ x[token].double()).chunk(2)
            hidden = torch.nn.functional.silu(left) * right
            out[token] += weight * (down[expert].double() @ hidden)
    return out


def main() -> None:
    """Builds a layer, runs it both ways and compares."""
    torch.manual_seed(0)
    x = torch.randn(TOKENS, HIDDEN).bfloat16()
    logits = construct_logits(TOKENS, EXPERTS, TOPK)
    up = (torch.randn(EXPERTS, 2 * INNER, HIDDEN) * HIDDEN**-0.5).bfloat16()
    down = (torch.randn(EXPERTS, HIDDEN, INNER) * INNER**-0.5).bfloat16()
    got, expected = layer(x, logits, up, down).double(), model(x, logits, up, down)
    error = float((got - expected).square().sum() / expected.square().sum())
    assert error < 1e-4, error
    print(f"MoE layer: ok, relative squared error {error:.1e}")


if __name__ == "__main__":
    main()
