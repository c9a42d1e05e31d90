"""Checks of arguments: errors name the argument, what it got, what is allowed and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError

__all__ = ["check_same_device", "check_shape", "check_tensor", "check_whole"]

TARGETS = ("cpu", "npu")


def check_tensor(
    name: str,
    value: Any,
    dtypes: Sequence[torch.dtype],
    dims: int | Sequence[int],
    *,
    contiguous: bool = True,
) -> None:
    """Checks type, dtype, number of dimensions, device type and layout of one tensor.

    Raises:
        TileKernelsTypeError: no tensor, or another dtype.
        TileKernelsValueError: other dimensions, a device without kernels, or not contiguous.
    """
    if not isinstance(value, torch.Tensor):
        raise TileKernelsTypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if value.dtype not in dtypes:
        allowed = " or ".join(map(str, dtypes))
        raise TileKernelsTypeError(
            f"{name} has dtype {value.dtype}, allowed: {allowed}; convert it with "
            f"{name}.to({dtypes[0]})"
        )
    wanted = (dims,) if isinstance(dims, int) else tuple(dims)
    if value.dim() not in wanted:
        raise TileKernelsValueError(
            f"{name} has shape {tuple(value.shape)}, wanted {' or '.join(map(str, wanted))} "
            "dimensions"
        )
    if value.device.type not in TARGETS:
        raise TileKernelsValueError(
            f"{name} is on {value.device}; kernels run on {' and '.join(TARGETS)}; "
            f"move it with {name}.cpu()"
        )
    if contiguous and not value.is_contiguous():
        raise TileKernelsValueError(
            f"{name} of shape {tuple(value.shape)} has strides {value.stride()}, wanted a "
            f"contiguous tensor; pass {name}.contiguous()"
        )


def check_shape(name: str, value: torch.Tensor, shape: Sequence[int]) -> None:
    """Raises TileKernelsValueError unless a tensor has this shape."""
    if tuple(value.shape) != tuple(shape):
        raise TileKernelsValueError(f"{name} has shape {tuple(value.shape)}, wanted {tuple(shape)}")


def check_same_device(**tensors: torch.Tensor | None) -> None:
    """Raises TileKernelsValueError unless all tensors that are given lie on one device."""
    places = {name: value.device for name, value in tensors.items() if value is not None}
    if len(set(places.values())) > 1:
        text = ", ".join(f"{name} on {device}" for name, device in places.items())
        raise TileKernelsValueError(f"the tensors lie on several devices: {text}; move all to one")


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Checks an integer option.

    Raises:
        TileKernelsTypeError: no int.
        TileKernelsValueError: out of low..high.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TileKernelsTypeError(f"{name} must be an int, got {type(value).__name__} {value!r}")
    if value < low or (high is not None and value > high):
        allowed = f"{low} or more" if high is None else f"{low} to {high}"
        raise TileKernelsValueError(f"{name} got {value}, allowed: {allowed}")
