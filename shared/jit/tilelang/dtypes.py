"""Element types: TileLang's names, and the torch types that may be passed for them."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import ArgumentError

__all__ = ["elements_per_item", "storage_dtype", "torch_dtypes"]

# Two 4-bit elements share a byte; torch has its own type for that, and bytes will do.
_PAIRS = ("float4_e2m1fn", "float4_e1m2fn", "int4", "uint4")
_ALIASES = {"float8_e4m3": "float8_e4m3fn", "float": "float32", "half": "float16"}


def elements_per_item(dtype: str) -> int:
    """Returns how many elements one tensor item holds."""
    return 2 if dtype in _PAIRS else 1


@cache
def torch_dtypes(dtype: str) -> tuple[Any, ...]:
    """Returns the torch types that hold TileLang's `dtype`; the first is used for outputs.

    Raises:
        ArgumentError: there is none.
    """
    import torch

    if dtype in _PAIRS:
        pair = getattr(torch, "float4_e2m1fn_x2", None)
        return tuple(kind for kind in (torch.int8, torch.uint8, pair) if kind is not None)
    own = getattr(torch, _ALIASES.get(dtype, dtype), None)
    if not isinstance(own, torch.dtype):
        raise ArgumentError(
            f"dtype {dtype} has no counterpart in this torch; use another dtype or a newer torch"
        )
    return (own,)


def storage_dtype(dtype: str) -> Any:
    """Returns the torch type of an output of TileLang's `dtype`."""
    return torch_dtypes(dtype)[0]
