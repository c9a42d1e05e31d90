"""Operand layouts and products of the matrix unit (ascend_c_cube.md sections 4 and 10)."""

from __future__ import annotations

import math

import numpy as np

from .types import TYPES


def hif8_value(code: int) -> float:
    """Value of a hif8 code (ascend_c_vector.md section 9.6)."""
    sign = -1.0 if code & 0x80 else 1.0
    body = code & 0x7F
    if body == 0:
        return math.nan if code & 0x80 else 0.0
    if body == 0x6F:
        return sign * math.inf
    bits = f"{body:07b}"
    for prefix, exponent_bits, mantissa_bits in (
        ("11", 4, 1),
        ("10", 3, 2),
        ("01", 2, 3),
        ("001", 1, 3),
        ("0001", 0, 3),
        ("0000", -1, 3),
    ):
        if not bits.startswith(prefix):
            continue
        rest = bits[len(prefix) :]
        if exponent_bits < 0:
            return sign * 2.0 ** (int(rest, 2) - 23)
        field, mantissa = rest[:exponent_bits], int(rest[exponent_bits:], 2)
        exponent = int("1" + field[1:], 2) * (-1 if field[:1] == "1" else 1) if field else 0
        return sign * 2.0**exponent * (1 + mantissa / 2**mantissa_bits)
    raise AssertionError(code)


HIF8 = np.array([hif8_value(c) for c in range(256)])
E1M2 = np.array([(-1) ** (c >> 3) * (c & 7) / 4 for c in range(16)])


def decode(codes: np.ndarray, name: str) -> np.ndarray:
    """float64 values of integer codes."""
    if name == "hif8":
        return HIF8[codes]
    if name == "e1m2":
        return E1M2[codes]
    kind = TYPES[name]
    width = {4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}[kind.bits]
    return codes.astype(width).view(kind.dtype).astype(np.float64)


def nz_image(codes: np.ndarray, bits: int, junk: int) -> np.ndarray:
    """L0 bytes of [rows, K] codes: 16-row fractals, 32 bytes along K; padding holds `junk`."""
    rows, k = codes.shape
    c0 = 256 // bits
    padded = np.full((-(-rows // 16) * 16, -(-k // c0) * c0), junk, np.uint32)
    padded[:rows, :k] = codes
    image = np.zeros(padded.shape[0] * padded.shape[1] * bits // 8, np.uint8)
    for column in range(padded.shape[1] // c0):
        part = padded[:, column * c0 : (column + 1) * c0]
        if bits == 4:
            data = (part[:, 0::2] | part[:, 1::2] << 4).astype(np.uint8)
        else:
            data = part.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).view(np.uint8)
        start = column * padded.shape[0] * 32
        image[start : start + data.size] = data.reshape(-1)
    return image


def scale_image(scales: np.ndarray) -> np.ndarray:
    """L0A_MX / L0B_MX bytes of [rows, K/32] scale codes (section 4)."""
    rows, groups = scales.shape
    pairs = groups // 2
    image = np.zeros(-(-rows // 16) * pairs * 32, np.uint8)
    for row in range(rows):
        for g in range(groups):
            image[row // 16 * pairs * 32 + g // 2 * 32 + row % 16 * 2 + g % 2] = scales[row, g]
    return image


def c_matrix(l0c: np.ndarray, m: int, n: int, dtype: type) -> np.ndarray:
    """[M, N] of the accumulator's fractals."""
    values = l0c.view(dtype)
    mp = -(-m // 16) * 16
    rows, cols = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
    return values[cols // 16 * mp * 16 + rows * 16 + cols % 16]


def hf32(values: np.ndarray, ties_away: bool) -> np.ndarray:
    """fp32 values rounded to 10 mantissa bits."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    half = np.uint64(0x1000)
    up = half if ties_away else half - np.uint64(1) + ((bits >> np.uint64(13)) & np.uint64(1))
    rounded = ((bits + up) >> np.uint64(13)) << np.uint64(13)
    return rounded.astype(np.uint32).view(np.float32)
