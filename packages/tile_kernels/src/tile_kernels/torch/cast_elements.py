"""References of the element-wise cast (tile_kernels.md section 4.5)."""

from __future__ import annotations

import torch

__all__ = ["cast_elements", "cast_to_bf16_at_random"]

_FACTORS = (0x5671D42B, 0x9995E499, 0xACE1B8A5, 0xE153538D)
_WORD = 0xFFFFFFFF


def cast_elements(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns x in another dtype, to nearest even; e4m3 saturates, infinities too."""
    if dtype == torch.float8_e4m3fn:
        return x.float().clamp(-448.0, 448.0).to(dtype)
    return x.to(dtype)


def _times(x: torch.Tensor, factor: int) -> torch.Tensor:
    """The low 32 bits of a product, in halves that int64 can hold."""
    return x * (factor & 0xFFFF) + (x * (factor >> 16) << 16 & _WORD) & _WORD


def cast_to_bf16_at_random(x: torch.Tensor) -> torch.Tensor:
    """Returns fp32 numbers rounded to bf16 at random by the hash of each group of four."""
    bits = x.contiguous().view(-1).view(torch.int32).long() & _WORD
    padded = torch.nn.functional.pad(bits, (0, -len(bits) % 4)).view(-1, 4)
    h = torch.arange(len(padded), device=x.device)
    for column, factor in zip(padded.unbind(1), _FACTORS, strict=True):
        h = h + _times(column, factor) & _WORD
    h = _times(h ^ h >> 23, 0x7FEB352D)
    h = h ^ h >> 16
    first, second = (_times(h, factor) for factor in (0x846CA68B, 0xD35A2D97))
    first, second = first ^ first >> 11, second ^ second >> 11
    random = torch.stack((first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16), 1)
    high = (padded >> 16) + (random < (padded & 0xFFFF)).long()
    return high.view(-1)[: len(bits)].to(torch.int16).view(torch.bfloat16).view(x.shape)
