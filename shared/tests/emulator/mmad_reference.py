"""An independent reference for the mmad numerics (ascend_c_cube.md sections 4, 10 and 17).

Values are float64 arrays (every operand format is exact in it); a fused multiply-add in fp32 is a
float64 product, which is exact, and a float64 sum rounded to odd. `fma_by_fractions` does one step
with rational numbers and checks that argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.unsignedinteger[Any]]
Doubles = npt.NDArray[np.float64]

CANONICAL_NAN = 0x7FC00000


def _e1m2_value(code: int) -> float:
    return (-1.0 if code & 8 else 1.0) * (code & 7) * 0.25


def _hif8_value(code: int) -> float:
    """From the bit string: the dot prefix, then exponent and mantissa digits."""
    if code in (0x00, 0x80):
        return 0.0 if code == 0 else math.nan
    sign = -1.0 if code & 0x80 else 1.0
    digits = f"{code & 0x7F:07b}"
    if digits == "1101111":
        return sign * math.inf
    prefixes = {"11": 4, "10": 3, "01": 2, "001": 1, "0001": 0}
    for prefix, num_exponent in prefixes.items():
        if digits.startswith(prefix):
            rest = digits[len(prefix) :]
            exponent_digits, mantissa_digits = rest[:num_exponent], rest[num_exponent:]
            exponent = 0
            if exponent_digits:
                exponent = int("1" + exponent_digits[1:], 2)
                exponent = -exponent if exponent_digits[0] == "1" else exponent
            fraction = 1 + int(mantissa_digits, 2) / 2 ** len(mantissa_digits)
            return sign * math.ldexp(fraction, exponent)
    return math.ldexp(sign, int(digits[4:], 2) - 23)


def _table(dtype: Any, count: int) -> Doubles:
    values: Doubles = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float64)
    return values


@dataclass(frozen=True)
class Format:
    """An operand format: the number in `enum class Element`, its width and its values."""

    name: str
    number: int
    bits: int
    values: Doubles | None = field(default=None, repr=False, compare=False)

    @property
    def piece(self) -> int:
        """Elements in 32 bytes (C0)."""
        return 256 // self.bits

    @property
    def code_dtype(self) -> Any:
        """Unsigned integers that hold a code."""
        return {32: np.uint32, 16: np.uint16}.get(self.bits, np.uint8)

    def decode(self, codes: Codes) -> Doubles:
        """Codes to values."""
        if self.values is not None:
            return self.values[codes]
        real: Any = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}[self.name]
        with np.errstate(invalid="ignore"):
            values: Doubles = np.ascontiguousarray(codes).view(real).astype(np.float64)
            return values


with np.errstate(invalid="ignore"):
    FORMATS = {
        item.name: item
        for item in (
            Format("bf16", 0, 16),
            Format("f16", 1, 16),
            Format("f32", 2, 32),
            Format("i8", 3, 8, np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float64)),
            Format("e4m3", 4, 8, _table(ml_dtypes.float8_e4m3fn, 256)),
            Format("e5m2", 5, 8, _table(ml_dtypes.float8_e5m2, 256)),
            Format("hif8", 6, 8, np.array([_hif8_value(code) for code in range(256)])),
            Format("e2m1", 7, 4, _table(ml_dtypes.float4_e2m1fn, 16)),
            Format("e1m2", 8, 4, np.array([_e1m2_value(code) for code in range(16)])),
        )
    }


def ceil16(count: int) -> int:
    """`count` rounded up to a multiple of 16."""
    return -(-count // 16) * 16


def nz_bytes(codes: Codes, fmt: Format, poison: int) -> Bytes:
    """Rows by k in the layout of L0A (and of L0B for columns by k); the padding is `poison`."""
    rows, k = codes.shape
    row, k_idx = np.indices((rows, k))
    piece = -(-k // fmt.piece)
    out = np.full(piece * ceil16(rows) * 32, poison, np.uint8)
    base = (k_idx // fmt.piece * ceil16(rows) + row) * 32
    in_piece = k_idx % fmt.piece
    if fmt.bits == 4:
        byte = base + in_piece // 2
        for half in (0, 1):
            pick = in_piece % 2 == half
            keep = 0xF0 if half == 0 else 0x0F
            nibble = (codes[pick] << (4 * half)).astype(np.uint8)
            out[byte[pick]] = (out[byte[pick]] & keep) | nibble
        return out
    size = fmt.bits // 8
    parts = np.ascontiguousarray(codes.astype(fmt.code_dtype)).view(np.uint8)
    for i in range(size):
        out[base + in_piece * size + i] = parts.reshape(rows, k, size)[:, :, i]
    return out


def scale_bytes(scales: Bytes, k: int, poison: int) -> Bytes:
    """Scales `[rows, k / 32]` in the layout of L0A_MX and L0B_MX."""
    rows, blocks = scales.shape
    row, block = np.indices((rows, blocks))
    fractals = -(-k // 64)
    out = np.full(ceil16(rows) // 16 * fractals * 32, poison, np.uint8)
    out[(row // 16 * fractals + block // 2) * 32 + row % 16 * 2 + block % 2] = scales
    return out


def c_offsets(m: int, n: int) -> npt.NDArray[np.intp]:
    """Word offset of C(m, n) in L0C."""
    row, column = np.indices((m, n))
    return (column // 16 * ceil16(m) + row) * 16 + column % 16


def round_hf32(values: Doubles, *, ties_away: bool) -> Doubles:
    """fp32 values to 11 significant bits (or multiples of 2^-136 below the normal range)."""
    out = values.copy()
    finite = np.isfinite(values) & (values != 0)
    exponent = np.maximum(np.frexp(values[finite])[1] - 1, -126)
    step = np.ldexp(1.0, exponent - 10)
    ratio = np.abs(values[finite] / step)
    rounded = np.floor(ratio + 0.5) if ties_away else np.rint(ratio)
    out[finite] = np.copysign(rounded * step, values[finite])
    out[np.abs(out) >= 2.0**128] *= np.inf
    return out


def fma(a: Doubles, b: Doubles, c: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """One fused multiply-add in fp32."""
    with np.errstate(all="ignore"):
        product = a * b
        addend = c.astype(np.float64)
        total = product + addend
        back = total - product
        error = (product - (total - back)) + (addend - back)
        fix = np.isfinite(error) & (error != 0) & (total.view(np.int64) & 1 == 0)
        towards = np.where(error > 0, np.inf, -np.inf)
        return np.where(fix, np.nextafter(total, towards), total).astype(np.float32)


def fma_by_fractions(a: float, b: float, c: float) -> np.float32:
    """The same for finite scalars, with rational numbers and one explicit rounding."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        zeros = math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c)
        both_negative = Fraction(a) * Fraction(b) == 0 and c == 0 and zeros == (-1.0, -1.0)
        return np.float32(-0.0 if both_negative else 0.0)
    magnitude = abs(exact)
    exponent = math.floor(math.log2(magnitude.numerator) - math.log2(magnitude.denominator))
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(magnitude / step) * step  # ties to even
    value = math.inf if rounded >= Fraction(2) ** 128 else float(rounded)
    return np.float32(math.copysign(value, 1.0 if exact > 0 else -1.0))


def multiply(a: Doubles, b: Doubles, init: npt.NDArray[np.float32]) -> npt.NDArray[np.uint32]:
    """Bits of `init + a @ b.T` in ascending k, for a `[m, k]` and b `[n, k]`."""
    acc = init.copy()
    for k_idx in range(a.shape[1]):
        acc = fma(a[:, k_idx, None], b[None, :, k_idx], acc)
    bits = acc.view(np.uint32).copy()
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        bits[np.isnan(acc)] = CANONICAL_NAN
    return bits


def multiply_i8(a: Doubles, b: Doubles, init: npt.NDArray[np.int32]) -> npt.NDArray[np.uint32]:
    """Bits of the int32 result, modulo 2^32."""
    total = init.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64).T
    return (total & 0xFFFFFFFF).astype(np.uint32)
