"""Expressions of the number formats, shared by the SIMT code of all quantisation kernels.

Each function builds a TileLang expression; nothing here runs by itself (tile_kernels.md section 3).
"""

from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

__all__ = [
    "MAX_VALUE", "abs_bits", "as_e4m3", "bits_of", "decode_e2m1", "encode_e2m1", "exponent_scale",
    "float_of", "inverse_of_exponent", "is_nan", "rounded_up_exponent", "saturated", "stochastic",
    "uniform",
]  # fmt: skip

MAX_VALUE = {"e4m3": 448.0, "e2m1": 6.0}
_E2M1_STEPS = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)  # midpoints; each second tie goes up


def bits_of(value: Any) -> Any:
    """The bits of a float32 as int32."""
    return T.reinterpret(value, "int32")


def float_of(bits: Any) -> Any:
    """The float32 of int32 bits."""
    return T.reinterpret(bits, "float32")


def abs_bits(value: Any) -> Any:
    """The bits of |value|: they order as the values do, NaN above infinity."""
    return bits_of(value) & 0x7FFFFFFF


def is_nan(value: Any) -> Any:
    """Whether a float32 is NaN; a comparison with itself would be simplified away."""
    return abs_bits(value) > 0x7F800000


def saturated(value: Any, largest: float) -> Any:
    """The value clamped to +-largest; NaN stays NaN."""
    upper = T.if_then_else(value > largest, T.float32(largest), value)
    return T.if_then_else(value < -largest, T.float32(-largest), upper)


def rounded_up_exponent(scale: Any) -> Any:
    """The biased exponent of the power of two not below a positive scale; 255 for inf and NaN."""
    return T.min(((bits_of(scale) - 1) >> 23) + 1, 255)


def exponent_scale(exponent: Any) -> Any:
    """2 ** (exponent - 127); 0 for exponent 0, infinity for 255."""
    return float_of(exponent << 23)


def inverse_of_exponent(exponent: Any) -> Any:
    """1 / exponent_scale(exponent); 0 for 254 and 255."""
    return float_of(T.max(254 - exponent, 0) << 23)


def encode_e2m1(value: Any) -> Any:
    """The 4-bit code (int32) of a float32, ties to the even code; NaN gives code 0."""
    magnitude = T.abs(value)
    code: Any = T.int32(0)
    for index, step in enumerate(_E2M1_STEPS):
        above = magnitude >= step if index % 2 else magnitude > step
        code = code + T.cast(above, "int32")
    sign = (bits_of(value) >> 28) & 8
    return T.if_then_else(is_nan(value), 0, code | sign)


def decode_e2m1(code: Any) -> Any:
    """The float32 of a 4-bit code (int32)."""
    exponent = (code >> 1) & 3
    normal = ((exponent + 126) << 23) | ((code & 1) << 22)
    tiny = (code & 1) * 0x3F000000
    return float_of(T.if_then_else(exponent == 0, tiny, normal) | ((code & 8) << 28))


def as_e4m3(value: Any) -> Any:
    """The e4m3 number nearest to a float32, which must not be above 448; NaN stays NaN.

    NOTE: the conversion of the hardware saturates and turns NaN into 0.
    """
    nan = T.reinterpret(T.uint8(0x7F), "float8_e4m3fn")
    return T.if_then_else(is_nan(value), nan, T.cast(value, "float8_e4m3fn"))


def uniform(index: Any, value: Any) -> Any:
    """24 random bits (uint32) that depend on an element's position and value only."""
    mixed = T.cast(index, "uint32") * T.uint32(0x9E3779B9) ^ T.reinterpret(value, "uint32")
    mixed = (mixed ^ (mixed >> T.uint32(16))) * T.uint32(0x7FEB352D)
    mixed = (mixed ^ (mixed >> T.uint32(15))) * T.uint32(0x846CA68B)
    return (mixed ^ (mixed >> T.uint32(16))) >> T.uint32(8)


def stochastic(value: Any, random: Any, fmt: str) -> Any:
    """A neighbour of a saturated value in the format; the nearer one is the more likely."""
    mantissa, tiny = (3, 127 - 6) if fmt == "e4m3" else (1, 127)
    exponent = T.max((bits_of(value) >> 23) & 0xFF, tiny)
    step = float_of((exponent - mantissa) << 23)
    scaled = T.abs(value) * float_of((254 - exponent + mantissa) << 23)
    low = T.floor(scaled)
    up = T.cast(random, "float32") * T.float32(2.0**-24) < scaled - low
    magnitude = (low + T.cast(up, "float32")) * step
    return float_of(bits_of(magnitude) | (bits_of(value) & T.int32(-0x80000000)))
