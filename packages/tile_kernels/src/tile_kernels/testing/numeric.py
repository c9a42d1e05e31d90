"""Comparisons of tensors for tests (tile_kernels.md section 11)."""

from __future__ import annotations

import math

import torch

__all__ = ["assert_equal", "calc_diff", "check_bias", "count_bytes"]


def assert_equal(
    x: torch.Tensor,
    y: torch.Tensor,
    check_dtype: bool = True,
    check_shape: bool = True,
    check_stride: bool = True,
) -> None:
    """Raises AssertionError unless both tensors hold the same bytes on the same device.

    -0 differs from +0 and NaNs differ by payload. Strides of empty tensors are not compared.
    """
    assert x.device == y.device, f"devices differ: {x.device} and {y.device}"
    if check_dtype:
        assert x.dtype == y.dtype, f"dtypes differ: {x.dtype} and {y.dtype}"
    if check_shape:
        assert x.shape == y.shape, f"shapes differ: {tuple(x.shape)} and {tuple(y.shape)}"
    if check_stride and x.numel():
        assert x.stride() == y.stride(), f"strides differ: {x.stride()} and {y.stride()}"
    if not x.numel():
        return
    left, right = _bytes(x), _bytes(y)
    if torch.equal(left, right):
        return
    wrong = (left != right).any(-1).nonzero()
    first = int(wrong[0])
    raise AssertionError(
        f"{len(wrong)} of {x.numel()} elements differ; the first is flat index {first}: "
        f"{x.flatten()[first].item()} and {y.flatten()[first].item()} "
        f"(bytes {left[first].tolist()} and {right[first].tolist()})"
    )


def _bytes(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().flatten().view(torch.uint8).view(x.numel(), x.element_size())


def calc_diff(x: torch.Tensor, y: torch.Tensor) -> float:
    """Returns sum((x - y)^2) / sum(x^2 + y^2) in float64; 0 if both are all zero."""
    left, right = x.double(), y.double()
    size = float((left * left + right * right).sum())
    return float(((left - right) ** 2).sum()) / size if size else 0.0


def check_bias(x: torch.Tensor, ref: torch.Tensor) -> None:
    """Raises AssertionError if x lies below or above ref clearly more often than not."""
    count = x.numel()
    if not count:
        return
    below = float((x < ref).double().mean() + (x == ref).double().mean() / 2)
    allowed = 10 / math.sqrt(count)
    assert abs(below - 0.5) < allowed, f"P(x < ref) is {below:.4f}, wanted 0.5 +- {allowed:.4f}"


def count_bytes(*tensors: object) -> int:
    """Returns the bytes of all tensors in the arguments, also inside tuples and lists."""
    total = 0
    for item in tensors:
        if isinstance(item, torch.Tensor):
            total += item.numel() * item.element_size()
        elif isinstance(item, (tuple, list)):
            total += count_bytes(*item)
    return total
