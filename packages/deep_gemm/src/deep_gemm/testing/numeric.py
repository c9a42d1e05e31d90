"""Metrics and element-wise bounds of GEMM results (deep_gemm.md sections 6.1 and 8, item 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch

__all__ = [
    "assert_close_to_reference",
    "assert_equal",
    "bf16_reference",
    "calc_diff",
    "count_bytes",
    "error_bound",
]

# Half the distance from 1.0 to the next number
UNIT_FP32 = 2.0**-24
UNIT_BF16 = 2.0**-8
# Smallest normal numbers: below them rounding is absolute
TINY_FP32 = 2.0**-126
TINY_BF16 = 2.0**-126


def calc_diff(x: torch.Tensor, y: torch.Tensor) -> float:
    """Cosine-like distance ``1 - 2*sum(x*y) / sum(x*x + y*y)``, 0 when both are 0; in fp64."""
    left, right = x.double(), y.double()
    denominator = float((left * left + right * right).sum())
    if denominator == 0:
        return 0.0
    return 1.0 - 2.0 * float((left * right).sum()) / denominator


def count_bytes(*values: object) -> int:
    """Bytes of all tensors in nested tuples, lists and dicts; None counts 0.

    Elements are counted, not storage: a slice counts what it shows.
    """
    total = 0
    for value in values:
        if isinstance(value, torch.Tensor):
            total += value.numel() * value.element_size()
        elif isinstance(value, Mapping):
            total += count_bytes(*value.values())
        elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            total += count_bytes(*value)
        elif value is not None:
            raise TypeError(
                f"count_bytes got {type(value).__name__}; allowed: tensors, None, and tuples, "
                "lists or dicts of them"
            )
    return total


def bf16_reference(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None = None,
    alpha: float = 1.0,
) -> torch.Tensor:
    """``alpha * a @ b.T + c`` in fp64 for normalised operands ``[m, k]`` and ``[n, k]``."""
    product = alpha * (a.double() @ b.double().T)
    return product if c is None else product + c.double()


def error_bound(
    a: torch.Tensor,
    b: torch.Tensor,
    dtype: torch.dtype,
    c: torch.Tensor | None = None,
    alpha: float = 1.0,
) -> torch.Tensor:
    """Largest |D - reference| that fp32 accumulation and the roundings of D allow, element-wise.

    Products of bf16 values are exact in fp32, so a sum of k of them is off by at most
    ``k * 2**-24 * sum |a||b|``; two more roundings cover alpha and the sum with C in fp32. A bf16 D
    adds one rounding of the product, and with C one of the sum.
    """
    k = a.shape[1]
    magnitude = abs(alpha) * (a.double().abs() @ b.double().abs().T)
    bound = (k + 2) * UNIT_FP32 * magnitude + TINY_FP32
    exact = bf16_reference(a, b, None, alpha).abs()
    addend = torch.zeros_like(exact) if c is None else c.double().abs()
    if dtype is torch.bfloat16:
        rounded = UNIT_BF16 * (exact + bound) + TINY_BF16
        bound = bound + rounded
        if c is not None:
            bound = bound + UNIT_BF16 * (exact + addend + bound) + TINY_BF16
    elif c is not None:
        bound = bound + UNIT_FP32 * (exact + addend + bound)
    return bound


def assert_equal(x: torch.Tensor, y: torch.Tensor, label: str = "") -> None:
    """Bitwise equality; the message names the first element that differs."""
    if x.shape != y.shape or x.dtype is not y.dtype:
        raise AssertionError(f"{label}: {x.dtype} {tuple(x.shape)} vs {y.dtype} {tuple(y.shape)}")
    size = x.element_size()
    integer = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    differs = x.contiguous().view(integer) != y.contiguous().view(integer)
    if bool(differs.any()):
        raise AssertionError(_first(label, differs, x, y))


def assert_close_to_reference(
    d: torch.Tensor, reference: torch.Tensor, bound: torch.Tensor, label: str = ""
) -> None:
    """|d - reference| <= bound for every element; NaN is never close."""
    error = (d.double() - reference).abs()
    bad = ~(error <= bound)
    if bool(bad.any()):
        raise AssertionError(_first(label, bad, d, reference))


def _first(label: str, bad: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> str:
    where = tuple(int(i) for i in bad.nonzero()[0])
    return (
        f"{label}: {int(bad.sum())} of {bad.numel()} elements differ, first at {where}: "
        f"got {x[where].item()!r}, wanted {y[where].item()!r}"
    )
