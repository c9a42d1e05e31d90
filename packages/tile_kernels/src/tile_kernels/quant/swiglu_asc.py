"""What the kernels of SwiGLU in both directions share (tile_kernels.md section 4.8)."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

__all__ = ["count_clamped", "rows_of_experts"]


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
