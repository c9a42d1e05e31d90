"""Exact arithmetic: rounding of rational numbers to a binary format."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

# format -> bits of precision, exponent of the smallest normal number, largest exponent
_FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127)}


def to_nearest(q: Fraction, kind: str) -> float:
    """Returns the nearest number of a format, ties to even; overflow is infinite."""
    bits, least, most = _FORMATS[kind]
    if q == 0:
        return 0.0
    magnitude = abs(q)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - bits + 1)
    kept, rest = divmod(magnitude, unit)
    if 2 * rest > unit or (2 * rest == unit and kept % 2 == 1):
        kept += 1
    value = kept * unit
    if value >= Fraction(2) ** (most + 1):
        return float("inf") if q > 0 else float("-inf")
    return float(value if q > 0 else -value)


def fused(a: float, b: float, c: float, kind: str) -> float:
    """a * b + c with one rounding; zeros, infinities and NaN as IEEE 754 has them."""
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if a * b == 0 else 0.0
    rounded = to_nearest(exact, kind)
    return rounded if rounded != 0 else float(np.copysign(0.0, float(np.sign(exact.numerator))))
