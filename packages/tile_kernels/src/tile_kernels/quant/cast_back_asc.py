"""The kernel that multiplies quantised data by its scales (tile_kernels.md section 4.4)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.block_cast_asc import read_scale, read_value

__all__ = ["cast_back"]


@asc_kernel()
def cast_back(
    x, sf, out, tiles: T.int32, tiles_across: T.int32,
    band: Any = None, x_dtype: str = "", out_dtype: str = "", rows: int = 0, cols: int = 0,
    cores: int = 0,
):  # fmt: skip
    """Writes data * sf; `band` says how the scales lie, a tile holds whole blocks and words."""
    M, XW, XS = T.dynamic("M, XW, XS")
    S0, S1, SS, OW = T.dynamic("S0, S1, SS, OW")
    x: T.StridedTensor((M, XW), (XS, 1), x_dtype)
    sf: T.StridedTensor((S0, S1), (SS, 1), band.dtype)
    out: T.Tensor((M, OW), out_dtype)

    per_item = 2 if x_dtype == "int8" else 1
    s0, s1 = band.tile(rows, cols)
    with T.Kernel(cores) as core:
        tile = T.alloc_shared((rows, cols // per_item), x_dtype)
        scales = T.alloc_shared((s0, band.pitch(rows, cols)), band.dtype)
        values = T.alloc_shared((rows, cols), out_dtype)
        row0 = T.alloc_var(T.int32)
        col0 = T.alloc_var(T.int32)
        # NOTE: tasks in a given order: without it a search for the best schedule takes seconds.
        for turn in T.serial(T.truncdiv(tiles - core + cores - 1, cores)):
            reused(tile, scales, values)
            with T.Stage(0), T.Task(latency=1, ii=1):
                task = turn * cores + core
                row0 = T.truncdiv(task, tiles_across) * rows
                col0 = T.truncmod(task, tiles_across) * cols
            with T.Task(latency=1, ii=1):
                o0, o1 = band.layout.items(row0 // band.block[0], col0 // band.block[1])
                T.copy(x[row0, col0 // per_item], tile)
                T.copy(sf[o0 : o0 + s0, o1 : o1 + s1], scales[0:s0, 0:s1])
            with T.Task(latency=1, ii=1), T.SimtVF(threads=1024):
                for i, j in T.Parallel(rows, cols):
                    if row0 + i < M and col0 + j < OW:
                        value = read_value(tile, i, j, x_dtype) * read_scale(scales, i, j, band)
                        values[i, j] = T.cast(value, out_dtype)
            T.copy(values, out[row0, col0])
