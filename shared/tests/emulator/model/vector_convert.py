"""Conversions between element types, from ascend_c_vector.md sections 9.2 to 9.4, and the names of
section 9.3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import formats as fmt

ALL5 = ("rn", "rna", "rd", "ru", "rz")
NONE = ("",)
HIF8 = ("rna", "rh")

# from, to, roundings, saturating form, parts
TABLE = (
    ("float", "half", (*ALL5, "ro"), True, 2),
    ("float", "bfloat16", ALL5, True, 2),
    ("float", "int16", ALL5, True, 2),
    ("float", "int32", ALL5, True, 1),
    ("float", "int64", ALL5, True, 2),
    ("float", "e4m3", ("rn",), True, 4),
    ("float", "e5m2", ("rn",), True, 4),
    ("float", "hif8", HIF8, True, 4),
    ("half", "float", NONE, False, 2),
    ("half", "bfloat16", ALL5, False, 1),
    ("half", "int32", ALL5, False, 2),
    ("half", "int16", ALL5, True, 1),
    ("half", "int8", ALL5, True, 2),
    ("half", "uint8", ALL5, True, 2),
    ("half", "hif8", HIF8, True, 2),
    ("half", "int4x2", ALL5, True, 4),
    ("bfloat16", "float", NONE, False, 2),
    ("bfloat16", "half", ALL5, True, 1),
    ("bfloat16", "int32", ALL5, True, 2),
    ("bfloat16", "e2m1x2", ALL5, False, 4),
    ("bfloat16", "e1m2x2", ALL5, False, 4),
    ("e2m1x2", "bfloat16", NONE, False, 4),
    ("e1m2x2", "bfloat16", NONE, False, 4),
    ("e4m3", "float", NONE, False, 4),
    ("e5m2", "float", NONE, False, 4),
    ("hif8", "float", NONE, False, 4),
    ("hif8", "half", NONE, False, 2),
    ("int8", "half", NONE, False, 2),
    ("uint8", "half", NONE, False, 2),
    ("int8", "int16", NONE, False, 2),
    ("uint8", "uint16", NONE, False, 2),
    ("int8", "int32", NONE, False, 4),
    ("uint8", "uint32", NONE, False, 4),
    ("int16", "half", ALL5, False, 1),
    ("int16", "float", NONE, False, 2),
    ("int16", "int32", NONE, False, 2),
    ("int16", "uint32", NONE, False, 2),
    ("uint16", "uint32", NONE, False, 2),
    ("int16", "uint8", NONE, True, 2),
    ("uint16", "uint8", NONE, True, 2),
    ("int16", "int4x2", NONE, True, 4),
    ("int32", "float", ALL5, False, 1),
    ("int32", "int16", NONE, True, 2),
    ("int32", "uint16", NONE, True, 2),
    ("uint32", "int16", NONE, True, 2),
    ("uint32", "uint16", NONE, True, 2),
    ("int32", "uint8", NONE, True, 4),
    ("uint32", "uint8", NONE, True, 4),
    ("int32", "int64", NONE, False, 2),
    ("int64", "float", ALL5, False, 2),
    ("int64", "int32", NONE, True, 2),
    ("int4x2", "half", NONE, False, 4),
    ("int4x2", "bfloat16", NONE, False, 4),
    ("int4x2", "int16", NONE, False, 4),
)

# name -> bits, kind, C++ type
TYPES = {
    "float": (32, "f32", "float"),
    "half": (16, "f16", "half"),
    "bfloat16": (16, "bf16", "bfloat16_t"),
    "e4m3": (8, "e4m3", "fp8_e4m3fn_t"),
    "e5m2": (8, "e5m2", "fp8_e5m2_t"),
    "hif8": (8, "hif8", "hifloat8_t"),
    "e8m0": (8, "e8m0", "fp8_e8m0_t"),
    "e2m1x2": (4, "e2m1", "fp4x2_e2m1_t"),
    "e1m2x2": (4, "e1m2", "fp4x2_e1m2_t"),
    "int4x2": (4, "i4", "int4x2_t"),
    "int8": (8, "i8", "int8_t"),
    "uint8": (8, "u8", "uint8_t"),
    "int16": (16, "i16", "int16_t"),
    "uint16": (16, "u16", "uint16_t"),
    "int32": (32, "i32", "int32_t"),
    "uint32": (32, "u32", "uint32_t"),
    "int64": (64, "i64", "int64_t"),
}


@dataclass(frozen=True)
class Conversion:
    """One function of section 9.3."""

    source: str
    target: str
    rounding: str
    saturate: bool
    parts: int

    @property
    def name(self) -> str:
        """The function's name, without the suffix of a part."""
        rounding = f"_{self.rounding}" if self.rounding else ""
        return f"asc_{self.source}2{self.target}{rounding}{'_sat' if self.saturate else ''}"

    def registers(self, source: np.ndarray, part: int, keep_nan: bool = False) -> np.ndarray:
        """Destination bytes for rows of 256 source bytes, all lanes active."""
        codes = to_codes(source, TYPES[self.source][0])
        bits, target_bits = TYPES[self.source][0], TYPES[self.target][0]
        lanes = np.zeros((len(source), 2048 // target_bits), np.int64)
        if 4 in (bits, target_bits):
            # Pairs of 16-bit elements share the byte 4k + p.
            wide = np.arange(128)
            nibble = wide // 2 * 8 + part * 2 + wide % 2
            if target_bits == 4:
                lanes[:, nibble] = self.codes(codes, keep_nan)
            else:
                lanes[:] = self.codes(codes[:, nibble], keep_nan)
        elif bits >= target_bits:
            lanes[:, part :: bits // target_bits] = self.codes(codes, keep_nan)
        else:
            lanes[:] = self.codes(codes[:, part :: target_bits // bits], keep_nan)
        return to_bytes(lanes, target_bits)

    def codes(self, codes: np.ndarray, keep_nan: bool = False) -> np.ndarray:
        """Target codes of source codes."""
        kind = TYPES[self.source][1]
        target = TYPES[self.target][1]
        if target == "hif8":
            hybrid = self.rounding == "rh"
            return fmt.to_hif8(values(codes, kind), codes, kind, hybrid, self.saturate)
        if target == "e8m0":
            return _to_e8m0(codes)
        if kind[0] in "iu" and target[0] in "iu":
            return _int_to_int(values(codes, kind), target, self.saturate or self.widens)
        if target[0] in "iu":
            return _float_to_int(values(codes, kind), target, self.rounding, self.saturate)
        if target == "f32":
            return _to_f32(values(codes, kind), self.rounding)
        x = values(codes, kind).astype(np.float64)
        return fmt.formats()[target].encode(x, self.rounding or "rn", self.saturate, keep_nan)

    @property
    def widens(self) -> bool:
        """Whether the target has at least the source's width: then values are clamped."""
        return TYPES[self.target][0] >= TYPES[self.source][0]


def conversions() -> tuple[Conversion, ...]:
    """Returns all functions of section 9.3."""
    return tuple(
        Conversion(source, target, rounding, saturate, parts)
        for source, target, roundings, has_sat, parts in TABLE
        for rounding in roundings
        for saturate in ((False, True) if has_sat else (False,))
    )


def to_codes(rows: np.ndarray, bits: int) -> np.ndarray:
    """Codes in rows of bytes; 4-bit elements, the low nibble first."""
    if bits == 4:
        return np.stack([rows & 15, rows >> 4], -1).reshape(len(rows), -1).astype(np.int64)
    return rows.view(f"u{bits // 8}").astype(np.int64)


def to_bytes(codes: np.ndarray, bits: int) -> np.ndarray:
    """Rows of bytes that hold codes."""
    if bits == 4:
        return (codes[:, 0::2] & 15 | (codes[:, 1::2] & 15) << 4).astype(np.uint8)
    return np.ascontiguousarray(codes.astype(f"u{bits // 8}")).view(np.uint8)


def values(codes: np.ndarray, kind: str) -> np.ndarray:
    """Values of codes: float64, or int64 for integers."""
    if kind == "f32":
        with np.errstate(invalid="ignore"):
            return codes.astype(np.uint32).view(np.float32).astype(np.float64)
    if kind == "e8m0":
        return fmt.e8m0_value(codes)
    if kind[0] in "iu":
        bits = int(kind[1:])
        if kind[0] == "u" or bits == 64:
            return codes
        return (codes ^ (1 << (bits - 1))) - (1 << (bits - 1))
    return fmt.formats()[kind].values()[codes]


def limits(kind: str) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    bits = int(kind[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)


def _int_to_int(x: np.ndarray, kind: str, clamp: bool) -> np.ndarray:
    low, high = limits(kind)
    return _wrapped(np.clip(x, low, high) if clamp else x, kind)


def _wrapped(x: np.ndarray, kind: str) -> np.ndarray:
    bits = int(kind[1:])
    return x if bits == 64 else x & ((1 << bits) - 1)


def round_float(x: np.ndarray, rounding: str) -> np.ndarray:
    """Integer-valued float64 of float64."""
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    small = np.abs(x) < 2.0**51
    return {
        "rn": np.rint(x),
        "rna": np.where(small, away, x),
        "rd": np.floor(x),
        "ru": np.ceil(x),
        "rz": np.trunc(x),
    }[rounding]


def _float_to_int(x: np.ndarray, kind: str, rounding: str, saturate: bool) -> np.ndarray:
    low, high = limits(kind)
    bits = int(kind[1:])
    finite = np.isfinite(x)
    whole = round_float(np.where(finite, x, 0.0), rounding)
    # The low bits, in two exact pieces.
    rest = np.fmod(whole, 2.0**bits)
    top = np.trunc(rest / 2.0**32)
    result = _wrapped((top.astype(np.int64) << 32) + (rest - top * 2.0**32).astype(np.int64), kind)
    limit = np.where(x > 0, high, _wrapped(np.int64(low), kind))
    if saturate:
        result = np.where((whole >= float(high + 1)) | (whole < low), limit, result)
    result = np.where(np.isinf(x), limit, result)
    return np.where(np.isnan(x), 0, result)


def _to_f32(x: np.ndarray, rounding: str) -> np.ndarray:
    if x.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            codes = x.astype(np.float32).view(np.uint32).astype(np.int64)
        return np.where(np.isnan(x), 0x7FC00000, codes)
    sign = np.where(x < 0, -1, 1)
    magnitude = np.abs(x)
    # The largest power of two for which 24 bits are enough; frexp of a float64 may round up.
    length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    length -= magnitude < (np.int64(1) << np.maximum(length - 1, 0))
    unit = np.int64(1) << np.maximum(length - 24, 0)
    kept, rest = magnitude // unit, magnitude % unit
    up = {
        "rn": (2 * rest > unit) | ((2 * rest == unit) & (kept % 2 == 1)),
        "rna": (2 * rest >= unit) & (rest > 0),
        "rd": (sign < 0) & (rest > 0),
        "ru": (sign > 0) & (rest > 0),
        "rz": rest < 0,
    }[rounding or "rn"]
    exact = (sign * (kept + up)).astype(np.float64) * unit
    return exact.astype(np.float32).view(np.uint32).astype(np.int64)


def _to_e8m0(codes: np.ndarray) -> np.ndarray:
    magnitude = codes & 0x7FFF
    return np.where(magnitude > 0x7F80, 0xFF, np.where(magnitude >= 0x7F80, 0xFE, magnitude >> 7))
