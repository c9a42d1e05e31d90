"""What happens to the fp32 accumulator before D is written (deep_gemm.md section 1.7)."""

from __future__ import annotations

import math
import struct
from typing import SupportsFloat

from deep_gemm.errors import DeepGemmTypeError, DeepGemmValueError

__all__ = ["Alpha", "Epilogue", "Identity"]

MAX_FP32 = (2 - 2.0**-23) * 2.0**127


class Epilogue:
    """Base of the epilogues; pass an instance of a subclass as `epilogue=`."""


class Identity(Epilogue):
    """D = accumulator, rounded to D's dtype; what a GEMM does when nothing is given."""

    def __repr__(self) -> str:
        return "Identity()"


class Alpha(Epilogue):
    """D = alpha * accumulator in fp32, then rounded to D's dtype; C is added afterwards.

    Args:
        alpha: factor, rounded to fp32.
    """

    def __init__(self, alpha: SupportsFloat) -> None:
        self.alpha = to_fp32(alpha)

    def __repr__(self) -> str:
        return f"Alpha({self.alpha!r})"


def to_fp32(alpha: object) -> float:
    """`alpha` as a float inside fp32's range; infinities and NaN pass.

    Raises:
        DeepGemmTypeError: not a real number.
        DeepGemmValueError: finite, but beyond fp32.
    """
    # NOTE: a plain float takes no slow protocol check; it is the hot path of every scaled GEMM
    if type(alpha) is float and -MAX_FP32 <= alpha <= MAX_FP32:
        return alpha
    if isinstance(alpha, (bool, str, bytes)) or not isinstance(alpha, SupportsFloat):
        raise DeepGemmTypeError(
            f"alpha is {type(alpha).__name__}; allowed: a real number, for example alpha=0.5"
        )
    value = float(alpha)
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        struct.pack("<f", value)
    except OverflowError:
        raise DeepGemmValueError(
            f"alpha={value!r} does not fit fp32; allowed: magnitudes up to 3.4028235e+38; "
            "scale the operands instead"
        ) from None
    return value
