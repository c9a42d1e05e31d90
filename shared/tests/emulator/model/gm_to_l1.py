"""Index formulas of the GM -> L1 copies (ascend_c_cube.md sections 5 and 6).

Each function changes `l1` (uint8) as the instruction changes L1; `gm` is the source as uint8.
"""

from __future__ import annotations

import numpy as np

POISON = 0xA5
UNSPECIFIED_TAIL = 0xFF


def to_nz(
    l1: np.ndarray,
    gm: np.ndarray,
    *,
    size: int,
    transposed: bool,
    dst: int,
    src: int,
    line: int,
    n: int,
    d: int,
    matrix: int,
    num: int,
    n_stride: int,
    c0_stride: int,
    dst_matrix: int,
) -> None:
    """nd2nz and dn2nz (5.1, 5.2); `size` is the bytes of an element."""
    c0 = 32 // size
    for b in range(num):
        for column in range(-(-d // c0)):
            for row in range(n):
                for e in range(c0):
                    col = column * c0 + e
                    to = (
                        dst + (b * dst_matrix + column * c0_stride + row * n_stride) * 32 + e * size
                    )
                    if transposed:
                        at = src + b * matrix + col * line + row * size
                    else:
                        at = src + b * matrix + row * line + col * size
                    l1[to : to + size] = gm[at : at + size] if col < d else 0


def small_c0(
    l1: np.ndarray, gm: np.ndarray, *, size: int, dst: int, src: int, line: int, n: int, d: int
) -> None:
    """nd2nz with smallc0_en and d <= 4 (5.3): rows of four elements, packed."""
    used = n * 4 * size
    l1[dst : dst + -(-used // 32) * 32] = 0
    for row in range(n):
        for col in range(d):
            to, at = dst + (row * 4 + col) * size, src + row * line + col * size
            l1[to : to + size] = gm[at : at + size]


def bursts(
    memory: np.ndarray,
    gm: np.ndarray,
    *,
    size: int,
    dst: int,
    src: int,
    count: int,
    length: int,
    left: int,
    right: int,
    constant: bool,
    src_stride: int,
    dst_stride: int,
    pad: int,
    loops: tuple[int, int] = (1, 1),
    loop1: tuple[int, int] = (0, 0),
    loop2: tuple[int, int] = (0, 0),
    fill: bool = False,
) -> None:
    """Bursts with padding (5.6, 11); lengths and strides in bytes, pads in elements.

    `fill`: the target is UB and the kernel has set the pad value, which then also fills up to the
    next 32 bytes (ascend_c_vector.md 12.1).
    """
    pad_element = np.frombuffer(int(pad).to_bytes(8, "little"), np.uint8)[:size]
    packed = dst_stride == length and left == right == 0 and count > 1
    for j in range(loops[1]):
        for i in range(loops[0]):
            s0 = src + j * loop2[0] + i * loop1[0]
            d0 = dst + j * loop2[1] + i * loop1[1]
            for b in range(count):
                data = gm[s0 + b * src_stride :][:length]
                element = pad_element if constant or fill else data[:size]
                row = np.concatenate([np.tile(element, left), data, np.tile(element, right)])
                if not packed:
                    row = _whole_blocks(row, pad_element if fill else None)
                memory[d0 + b * dst_stride :][: len(row)] = row
            if packed:
                used = count * length
                tail = slice(d0 + used, d0 + -(-used // 32) * 32)
                memory[tail] = UNSPECIFIED_TAIL
                if fill:
                    memory[tail] = np.resize(pad_element, -used % 32)


def _whole_blocks(row: np.ndarray, pad: np.ndarray | None = None) -> np.ndarray:
    missing = -len(row) % 32
    tail = np.full(missing, UNSPECIFIED_TAIL, np.uint8)
    return np.concatenate([row, tail if pad is None else np.resize(pad, missing)])


def plain(
    l1: np.ndarray,
    gm: np.ndarray,
    *,
    dst: int,
    src: int,
    count: int,
    blocks: int,
    mode: int,
    src_stride: int,
    dst_stride: int,
    pad: int,
) -> None:
    """Plain copy and the channel padding modes (5.4)."""
    pad_block = np.tile(np.frombuffer(int(pad).to_bytes(4, "little"), np.uint8), 8)
    for b in range(count):
        if mode == 0:
            at = src + b * (src_stride or blocks) * 32
            to = dst + b * (dst_stride or blocks) * 32
            l1[to : to + blocks * 32] = gm[at : at + blocks * 32]
        elif mode <= 5:
            kept = 2 ** (mode - 1)
            to = dst + b * (dst_stride or 1) * 32
            l1[to : to + 32] = pad_block
            l1[to : to + kept] = gm[src + b * kept :][:kept]
        else:
            kept = 4 * 2 ** (mode - 6)
            for k in range(blocks):
                at = src + b * (src_stride or blocks) * 32 + k * 32
                to = dst + (b * blocks + k) * kept
                l1[to : to + kept] = gm[at : at + kept]


def fill(l1: np.ndarray, *, dst: int, pattern: bytes, repeat: int, blocks: int, gap: int) -> None:
    """asc_fill_l1 (6): groups of 32-byte blocks, a gap between them."""
    data = np.frombuffer(pattern * (blocks * 32 // len(pattern)), np.uint8)
    for r in range(repeat):
        to = dst + r * (blocks + gap) * 32
        l1[to : to + len(data)] = data
