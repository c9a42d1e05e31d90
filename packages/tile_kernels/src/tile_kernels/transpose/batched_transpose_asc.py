"""Kernel of `transpose` and `batched_transpose`: tiles turned by interleaving vector registers.

Take rows of a tile in a list of registers. Interleaving its first half with its second half, pair
by pair, moves the highest bit of the row to the end of the column: it rotates the bits of the place
(row, column) by one. After as many rounds as a row has bits, a register holds 32 bytes of each of
eight columns, and strided stores put them where the transpose has them.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces, reused
from tile_kernels._bridge import asc_kernel

__all__ = ["tile_shape", "transpose_tiles"]

BLOCK = 32  # bytes that a strided store puts together
BLOCKS = 8  # of a register
VERSIONS = 2  # tiles in flight: load, turn and store overlap


def tile_shape(size: int) -> tuple[int, int]:
    """Rows and columns of a tile of elements of `size` bytes; runs in memory are 128 B or more."""
    return {1: (256, 128), 2: (128, 128), 4: (128, 64)}[size]


def interleaved(registers: list) -> list:
    """One round: the highest bit of the row becomes the lowest of the column."""
    half = len(registers) // 2
    pairs = [T.simd.vintlv(registers[i], registers[i + half]) for i in range(half)]
    return [register for pair in pairs for register in pair]


def turn_rows(tile, turned, row, size: int, pitch: int) -> None:
    """Turns 32 bytes of rows of the tile, from `row` on, into all rows of `turned`."""
    rows = 256 // (tile_shape(size)[1] * size)  # of narrow rows a register holds several
    registers = [T.simd.vld(tile[0, row + i, 0]) for i in range(0, BLOCK // size, rows)]
    for _ in range((BLOCK // size).bit_length() - 1):
        registers = interleaved(registers)
    stride = (pitch * size // BLOCK) << 16
    for i, register in enumerate(registers):
        T.evaluate(T.simd.vsstb(register, turned[0, i * BLOCKS, row], stride))


@asc_kernel()
def transpose_tiles(x, out, down: T.int32, across: T.int32, tasks: T.int32, size: int, cores: int):
    """out[b, n, m] = x[b, m, n], in `down` x `across` tiles; elements are integers of `size` bytes.

    Rows of the turned tile are 32 bytes longer than its data: strided stores then hit all banks.
    """
    batches, rows, columns = T.dynamic("batches, rows, columns")
    batch_stride, row_stride = T.dynamic("batch_stride, row_stride")
    dtype = f"int{8 * size}"
    x: T.StridedTensor((batches, rows, columns), (batch_stride, row_stride, 1), dtype)
    out: T.Tensor((batches, columns, rows), dtype)
    R, C = tile_shape(size)
    group = BLOCK // size
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((1, R, C), dtype)
        turned = T.alloc_shared((1, C, R + group), dtype)
        T.annotate_buffer_versions({tile: VERSIONS, turned: VERSIONS})
        for turn in T.Pipelined(pieces(tasks - core, cores), num_stages=VERSIONS):
            reused(tile, turned)
            item = turn * cores + core
            # NOTE: variables keep these terms out of every index, lowering is far quicker then.
            batch, row, column = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            batch = T.truncdiv(item, down * across)
            row = T.truncmod(T.truncdiv(item, across), down) * R
            column = T.truncmod(item, across) * C
            T.copy(x[batch, row, column], tile)
            with T.SimdVF():
                # NOTE: what lies behind the last row is turned too, and not stored.
                for step in T.serial(pieces(T.min(rows - row, R), group)):
                    turn_rows(tile, turned, step * group, size, R + group)
            T.copy(
                turned[0:1, 0:C, 0:R],
                out[batch : batch + 1, column : column + C, row : row + R],
            )
