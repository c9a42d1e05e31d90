"""Index formulas of the L1 -> L0, BT and FB copies (ascend_c_cube.md sections 7 and 8).

`l1` is the source as uint8; each function changes the target memory as the instruction does.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

FRACTAL = 512


def copy_2d(
    l0: np.ndarray,
    l1: np.ndarray,
    *,
    dst: int,
    src: int,
    m_start: int,
    k_start: int,
    m_step: int,
    k_step: int,
    src_stride: int,
    dst_stride: int,
) -> None:
    """7.1: fractals move unchanged."""
    for j in range(k_step):
        for i in range(m_step):
            at = src + ((k_start + j) * src_stride + m_start + i) * FRACTAL
            to = dst + (j * dst_stride + i) * FRACTAL
            l0[to : to + FRACTAL] = l1[at : at + FRACTAL]


def unpack(fractal: np.ndarray, bits: int) -> np.ndarray:
    """The 16 rows of a fractal as unsigned integers of `bits` bits."""
    if bits == 4:
        flat = np.stack([fractal & 15, fractal >> 4], axis=-1)
        return flat.reshape(16, 64)
    return fractal.view({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).reshape(16, -1)


def pack(rows: np.ndarray, bits: int) -> np.ndarray:
    """The 512 bytes of a fractal."""
    if bits == 4:
        pairs = rows.reshape(16, 32, 2)
        return (pairs[..., 0] | pairs[..., 1] << 4).astype(np.uint8).ravel()
    return np.ascontiguousarray(rows).view(np.uint8).ravel()


def transpose_fractals(fractals: list[np.ndarray], bits: int) -> list[np.ndarray]:
    """Transposes one square (7.2): b4, b8 fractals are stacked, b32 fractals stand side by side."""
    rows = [unpack(f, bits) for f in fractals]
    square = np.concatenate(rows, axis=1 if bits == 32 else 0).T
    if bits == 32:
        return [pack(square[:, h * 8 : h * 8 + 8], bits) for h in range(2)]
    return [pack(square[h * 16 : h * 16 + 16], bits) for h in range(len(fractals))]


def transpose_2d(
    l0: np.ndarray,
    l1: np.ndarray,
    *,
    bits: int,
    dst: int,
    src: int,
    m_start: int,
    k_start: int,
    m_step: int,
    k_step: int,
    src_stride: int,
    dst_stride: int,
) -> None:
    """7.2: the whole source tile is transposed square by square."""

    def source(i: int, j: int) -> np.ndarray:
        at = src + ((k_start + j) * src_stride + m_start + i) * FRACTAL
        return l1[at : at + FRACTAL]

    def store(k_dst: int, m_dst: int, data: np.ndarray) -> None:
        to = dst + (k_dst * dst_stride + m_dst) * FRACTAL
        l0[to : to + FRACTAL] = data

    down = {4: 4, 8: 2, 16: 1, 32: 1}[bits]
    across = 2 if bits == 32 else 1
    for i in range(m_step // down):
        for j in range(k_step // across):
            square = [source(i * down + f, j * across) for f in range(down)]
            if bits == 32:
                square = [source(i, 2 * j), source(i, 2 * j + 1)]
            for h, data in enumerate(transpose_fractals(square, bits)):
                if bits == 32:
                    store(2 * i + h, j, data)
                else:
                    store(i, j * down + h, data)


def trans(
    l0: np.ndarray,
    l1: np.ndarray,
    *,
    bits: int,
    dst: int,
    src: int,
    index: int,
    repeat: int,
    src_stride: int,
    dst_gap: int,
    dst_fractal_gap: int,
    src_fractal_gap: int,
) -> None:
    """7.3: repeated transposed squares."""
    count = {4: 4, 8: 2, 16: 1, 32: 2}[bits]
    for r in range(repeat):
        square = []
        for f in range(count):
            at = src + (index + r * src_stride + f * (1 + src_fractal_gap)) * FRACTAL
            square.append(l1[at : at + FRACTAL])
        for f, data in enumerate(transpose_fractals(square, bits)):
            to = dst + (r * (1 + dst_gap) + f * (1 + dst_fractal_gap)) * FRACTAL
            l0[to : to + FRACTAL] = data


def scales(
    mx: np.ndarray,
    l1: np.ndarray,
    *,
    dst: int,
    src: int,
    x_start: int,
    y_start: int,
    x_step: int,
    y_step: int,
    src_stride: int,
    dst_stride: int,
) -> None:
    """8.1: 32-byte scale fractals."""
    for x in range(x_step):
        for y in range(y_step):
            at = src + ((x_start + x) * src_stride + y_start + y) * 32
            to = dst + (x * dst_stride + y) * 32
            mx[to : to + 32] = l1[at : at + 32]


def blocks(
    out: np.ndarray,
    l1: np.ndarray,
    *,
    dst: int,
    src: int,
    count: int,
    length: int,
    src_gap: int,
    dst_gap: int,
    widen: str = "",
) -> None:
    """Bursts of `length` bytes with gaps (8.2, 8.3, 11); `widen` turns f16 or bf16 into f32."""
    for b in range(count):
        data = l1[src + b * (length + src_gap) :][:length]
        if widen:
            kind = np.float16 if widen == "f16" else ml_dtypes.bfloat16
            data = data.view(kind).astype(np.float32).view(np.uint8)
        to = dst + b * (len(data) + dst_gap)
        out[to : to + len(data)] = data
