"""Kernel of `transpose` and `batched_transpose`: square tiles turned in the unified buffer."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel

TILE = 128
THREADS = 512


@asc_kernel()
def transpose_tiles(
    x, out, down: T.int32, across: T.int32, tasks: T.int32, dtype: str, versions: int, cores: int
):
    """out[b, n, m] = x[b, m, n], in `down` x `across` tiles; elements are integers of their width.

    Two `versions` of the tiles overlap load, turn and store; of wide elements only one fits.
    """
    batches, rows, columns = T.dynamic("batches, rows, columns")
    batch_stride, row_stride = T.dynamic("batch_stride, row_stride")
    x: T.StridedTensor((batches, rows, columns), (batch_stride, row_stride, 1), dtype)
    out: T.Tensor((batches, columns, rows), dtype)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((1, TILE, TILE), dtype)
        turned = T.alloc_shared((1, TILE, TILE), dtype)
        T.annotate_buffer_versions({tile: versions, turned: versions})
        for turn in T.Pipelined(T.ceildiv(tasks - core, cores), num_stages=versions):
            item = turn * cores + core
            # NOTE: variables keep these terms out of every index, lowering is far quicker then.
            batch, row, column = T.alloc_var(T.int32), T.alloc_var(T.int32), T.alloc_var(T.int32)
            batch = T.truncdiv(item, down * across)
            row = T.truncmod(T.truncdiv(item, across), down) * TILE
            column = T.truncmod(item, across) * TILE
            T.copy(x[batch, row, column], tile)
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                for step in T.serial(TILE * TILE // THREADS):
                    i = step * (THREADS // TILE) + thread // TILE
                    j = thread % TILE
                    if column + i < columns and row + j < rows:
                        turned[0, i, j] = tile[0, j, i]
            T.copy(turned, out[batch, column, row])
