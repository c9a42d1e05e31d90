"""Helpers for tests of quantised tensors (tile_kernels.md section 11)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant.common import unpack_from_e2m1fn_x2
from tile_kernels.utils import ceil_div

__all__ = ["clear_unused_sf", "clear_unused_sf_col_pack", "quant_inputs", "quant_level_rank"]


def clear_unused_sf(sf: torch.Tensor, hidden: int, num_per_channels: int) -> torch.Tensor:
    """Returns packed scales [tokens, words] as bytes, with the bytes after the last group zero."""
    data = sf.contiguous().view(torch.uint8).clone()
    data[:, ceil_div(hidden, num_per_channels) :] = 0
    return data


def clear_unused_sf_col_pack(
    sf: torch.Tensor, num_tokens: int, num_per_tokens: int
) -> torch.Tensor:
    """Returns packed scales [words, channels] as bytes [words, channels, bytes of a word], with
    the bytes after the last block of tokens zero."""
    pack = sf.element_size()
    data = sf.contiguous().view(torch.uint8).view(*sf.shape, pack).clone()
    used = ceil_div(num_tokens, num_per_tokens) - (sf.shape[0] - 1) * pack
    if sf.shape[0]:
        data[-1, :, used:] = 0
    return data


def quant_level_rank(xc: torch.Tensor, fmt: str) -> torch.Tensor:
    """Returns the rank of each code among the format's numbers; neighbours differ by one.

    Args:
        xc: e4m3 codes, or int8 with two e2m1 codes a byte.
        fmt: ``"e4m3"`` or ``"e2m1"``.
    """
    if fmt == "e4m3":
        data = xc.view(torch.uint8).int()
        rank = data & 0x7F
        return torch.where(data >= 0x80, -rank, rank)
    if fmt == "e2m1":
        doubled = (unpack_from_e2m1fn_x2(xc) * 2).int()
        magnitude = doubled.abs()
        rank = torch.where(magnitude > 4, 4 + (magnitude - 4) // 2, magnitude)
        rank = torch.where(magnitude == 12, 7, rank)
        return torch.where(doubled < 0, -rank, rank)
    raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3', 'e2m1'")


def quant_inputs(
    tokens: int,
    hidden: int,
    dtype: torch.dtype = torch.bfloat16,
    spread: float = 4.0,
    seed: int = 0,
) -> torch.Tensor:
    """Returns random rows [tokens, hidden] of different magnitude, with zeros among them.

    Rows differ by up to 2 ** (2 * spread) in size.
    """
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(tokens, hidden, generator=generator)
    steps = torch.randint(-8, 9, (tokens, 1), generator=generator)
    x *= torch.exp2(steps * (spread / 4))
    x[:, ::17] = 0
    return x.to(dtype)
