"""`normalize_weight`: weights of a token divided by their sum."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor
from tile_kernels.config import get_num_vec_cores

__all__ = ["normalize_weight"]


def normalize_weight(topk_weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Divides each token's weights by their sum.

    Args:
        topk_weights: fp32 [tokens, k], contiguous.

    Returns:
        The sums, fp32 [tokens], each begun at 1e-20 and added in the order of the slots; and the
        weights divided by them, fp32 [tokens, k].

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    check_tensor("topk_weights", topk_weights, (torch.float32,), 2)
    denominator = torch.empty(
        topk_weights.shape[0], dtype=torch.float32, device=topk_weights.device
    )
    normalized = torch.empty_like(topk_weights)
    if topk_weights.shape[0]:
        from tile_kernels.moe.normalize_weight_asc import normalize_weight as kernel

        kernel(topk_weights, denominator, normalized, cores=get_num_vec_cores())
    return denominator, normalized
