"""Cases and inputs of quantisation tests and benchmarks (tile_kernels.md section 11)."""

from __future__ import annotations

from typing import Any

import torch

from tile_kernels.errors import TileKernelsValueError

__all__ = ["generate_cast_config", "generate_e5m6_inputs", "generate_rand_float"]

_E5M6_BORDERS = (
    2.0**-20,  # smallest subnormal
    2.0**-21,  # half of it, a tie
    63 * 2.0**-20,  # largest subnormal
    2.0**-14,  # smallest normal
    2.0**-14 * (1 + 2.0**-7),  # a tie
    1 + 3 * 2.0**-7,  # a tie whose even neighbour lies above
    65024.0,
)


def generate_cast_config(level: int, fmt: str) -> list[dict[str, Any]]:
    """Forms of scales that a cast to a format is tried with.

    Args:
        level: 0 gives the first only, 1 plain and packed column-major ones, 2 all that are allowed.
        fmt: ``"e4m3"``, ``"e2m1"`` or ``"e5m6"``; scales in e4m3 are for the first two.

    Returns:
        Keyword arguments of `per_token_cast`.
    """
    if fmt not in ("e4m3", "e2m1", "e5m6"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3', 'e2m1', 'e5m6'")
    names = ("use_tma_aligned_col_major_sf", "round_sf", "use_packed_ue8m0")
    rows = [(False, False, False), (True, True, True), (True, False, False), (False, True, False),
            (False, True, True), (True, True, False)]  # fmt: skip
    chosen = rows[: {0: 1, 1: 2}.get(level, len(rows))]
    cases: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in chosen]
    if level == 2 and fmt != "e5m6":
        cases.append({"use_e4m3_sf": True})
    return cases


def generate_rand_float(*shape: int, low: int = -20, high: int = 20) -> torch.Tensor:
    """Random fp32 numbers of both signs whose exponents are spread evenly over low..high."""
    exponent = torch.randint(low, high + 1, shape)
    sign = torch.randint(0, 2, shape) * 2 - 1
    return (1 + torch.rand(shape)) * torch.exp2(exponent.float()) * sign


def generate_e5m6_inputs(num_tokens: int, hidden: int) -> torch.Tensor:
    """fp32 rows [num_tokens, hidden] with the largest number 65024, so that the scale is 1.

    They hold the borders of the format, ties, and numbers of all its exponents.
    """
    x = generate_rand_float(num_tokens, hidden, low=-21, high=14)
    borders = torch.tensor(_E5M6_BORDERS)[:hidden]
    x[:, : len(borders)] = borders
    x[1::2] *= -1
    x[:, len(borders) - 1] = 65024.0
    return x
