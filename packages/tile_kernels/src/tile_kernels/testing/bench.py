"""Names of benchmark and test cases, made from their parameters (tile_kernels.md section 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

__all__ = ["dtype_to_str", "format_param_id", "make_param_id"]

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
