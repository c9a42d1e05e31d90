"""What the kernels of SwiGLU in both directions share (tile_kernels.md section 4.8)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
# ruff: noqa: E741 (l and r are the names of the halves in the formulas)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.cast_plan import BYTES
from tile_kernels.quant.registers_asc import LANES, store_numbers, values_at

__all__ = [
    "TOGETHER",
    "activate_tile",
    "clear_behind",
    "clear_rows",
    "count_clamped",
    "rows_of_experts",
]

TOGETHER = 8  # registers on which a step works before the next one: none waits for its operands


@T.macro
def count_clamped(counts, k, condition, one, all32):
    """Adds `one` to the lanes of a counter where the condition holds."""
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    counts[k] = T.simd.vadd(counts[k], T.simd.vsel(one, zero, condition), all32)


@T.macro
def rows_of_experts(rows: T.Ref, psum, experts, row0, most, alignment):
    """Sets `rows` to how many of `most` rows from row0 on belong to an expert: the first ones."""
    first = T.alloc_var(T.int32)
    rows = 0
    first = 0
    for expert in T.serial(experts):
        if first <= row0:
            rows = T.max(rows, T.min(psum[expert] - row0, most))
        first = (psum[expert] + (alignment - 1)) // alignment * alignment


@T.macro
def clear_rows(tile, first, last, chunks):
    """Writes zeros to so many 64 channels of the rows from `first` to before `last`."""
    width = 8 * BYTES.get(tile.dtype, 2)
    some = T.simd.pset(width, "PAT_VL64")
    every = T.simd.pset(width)
    zero = T.simd.vdup(T.cast(0, tile.dtype), tile.dtype, every)
    for i in T.serial(last - first):
        for c in T.serial(chunks):
            T.simd.vsts(tile[first + i, c * LANES], zero, some, dist=f"NORM_B{width}")


@T.macro
def clear_behind(tile, rows, chunks, last):
    """Writes zeros to the 64 channels behind the first `chunks` of each row, to before `last`."""
    width = 8 * BYTES.get(tile.dtype, 2)
    some = T.simd.pset(width, "PAT_VL64")
    every = T.simd.pset(width)
    zero = T.simd.vdup(T.cast(0, tile.dtype), tile.dtype, every)
    for i in T.serial(rows):
        for c in T.serial(last - chunks):
            T.simd.vsts(tile[i, (chunks + c) * LANES], zero, some, dist=f"NORM_B{width}")


@T.macro
def _begin_rows(left, i, c, l, d, limit, has_limit, zero, all16, all32):
    """Sets l to 64 left halves of each of some rows from row i on, d to exp(-l)."""
    for k in T.unroll(TOGETHER):
        l[k] = values_at(left, i + k, c * LANES, all16)
    if has_limit:
        for k in T.unroll(TOGETHER):
            l[k] = T.simd.vmins(l[k], limit, all32)
    for k in T.unroll(TOGETHER):
        d[k] = T.simd.vexpdif(zero, l[k], all32)


@T.macro
def activate_tile(left, right, values, rows, chunks, limit, has_limit, store: Any = store_numbers):
    """Writes silu(left) * right with `store`; `rows` is a multiple of `TOGETHER`.

    The exponentials of a batch of rows are begun before the divisions of the batch before it.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    l, d, y, r = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(4))
    _begin_rows(left, 0, 0, l, d, limit, has_limit, zero, all16, all32)
    for k in T.unroll(TOGETHER):
        d[k] = T.simd.vadds(d[k], T.float32(1.0), all32)
    for c in T.serial(chunks):
        for b in T.serial(T.truncdiv(rows, TOGETHER)):
            i = b * TOGETHER
            # NOTE: behind the last batch it comes once more, for nothing: others may be stored
            next_row, next_chunk = T.alloc_var(T.int32), T.alloc_var(T.int32)
            next_row = T.if_then_else(c + 1 < chunks, 0, i)
            next_row = T.if_then_else(i + TOGETHER < rows, i + TOGETHER, next_row)
            next_chunk = T.if_then_else(i + TOGETHER < rows, c, T.min(c + 1, chunks - 1))
            for k in T.unroll(TOGETHER):
                y[k] = T.simd.vdiv(l[k], d[k], all32, precision="ftz_true")
            _begin_rows(left, next_row, next_chunk, l, d, limit, has_limit, zero, all16, all32)
            for k in T.unroll(TOGETHER):
                r[k] = values_at(right, i + k, c * LANES, all16)
            if has_limit:
                for k in T.unroll(TOGETHER):
                    r[k] = T.simd.vmaxs(T.simd.vmins(r[k], limit, all32), -limit, all32)
            for k in T.unroll(TOGETHER):
                y[k] = T.simd.vmul(y[k], r[k], all32)
            for k in T.unroll(TOGETHER):
                store(y[k], values, i + k, c * LANES, all16, all32)
            for k in T.unroll(TOGETHER):
                d[k] = T.simd.vadds(d[k], T.float32(1.0), all32)
