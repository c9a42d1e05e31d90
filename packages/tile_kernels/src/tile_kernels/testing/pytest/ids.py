"""Plug-in for pytest: names of cases made of their values, such as ``bf16`` or ``fmt=e4m3``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from tile_kernels.testing.bench import format_param_id, make_param_id

__all__ = ["pytest_make_parametrize_id"]


def pytest_make_parametrize_id(config: object, val: Any, argname: str) -> str | None:
    """Names dtypes, shapes and sets of parameters; None leaves others to pytest."""
    if isinstance(val, Mapping):
        return make_param_id(val)
    if isinstance(val, (torch.dtype, tuple)):
        return format_param_id(val)
    return None
