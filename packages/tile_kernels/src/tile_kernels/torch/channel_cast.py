"""References of the casts of gathered rows and of weight scales (tile_kernels.md section 10)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tile_kernels.quant.common import get_packed_ue8m0_pack_factor
from tile_kernels.torch.quant_cast import cast, cast_back, pack_bytes

__all__ = ["batched_transpose_weight_sf", "per_channel_cast_fused"]


def per_channel_cast_fused(
    x: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    fmt: str,
    num_per_tokens: int,
    round_sf: bool = False,
    num_per_channels: int | None = None,
    pos_to_token: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gathers the rows, zeros for negative positions, and casts each channel."""
    values = x.float() if isinstance(x, torch.Tensor) else _values(x, num_per_channels or 1)
    if pos_to_token is not None:
        rows = values[pos_to_token.long().clamp(min=0)]
        values = torch.where((pos_to_token >= 0)[:, None], rows, 0.0)
    return cast(values, fmt, (num_per_tokens, 1), round_sf=round_sf)


def _values(x: tuple[torch.Tensor, torch.Tensor], num_per_channels: int) -> torch.Tensor:
    return cast_back(x, "fp32", (1, num_per_channels))


def batched_transpose_weight_sf(
    sf: Sequence[torch.Tensor], block_size: int, transpose_sf1s: Sequence[bool]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Packs the exponents of each weight's scales along k for each row, and along n."""
    results = []
    for scales, flag in zip(sf, transpose_sf1s, strict=True):
        exponents = scales.view(torch.int32) >> 23
        first, second = (
            _words(item, block_size) for item in (exponents, exponents.transpose(-1, -2))
        )
        results.append((first, second.transpose(-1, -2) if flag else second))
    return results


def _words(exponents: torch.Tensor, block_size: int) -> torch.Tensor:
    """Words [..., rows, words] with strides (1, rows), each scale row repeated."""
    wide = exponents.repeat_interleave(block_size, -2).to(torch.uint8)
    flat = wide.reshape(-1, wide.shape[-1])
    words = pack_bytes(flat, (1, block_size), get_packed_ue8m0_pack_factor())
    stored = words.view(*wide.shape[:-1], -1).transpose(-1, -2)
    return stored.clone(memory_format=torch.contiguous_format).transpose(-1, -2)
