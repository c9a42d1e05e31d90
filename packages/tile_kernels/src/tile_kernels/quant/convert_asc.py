"""The kernel of the element-wise cast to nearest on vector registers (tile_kernels.md section 4.5).

A task is a run of elements. Random rounding is in `cast_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.registers_asc import LANES, saturate

__all__ = ["RUN", "convert_elements"]

RUN = 8192  # elements of a task
TOGETHER = 8  # registers on which a step works before the next one


def number_at(given: Any, place: Any, all8: Any, all16: Any) -> Any:
    """64 elements as float32."""
    if given.dtype == "float32":
        return T.simd.vld(given[place])
    if given.dtype == "float8_e4m3fn":
        code = T.simd.vld(given[place], dist="UNPK4_B8")
        return T.simd.vcvt(code, "float32", all8, part=0)
    return T.simd.vcvt(T.simd.vld(given[place], dist="UNPK_B16"), "float32", all16, part=0)


@T.macro
def store_number(value, result, place, all8, all16, all32):
    """Writes 64 float32 in the dtype of `result`, rounded to nearest."""
    if result.dtype == "float32":
        T.simd.vsts(result[place], value, all32)
    elif result.dtype == "float8_e4m3fn":
        code = T.simd.vcvt(value, "float8_e4m3fn", all8, sat=False, part=0)
        T.simd.vsts(result[place], code, all32, dist="PK4_B32")
    else:
        rounded = T.simd.vcvt(value, result.dtype, all16, sat=False, part=0)
        T.simd.vsts(result[place], rounded, all32, dist="PK_B32")


@asc_kernel()
def convert_elements(
    x, out, tasks: T.int32, x_dtype: str = "", out_dtype: str = "", cores: int = 1
):  # fmt: skip
    """Writes every element of `x` in the dtype of `out`; e4m3 saturates and keeps NaN."""
    N = T.dynamic("N")
    x: T.Tensor((N,), x_dtype)
    out: T.Tensor((N,), out_dtype)
    with T.Kernel(cores) as core:
        given = T.alloc_shared((RUN,), x_dtype)
        result = T.alloc_shared((RUN,), out_dtype)
        T.annotate_buffer_versions({given: 2, result: 2})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(given, result)
            start = T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                start = (turn * cores + core) * RUN
            T.copy(x[start : start + RUN], given)
            with T.SimdVF():
                all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
                v = T.simd.alloc_local(TOGETHER, "float32")
                chunks = T.truncdiv(T.min(N - start, RUN) + LANES - 1, LANES)
                for step in T.serial(T.truncdiv(chunks + TOGETHER - 1, TOGETHER)):
                    first = step * TOGETHER
                    # NOTE: behind the last 64 elements come those once more
                    for k in T.unroll(TOGETHER):
                        place = T.min(first + k, chunks - 1) * LANES
                        v[k] = number_at(given, place, all8, all16)
                    if out_dtype == "float8_e4m3fn":
                        saturate(v, TOGETHER)
                    for k in T.unroll(TOGETHER):
                        place = T.min(first + k, chunks - 1) * LANES
                        store_number(v[k], result, place, all8, all16, all32)
            T.copy(result, out[start : start + RUN])
