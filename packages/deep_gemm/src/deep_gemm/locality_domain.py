"""Locality helpers of the published API; with one domain all are no-ops (deep_gemm.md 1.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = [
    "destroy_localizer",
    "get_num_locality_domains",
    "is_localization_available",
    "is_localized",
    "localize",
]


def get_num_locality_domains() -> int:
    """Number of memory domains: 1."""
    return 1


def is_localization_available() -> bool:
    """Whether tensors can be placed near a domain: no."""
    return False


def localize(tensor: torch.Tensor, dim: int = -2) -> torch.Tensor:
    """Returns `tensor` itself."""
    del dim
    return tensor


def is_localized(tensor: torch.Tensor) -> bool:
    """Whether `tensor` was localized: never."""
    del tensor
    return False


def destroy_localizer() -> None:
    """Does nothing; there is no localizer."""
