"""Global memory that a launch may touch, for memcheck (emulator.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..jit.arg_pointers import pointer_of

__all__ = ["GmRange", "gm_range", "ranges_of_arguments"]


class GmRange(NamedTuple):
    """One tensor of a launch.

    Attributes:
        address: first byte.
        bytes: from the first to the last element.
        read_only: nobody writes it during the launch; a store into it is an error.
        name: for reports.
    """

    address: int
    bytes: int
    read_only: bool
    name: str


def gm_range(tensor: Any, name: str = "", *, read_only: bool = False) -> GmRange:
    """Describes a tensor or array that a launch may touch.

    Args:
        tensor: torch tensor or NumPy array, also a view with strides.
        name: for reports; its dtype and shape when empty.
        read_only: nobody writes it during the launch; a store into it is an error. A NumPy
            array that is not writeable always is.

    Example:
        >>> import numpy as np
        >>> gm_range(np.zeros((2, 3), np.float32), "a").bytes
        24
    """
    flags = getattr(tensor, "flags", None)
    writeable = bool(getattr(flags, "writeable", True))
    low, high = _extent(tensor)
    address = pointer_of(tensor) or 0
    label = name or f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    return GmRange(address + low, high - low, read_only or not writeable, label)


def ranges_of_arguments(args: Sequence[object], const: Sequence[bool]) -> list[GmRange] | None:
    """Returns the tensors among kernel arguments.

    Args:
        args: the arguments of a launch.
        const: per argument, whether the kernel takes a pointer to const.

    Returns:
        None when an argument may hold addresses that cannot be seen (structs, raw pointers).
    """
    ranges = []
    for index, arg in enumerate(args):
        if hasattr(arg, "shape") and hasattr(arg, "dtype") and getattr(arg, "ndim", 0) > 0:
            label = gm_range(arg).name
            read_only = const[index] if index < len(const) else False
            ranges.append(gm_range(arg, f"argument {index}, {label}", read_only=read_only))
        elif arg is not None and _may_hide_addresses(arg):
            return None
    return ranges


def _may_hide_addresses(arg: object) -> bool:
    from ..jit.scalars import Scalar

    if isinstance(arg, bool | int | float | Scalar) or getattr(arg, "shape", None) == ():
        return False
    code = getattr(type(arg), "_type_", None)
    return not (isinstance(code, str) and code in "bBhHiIlLqQfd?")


def _extent(tensor: Any) -> tuple[int, int]:
    """Bytes from the address to the lowest element, and behind the highest one."""
    item = tensor.element_size() if hasattr(tensor, "element_size") else tensor.itemsize
    if 0 in tensor.shape:
        return (0, 0)
    unit = item if hasattr(tensor, "element_size") else 1
    strides = tensor.stride() if callable(getattr(tensor, "stride", None)) else tensor.strides
    reaches = [(n - 1) * s * unit for n, s in zip(tensor.shape, strides, strict=True)]
    return sum(min(r, 0) for r in reaches), item + sum(max(r, 0) for r in reaches)
