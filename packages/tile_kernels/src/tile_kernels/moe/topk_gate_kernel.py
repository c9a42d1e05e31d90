"""`topk_gate`: the experts with the largest scores."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.utils import next_power_of_two

__all__ = ["MAX_EXPERTS", "row_width", "topk_gate"]

MAX_EXPERTS = 4096  # rows of scores lie in the unified buffer
_SMALLEST_WIDTH = 256


def row_width(num_experts: int) -> int:
    """Room for a row in the unified buffer: few different sizes, so that few kernels are built."""
    check_whole("number of experts", num_experts, 1, MAX_EXPERTS)
    return max(_SMALLEST_WIDTH, next_power_of_two(num_experts))


def topk_gate(scores: torch.Tensor, num_topk: int) -> torch.Tensor:
    """Picks the experts with the largest scores of each token.

    Args:
        scores: fp32 [tokens, experts], contiguous, finite, at most 4096 experts.
        num_topk: how many to pick, 1 to the number of experts.

    Returns:
        int64 [tokens, num_topk], largest score first, equal scores by index.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: a score is NaN or infinite.

    Example:
        >>> topk_gate(torch.tensor([[0.1, 0.7, 0.7, 0.2]]), 2)
        tensor([[1, 2]])
    """
    check_tensor("scores", scores, (torch.float32,), 2)
    tokens, experts = scores.shape
    width = row_width(experts)
    check_whole("num_topk", num_topk, 1, experts)
    topk_idx = torch.empty((tokens, num_topk), dtype=torch.int64, device=scores.device)
    if tokens:
        from tile_kernels.moe.topk_gate_asc import topk_gate as kernel

        kernel(scores, topk_idx, width=width, cores=get_num_vec_cores())
    return topk_idx
