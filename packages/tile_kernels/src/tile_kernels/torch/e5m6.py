"""References of e5m6, number by number on int64 bits (tile_kernels.md sections 3.5 and 10)."""

from __future__ import annotations

import torch

from tile_kernels.quant.common import get_packed_ue8m0_pack_factor
from tile_kernels.torch.quant_cast import decode_sf, pack_bytes, power_of_two

__all__ = ["cast_back_from_e5m6", "cast_to_e5m6"]

_AMAX_FLOOR = 1e-4
_LARGEST = 65024.0


def _encode(values: torch.Tensor) -> torch.Tensor:
    """The 12 bits of each fp32 number, int64: fp16 cut off, then rounded by what was dropped."""
    bits = values.contiguous().view(torch.int32).long() & 0xFFFFFFFF
    exponent = (bits >> 23 & 0xFF) - 112
    mantissa = bits & 0x7FFFFF | 0x800000
    normal = exponent << 10 | mantissa >> 13 & 0x3FF
    tiny = mantissa >> (14 - exponent).clamp(0, 62)
    half = torch.where(exponent > 0, normal, tiny)
    code = half >> 4 | bits >> 31 << 11
    up = (code & 1) + (bits & 0x1FFFF) > 0x10000
    return code + up.long() & 0xFFF


def _pack(codes: torch.Tensor) -> torch.Tensor:
    """Eight codes in three little-endian words, the first code in the highest bits; uint8."""
    h = codes.view(codes.shape[0], codes.shape[1] // 8, 8).unbind(-1)
    words = torch.stack((
        h[0] << 20 | h[1] << 8 | h[2] >> 4,
        h[2] << 28 | h[3] << 16 | h[4] << 4 | h[5] >> 8,
        h[5] << 24 | h[6] << 12 | h[7],
    ), -1) & 0xFFFFFFFF  # fmt: skip
    parts = torch.stack([words >> 8 * byte & 0xFF for byte in range(4)], -1)
    return parts.to(torch.uint8).flatten(1)


def cast_to_e5m6(
    x: torch.Tensor,
    num_per_channels: int,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (uint8 [tokens, 3 hidden / 2], scales [tokens, 1]); num_per_channels is hidden."""
    amax = x.float().abs().amax(1, keepdim=True).clamp(min=_AMAX_FLOOR)
    sf, inverse = amax / _LARGEST, torch.full_like(amax, _LARGEST) / amax
    if round_sf:
        exponent = power_of_two(sf)
        sf, inverse = (exponent.int() << 23).view(torch.float32), torch.exp2(127.0 - exponent)
        if use_packed_ue8m0:
            block = (1, num_per_channels)
            sf = pack_bytes(exponent.to(torch.uint8), block, get_packed_ue8m0_pack_factor())
    if use_tma_aligned_col_major_sf:
        sf = sf.as_strided(sf.shape, (1, max(sf.shape[0], 1)))
    return _pack(_encode(x.float() * inverse)), sf


def cast_back_from_e5m6(
    x: tuple[torch.Tensor, torch.Tensor], fmt: str, x_block_size: tuple[int, int]
) -> torch.Tensor:
    """Returns the numbers of e5m6 codes, fp16 numbers without their last four bits, times sf."""
    data, sf = x
    tokens, hidden = data.shape[0], data.shape[1] // 3 * 2
    parts = data.view(tokens, hidden // 8, 3, 4).long()
    shifts = torch.arange(0, 32, 8, device=data.device)
    w = (parts << shifts).sum(-1).unbind(-1)
    codes = torch.stack((
        w[0] >> 20, w[0] >> 8, w[0] << 4 | w[1] >> 28, w[1] >> 16, w[1] >> 4,
        w[1] << 8 | w[2] >> 24, w[2] >> 12, w[2],
    ), -1) & 0xFFF  # fmt: skip
    numbers = (codes << 4).to(torch.int16).view(torch.float16).float().view(tokens, hidden)
    result = numbers * decode_sf(sf, tokens, hidden, x_block_size)
    return result.bfloat16() if fmt == "bf16" else result
