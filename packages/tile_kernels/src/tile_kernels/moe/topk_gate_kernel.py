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


def rows_of_tile(width: int) -> int:
    """Tokens of a core at once: rows of scores and of indices lie in the unified buffer."""
    return max(4, min(16, 16384 // width))


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

        rows, cores = rows_of_tile(width), get_num_vec_cores()
        share = min(rows, -(-tokens // cores))
        kernel(scores, topk_idx.view(torch.int32), share, width=width, rows=rows, cores=cores)
    return topk_idx
