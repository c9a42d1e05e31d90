"""References of the element-wise cast (tile_kernels.md section 4.5)."""

from __future__ import annotations

import torch

__all__ = [
    "cast_elements", "cast_to_bf16_at_random", "cast_to_e4m3_at_random", "random_of_places",
    "round_at_random",
]  # fmt: skip

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


def _padded_bits(x: torch.Tensor) -> torch.Tensor:
    """The bits of fp32 numbers in groups of four, zeros behind the last one."""
    bits = x.contiguous().view(-1).view(torch.int32).long() & _WORD
    return torch.nn.functional.pad(bits, (0, -len(bits) % 4)).view(-1, 4)


def _random_of_groups(bits: torch.Tensor) -> torch.Tensor:
    """16 random bits of each number, by the hash of its group of four."""
    h = torch.arange(len(bits), device=bits.device)
    for column, factor in zip(bits.unbind(1), _FACTORS, strict=True):
        h = h + _times(column, factor) & _WORD
    h = _times(h ^ h >> 23, 0x7FEB352D)
    h = h ^ h >> 16
    first, second = (_times(h, factor) for factor in (0x846CA68B, 0xD35A2D97))
    first, second = first ^ first >> 11, second ^ second >> 11
    return torch.stack((first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16), 1)


def cast_to_bf16_at_random(x: torch.Tensor) -> torch.Tensor:
    """Returns fp32 numbers rounded to bf16 at random by the hash of each group of four."""
    bits = _padded_bits(x)
    high = (bits >> 16) + (_random_of_groups(bits) < (bits & 0xFFFF)).long()
    return high.view(-1)[: x.numel()].to(torch.int16).view(torch.bfloat16).view(x.shape)


def cast_to_e4m3_at_random(x: torch.Tensor) -> torch.Tensor:
    """Returns fp32 or bf16 numbers rounded to e4m3 at random by the hash of each group of four."""
    random = _random_of_groups(_padded_bits(x.float())).view(-1)[: x.numel()].view(x.shape)
    return round_at_random(x.float(), random << 8, "e4m3").to(torch.float8_e4m3fn)


def round_at_random(x: torch.Tensor, random: torch.Tensor, fmt: str) -> torch.Tensor:
    """Returns fp32 numbers rounded to a neighbour in a format, by 24 random bits each.

    They go up, away from zero, where the part of the step from one to the next is above random
    times 2 ** -24. NaN stays.
    """
    mantissa, least, largest = {"e4m3": (3, -6, 448.0), "e2m1": (1, 0, 6.0)}[fmt]
    value = x.double().clamp(-largest, largest)
    exponent = (torch.frexp(value)[1] - 1).clamp(min=least)
    step = torch.ldexp(torch.ones_like(value), exponent - mantissa)
    low = torch.floor(value.abs() / step)
    up = random.double() * 2.0**-24 < value.abs() / step - low
    return torch.copysign((low + up) * step, value).float()


def random_of_places(x: torch.Tensor) -> torch.Tensor:
    """24 random bits of each fp32 number of a matrix, by its bits and its place."""
    place = torch.arange(x.numel(), device=x.device).view(x.shape)
    mixed = _times(place & _WORD, 0x9E3779B9) ^ x.view(torch.int32).long() & _WORD
    mixed = _times(mixed ^ mixed >> 16, 0x7FEB352D)
    mixed = _times(mixed ^ mixed >> 15, 0x846CA68B)
    return (mixed ^ mixed >> 16) >> 8
