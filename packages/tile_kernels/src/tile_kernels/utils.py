"""Small integer helpers and names of formats (tile_kernels.md section 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tile_kernels.errors import TileKernelsValueError

if TYPE_CHECKING:
    import torch

__all__ = ["align", "ceil_div", "is_power_of_two", "next_power_of_two", "str_to_dtype"]

_DTYPE_NAMES = {"fp32": "float32", "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e2m1": "int8"}


def ceil_div(x: int, y: int) -> int:
    """Returns x / y rounded up, for integers with y > 0."""
    return (x + y - 1) // y


def align(x: int, y: int) -> int:
    """Returns the smallest multiple of y that is not below x."""
    return ceil_div(x, y) * y


def is_power_of_two(x: int) -> bool:
    """Says whether x is 1, 2, 4, ...; False for x <= 0."""
    return x > 0 and x & (x - 1) == 0


def next_power_of_two(x: int) -> int:
    """Returns the smallest power of two that is not below x; 1 for x <= 1."""
    return 1 if x <= 1 else 1 << (x - 1).bit_length()


def str_to_dtype(fmt: str) -> torch.dtype:
    """Returns the tensor dtype of a format; e2m1 travels as int8, two codes a byte.

    Raises:
        TileKernelsValueError: an unknown format.
    """
    import torch

    if fmt not in _DTYPE_NAMES:
        raise TileKernelsValueError(
            f"fmt got {fmt!r}; allowed: {', '.join(map(repr, _DTYPE_NAMES))}"
        )
    dtype: torch.dtype = getattr(torch, _DTYPE_NAMES[fmt])
    return dtype
