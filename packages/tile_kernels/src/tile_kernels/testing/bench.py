"""Names, figures and quiet runs of benchmark and test cases (tile_kernels.md section 11)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from tile_kernels.testing.generator import generate_cast_config

__all__ = [
    "dtype_to_str", "empty_suppress", "format_param_id", "get_cast_params", "make_param_id",
    "make_param_key", "print_average_perf", "suppress_stdout_stderr",
]  # fmt: skip

_SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float8_e4m3fn": "e4m3"}


def dtype_to_str(dtype: torch.dtype) -> str:
    """Short name of a dtype: ``torch.bfloat16`` is ``"bf16"``."""
    name = str(dtype).removeprefix("torch.")
    return _SHORT.get(name, name)


def format_param_id(value: Any) -> str:
    """One value as a part of a test's name."""
    if isinstance(value, torch.dtype):
        return dtype_to_str(value)
    if isinstance(value, (tuple, list)):
        return "x".join(format_param_id(item) for item in value)
    return str(value)


def make_param_id(params: Mapping[str, Any], display: bool = False) -> str:
    """A test's name: ``key=value`` parts, joined by ``-``, or by a comma and a blank to show."""
    parts = [f"{key}={format_param_id(value)}" for key, value in params.items()]
    return (", " if display else "-").join(parts)


def make_param_key(params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The parameters as a key of a dict, the same for every order of the names."""
    return tuple(sorted((key, format_param_id(value)) for key, value in params.items()))


def get_cast_params(level: int, fmts: Sequence[str] = ("e4m3", "e2m1")) -> list[dict[str, Any]]:
    """Formats with each form of their scales: keyword arguments of `per_token_cast`."""
    return [{"fmt": fmt, **config} for fmt in fmts for config in generate_cast_config(level, fmt)]


def print_average_perf(name: str, microseconds: Sequence[float], num_bytes: int) -> None:
    """Prints the mean time of several runs, and the bytes that each moved over it."""
    mean = sum(microseconds) / max(len(microseconds), 1)
    rate = num_bytes / mean / 1e3 if mean else 0.0
    print(f"{name}: {mean:.1f} us, {rate:.0f} GB/s, {len(microseconds)} runs")


@contextlib.contextmanager
def suppress_stdout_stderr() -> Iterator[None]:
    """Sends what the process and its libraries print to nowhere, in the block."""
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as null:
        try:
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
            with contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
                yield
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)


@contextlib.contextmanager
def empty_suppress() -> Iterator[None]:
    """Prints as usual; stands where `suppress_stdout_stderr` may."""
    yield
