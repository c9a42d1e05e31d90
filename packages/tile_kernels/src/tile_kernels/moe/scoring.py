"""Scoring functions of the gates (tile_kernels.md section 5)."""

from __future__ import annotations

from enum import IntEnum

from tile_kernels.errors import TileKernelsValueError

__all__ = ["ScoringFunc"]


class ScoringFunc(IntEnum):
    """How logits become scores; `str()` gives the lower-case name."""

    SIGMOID = 0
    SQRTSOFTPLUS = 1
    SOFTMAX = 2
    IDENTITY = 3

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def from_str(cls, name: str) -> ScoringFunc:
        """Returns the function of a lower-case name.

        Raises:
            TileKernelsValueError: an unknown name.
        """
        for item in cls:
            if str(item) == name:
                return item
        allowed = ", ".join(repr(str(item)) for item in cls)
        raise TileKernelsValueError(f"scoring function got {name!r}; allowed: {allowed}")
