"""The psum layout: each expert's first row is aligned (tile_kernels.md section 4.8)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError

__all__ = ["check_psum", "check_weights"]


def check_psum(psum: torch.Tensor | None, device: torch.device) -> None:
    """Checks `psum_num_tokens_per_expert`: int32 [experts], contiguous, on the device of x."""
    if psum is None:
        return
    if not isinstance(psum, torch.Tensor) or psum.dtype != torch.int32:
        got = psum.dtype if isinstance(psum, torch.Tensor) else type(psum).__name__
        raise TileKernelsTypeError(
            f"psum_num_tokens_per_expert must be an int32 tensor, got {got}; use .int()"
        )
    if psum.dim() != 1 or not psum.numel() or not psum.is_contiguous() or psum.device != device:
        raise TileKernelsValueError(
            f"psum_num_tokens_per_expert is {tuple(psum.shape)} on {psum.device}; wanted "
            f"contiguous [experts] on {device}"
        )


def check_weights(
    weights: torch.Tensor | None, factor: float | None, tokens: int, device: torch.device
) -> None:
    """Checks `topk_weights`, float32 [tokens], and `routed_scaling_factor`, which needs them."""
    if weights is None:
        if factor is not None:
            raise TileKernelsValueError(
                f"routed_scaling_factor={factor} needs topk_weights; pass them or drop it"
            )
        return
    if weights.dtype != torch.float32:
        raise TileKernelsTypeError(f"topk_weights has dtype {weights.dtype}; allowed: float32")
    if tuple(weights.shape) != (tokens,) or not weights.is_contiguous() or weights.device != device:
        raise TileKernelsValueError(
            f"topk_weights is {tuple(weights.shape)} on {weights.device}; wanted contiguous "
            f"({tokens},) on {device}"
        )
