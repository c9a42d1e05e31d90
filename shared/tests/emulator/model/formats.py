"""Number formats as tables of values, built from the definitions of ascend_c_vector.md 9.5 and 9.6.

Rounding is a search in such a table, so nothing here shares code or ideas with the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

ROUNDINGS = ("rn", "rna", "rd", "ru", "rz", "ro")


@dataclass(frozen=True)
class Format:
    """A floating-point format of at most 16 bits.

    Attributes:
        name: short name.
        bits: width of a code, the sign on top.
        magnitudes: value of every finite code without sign, ascending; exact in float64.
        beyond: where the next value would be, if the format went on.
        inf: code of infinity; None when there is none.
        nan: code of NaN; None when there is none.
        signed_nan: whether the codes with a sign and beyond infinity are NaN too.
        clamps: overflow gives the largest value always.
        keeps_nan: CTRL[50] keeps NaN in saturating conversions.
    """

    name: str
    bits: int
    magnitudes: np.ndarray
    beyond: float
    inf: int | None
    nan: int | None
    clamps: bool = False
    keeps_nan: bool = False

    def values(self) -> np.ndarray:
        """Returns the value of every code as float64."""
        half = 1 << (self.bits - 1)
        positive = np.full(half, np.nan)
        positive[: len(self.magnitudes)] = self.magnitudes
        if self.inf is not None:
            positive[self.inf] = np.inf
        values = np.concatenate([positive, -positive])
        if self.name == "hif8":
            values[0x80] = np.nan
        return values

    def encode(self, x: np.ndarray, rounding: str, saturate: bool, keep: bool = False):
        """Returns the codes of float64 values (exact inputs)."""
        sign = np.signbit(x)
        magnitude = np.abs(x)
        grid = np.append(self.magnitudes, self.beyond)
        low = np.searchsorted(grid, magnitude, side="right") - 1
        low = np.clip(low, 0, len(grid) - 2)
        below, above = grid[low], grid[low + 1]
        inexact = magnitude > below
        with np.errstate(invalid="ignore"):
            to_low, to_high = magnitude - below, above - magnitude
        up = {
            "rn": (to_low > to_high) | ((to_low == to_high) & (low % 2 == 1)),
            "rna": to_low >= to_high,
            "rd": sign & inexact,
            "ru": ~sign & inexact,
            "rz": np.zeros(x.shape, bool),
            "ro": inexact & (low % 2 == 0),
        }[rounding]
        code = low + (up & inexact)
        top = len(self.magnitudes) - 1
        over = (code > top) | (magnitude >= self.beyond)
        if saturate or self.clamps:
            code = np.where(over, top, code)
        else:
            code = np.where(over, self.inf if self.inf is not None else self.nan, code)
        code = code | (sign.astype(np.int64) << (self.bits - 1))
        nan = self.nan or 0
        if (saturate and not (keep and self.keeps_nan)) or self.clamps:
            nan = 0
        return np.where(np.isnan(x), nan, code)


def _binary(name: str, exponent: int, mantissa: int, bias: int, last: int, **rest) -> Format:
    """Sign, exponent, mantissa; `last` is the code of the largest finite value."""
    codes = np.arange(last + 2)
    e, m = codes >> mantissa, codes & ((1 << mantissa) - 1)
    scale = 2.0 ** (np.maximum(e, 1).astype(np.float64) - bias - mantissa)
    values = (m + np.where(e > 0, 1 << mantissa, 0)) * scale
    return Format(name, 1 + exponent + mantissa, values[:-1], float(values[-1]), **rest)


def _hif8_value(code: int) -> float:
    """The tapered format: prefix, then a signed exponent, then the mantissa."""
    bits = f"{code:07b}"
    for prefix, exponent_bits, mantissa_bits in (
        ("11", 4, 1),
        ("10", 3, 2),
        ("01", 2, 3),
        ("001", 1, 3),
        ("0001", 0, 3),
    ):
        if bits.startswith(prefix):
            rest = bits[len(prefix) :]
            field, mantissa = rest[:exponent_bits], int(rest[exponent_bits:], 2)
            assert len(rest) == exponent_bits + mantissa_bits
            # The exponent's magnitude has a leading 1 that is not stored.
            magnitude = int("1" + field[1:], 2) if field else 0
            exponent = -magnitude if field.startswith("1") else magnitude
            return 2.0**exponent * (1 + mantissa / (1 << mantissa_bits))
    mantissa = int(bits[4:], 2)
    return 2.0 ** (mantissa - 23) if mantissa else 0.0


@cache
def formats() -> dict[str, Format]:
    """Returns all formats by name; hif8 is ordered by value, not by code."""
    hif8 = np.array([_hif8_value(c) for c in range(0x80)])
    hif8[0x6F] = np.inf
    return {
        "f16": _binary("f16", 5, 10, 15, 0x7BFF, inf=0x7C00, nan=0x7E00),
        "bf16": _binary("bf16", 8, 7, 127, 0x7F7F, inf=0x7F80, nan=0x7FC0),
        "e4m3": _binary("e4m3", 4, 3, 7, 0x7E, inf=None, nan=0x7F, keeps_nan=True),
        "e5m2": _binary("e5m2", 5, 2, 15, 0x7B, inf=0x7C, nan=0x7F, keeps_nan=True),
        "e2m1": _binary("e2m1", 2, 1, 1, 7, inf=None, nan=None, clamps=True),
        "e1m2": _binary("e1m2", 1, 2, 1, 7, inf=None, nan=None, clamps=True),
        "hif8": Format("hif8", 8, hif8, np.inf, 0x6F, 0x80),
    }


def e8m0_value(code: np.ndarray) -> np.ndarray:
    """2^(code - 127), 255 is NaN."""
    return np.where(code == 255, np.nan, 2.0 ** (code.astype(np.float64) - 127))


def to_hif8(x: np.ndarray, bits: np.ndarray, source: str, hybrid: bool, saturate: bool):
    """Section 9.7, step by step.

    Args:
        x: values.
        bits: their codes in the source format.
        source: "f32" or "f16".
        hybrid: threshold rounding; else half away from zero.
        saturate: the form with `_sat`.
    """
    finite = np.where(np.isfinite(x), np.abs(x), 0.0)
    significand, exponent = np.frexp(finite)
    exponent = exponent.astype(np.int64) - 1
    # The fraction as 40 bits behind the point, exact for both sources.
    fraction = ((significand * 2 - 1) * (1 << 40)).astype(np.int64)
    width = 14 if source == "f32" else 2
    threshold = bits & 0x3FFF if source == "f32" else ((bits & 1) << 1) | 1
    size = np.abs(exponent)
    keep = np.select([exponent < -15, size <= 3, size <= 7], [0, 3, 2], 1)
    discarded = fraction & ((np.int64(1) << (40 - keep)) - 1)
    away = discarded >> (40 - keep - 1) == 1
    above = discarded >> (40 - keep - width) >= threshold
    up = np.where(hybrid & (size > 3), above, away)
    # A value of the grid, or one behind its end; after a carry the next exponent may keep fewer
    # bits, but its mantissa is 0.
    unit = 2.0 ** (exponent - keep)
    value = 2.0**exponent + ((fraction >> (40 - keep)) + up) * unit
    grid = np.array([_hif8_value(c) if c != 0x6F else np.inf for c in range(0x80)])
    order = np.argsort(grid)
    place = np.searchsorted(grid[order], value)
    code = order[np.minimum(place, 0x7F)]
    exact = grid[code] == value
    over = (exponent > 15) | ~exact | np.isinf(x)
    smallest = (1 << (width - 1)) | (fraction >> (40 - (width - 1)))
    first = (not hybrid) | (smallest >= threshold)
    sign = np.where(np.signbit(x), 0x80, 0)
    result = sign | np.where(over, 0x6E if saturate else 0x6F, code)
    result = np.where(exponent == -23, np.where(first, sign | 1, 0), result)
    result = np.where((exponent < -23) | (x == 0), 0, result)
    result = np.where(np.isinf(x), sign | (0x6E if saturate else 0x6F), result)
    return np.where(np.isnan(x), 0 if saturate else 0x80, result)
