"""Values and index formulas of Fixpipe (ascend_c_cube.md section 9)."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .mmad import HIF8
from .types import TYPES

# QuantMode_t: number, source, scaled, one parameter a column.
MODES = {
    "NoQuant": (0, None, False, False),
    "F322F16": (1, "f32", False, False),
    "F322BF16": (16, "f32", False, False),
    "DEQF16": (5, "i32", True, False),
    "VDEQF16": (4, "i32", True, True),
    "REQ8": (3, "i32", True, False),
    "VREQ8": (2, "i32", True, True),
    "REQ4": (19, "i32", True, False),
    "VREQ4": (20, "i32", True, True),
    "QF322B8": (24, "f32", True, False),
    "VQF322B8": (23, "f32", True, True),
    "QF322S4": (22, "f32", True, False),
    "VQF322S4": (21, "f32", True, True),
    "QF322FP8": (26, "f32", True, False),
    "VQF322FP8": (37, "f32", True, True),
    "QF322HIF8": (25, "f32", True, False),
    "VQF322HIF8": (28, "f32", True, True),
    "QS322BF16": (35, "i32", True, False),
    "VQS322BF16": (39, "i32", True, True),
    "QF322F16": (32, "f32", True, False),
    "VQF322F16": (33, "f32", True, True),
    "QF322BF16": (34, "f32", True, False),
    "VQF322BF16": (36, "f32", True, True),
    "QF322F32": (27, "f32", True, False),
    "VQF322F32": (38, "f32", True, True),
}


def word(scale: float, offset: int = 0, signed: bool = True) -> int:
    """Quantisation parameter of section 9.6."""
    bits = int(np.float32(scale).view(np.uint32)) & 0xFFFFE000
    return bits | (offset & 0x1FF) << 37 | int(signed) << 46


def values(
    v: np.ndarray,
    mode: str,
    words: np.ndarray,
    *,
    relu: int,
    alpha: np.ndarray,
    dst: str,
    keep: bool = True,
    keep_nan8: bool = False,
) -> np.ndarray:
    """Element codes of the [m, n] accumulator values; `words`, `alpha` have one entry a column."""
    _, _, scaled, _ = MODES[mode]
    if mode == "NoQuant" and relu < 2:
        out = np.where(v < 0, v.dtype.type(0), v) if relu else v
        return out.view(np.uint32)
    x = v.astype(np.float32)
    words = words.astype(np.uint64)
    m1 = (
        (words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)
        if scaled
        else np.float32(1)
    )
    with np.errstate(all="ignore"):
        positive = x * m1
        if relu == 1:
            x = np.where(x > 0, positive, np.where(np.isnan(x), x, np.float32(0)))
        elif relu > 1:
            x = np.where(x >= 0, positive, x * alpha.astype(np.float32))
        else:
            x = positive
    if dst in ("i8", "u8"):
        return _to_b8(x, words)
    if dst == "i4":
        return np.clip(np.rint(np.clip(x, -256, 255)), -8, 7).astype(np.int8).view(np.uint8) & 15
    if mode.endswith("DEQF16"):
        x = np.clip(x, -65504, 65504)
    return _to_float(x.astype(np.float32), dst, keep, keep_nan8)


def _to_b8(x: np.ndarray, words: np.ndarray) -> np.ndarray:
    offset = ((words >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    offset = np.where(offset > 255, offset - 512, offset)
    signed = (words >> np.uint64(46)) & np.uint64(1)
    y = np.rint(np.clip(x, -256, 255)).astype(np.int64) + offset
    return np.where(signed == 1, np.clip(y, -128, 127), np.clip(y, 0, 255)).astype(np.uint8)


def _to_float(x: np.ndarray, dst: str, keep: bool, keep_nan8: bool) -> np.ndarray:
    nan = np.isnan(x)
    if dst == "hif8":
        codes = nearest_hif8(x)
        if not keep:
            codes = np.where((codes & 0x7F) == 0x6F, codes - 1, codes)
            codes = np.where(nan, 0, codes)
        return codes.astype(np.uint8)
    dtype = TYPES[dst].dtype
    assert dtype is not None
    top = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(all="ignore"):
        rounded = x.astype(dtype)
        if not keep:
            over = ~np.isfinite(rounded.astype(np.float64)) | (np.abs(x) > top)
            rounded = np.where(
                over, np.sign(np.nan_to_num(x)).astype(dtype) * dtype.type(top), rounded
            )
            if not (dst == "e4m3" and keep_nan8):
                rounded = np.where(nan, dtype.type(0), rounded)
            else:
                rounded = np.where(nan, dtype.type(np.nan), rounded)
    width = {8: np.uint8, 16: np.uint16, 32: np.uint32}[TYPES[dst].bits]
    return rounded.astype(dtype).view(width)


def nearest_hif8(x: np.ndarray) -> np.ndarray:
    """Nearest hif8 code, ties away from zero; beyond the last midpoint infinity."""
    codes = np.array([c for c in range(0x80) if np.isfinite(HIF8[c])])
    order = np.argsort(HIF8[codes])
    codes, grid = codes[order], HIF8[codes][order]
    magnitude = np.abs(x.astype(np.float64))
    middle = (grid[1:] + grid[:-1]) / 2
    out = codes[np.searchsorted(middle, np.nan_to_num(magnitude, nan=0, posinf=0), side="right")]
    out = np.where(magnitude >= 2.0**15 * 1.25, 0x6F, out)
    out = np.where(magnitude < 2.0**-23, 0, out | np.where(np.signbit(x), 0x80, 0))
    return np.where(np.isnan(x), 0x80, out)


def accumulator(
    l0c: np.ndarray, src: int, m: int, n: int, src_stride: int, pitch: int = 1
) -> np.ndarray:
    """v[m, n] of a copy: l0c is the flat array of 4-byte elements, src a byte offset."""
    rows, cols = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
    return l0c[src // 4 + cols // 16 * src_stride * 16 + rows * pitch * 16 + cols % 16]


def element_index(m: int, n: int, *, layout: str, bits: int, dst_stride: int) -> np.ndarray:
    """Destination element of every (row, column) (section 9.2)."""
    r, c = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
    if layout == "nd":
        return r * dst_stride + c
    if layout == "dn":
        return c * dst_stride + r
    if layout == "split":
        return c // 8 * dst_stride + r * 8 + c % 8
    width = {32: 16, 16: 16, 8: 32, 4: 64}[bits]
    tail = n - n % width
    row_width = np.where(c >= tail, n - tail if n > tail else width, width)
    return c // width * dst_stride + r * row_width + c % width


def store(out: np.ndarray, codes: np.ndarray, index: np.ndarray, bits: int, dst: int) -> None:
    """Puts codes at element indices behind byte `dst` of `out` (uint8)."""
    if bits == 4:
        for at, code in zip(index.ravel(), codes.ravel(), strict=True):
            byte = dst + int(at) // 2
            keep = out[byte] & (0x0F if at % 2 else 0xF0)
            out[byte] = keep | (int(code) << 4 if at % 2 else int(code))
        return
    size = bits // 8
    raw = np.ascontiguousarray(codes).view(np.uint8).reshape(*codes.shape, size)
    where = dst + index[..., None] * size + np.arange(size)
    out[where] = raw
