"""Types of the quantisation functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import torch

__all__ = ["QuantTensor"]

QuantTensor: TypeAlias = "tuple[torch.Tensor, torch.Tensor]"
