"""Inputs of the gates whose selection does not hang on rounding (tile_kernels.md section 11)."""

from __future__ import annotations

import torch

__all__ = ["construct_logits"]

SMALLEST_GAP = 1e-6


def construct_logits(
    num_tokens: int, num_experts: int, num_topk: int, gap: float = SMALLEST_GAP
) -> torch.Tensor:
    """Random fp32 logits; rows are drawn again until entries k and k + 1 differ by `gap`."""
    logits = torch.randn(num_tokens, num_experts)
    if num_topk >= num_experts:
        return logits
    while True:
        ordered = logits.sort(dim=1, descending=True).values
        close = ordered[:, num_topk - 1] - ordered[:, num_topk] <= gap
        if not close.any():
            return logits
        logits[close] = torch.randn(int(close.sum()), num_experts)
