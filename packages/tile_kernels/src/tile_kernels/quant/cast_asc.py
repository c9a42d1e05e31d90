"""The kernel of the element-wise cast with random rounding (tile_kernels.md section 4.5).

A task is a run of elements; a thread takes four of them at a time, that is the group which shares
one hash. Rounding to nearest is in `convert_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels._bridge import asc_kernel
from tile_kernels.quant import numeric_asc as num

__all__ = ["CHUNK", "GROUP", "cast_elements"]

CHUNK = 16384
GROUP = 4
THREADS = 1024
_FACTORS = (0x5671D42B, 0x9995E499, 0xACE1B8A5, 0xE153538D)


def group_hash(bits: Any, group: Any) -> Any:
    """The mixed bits (uint32) of four elements' bits and of the group's number."""
    mixed: Any = T.cast(group, "uint32")
    for value, factor in zip(bits, _FACTORS, strict=True):
        mixed = mixed + value * T.uint32(factor)
    mixed = (mixed ^ (mixed >> T.uint32(23))) * T.uint32(0x7FEB352D)
    return mixed ^ (mixed >> T.uint32(16))


def random_word(mixed: Any, half: int) -> Any:
    """32 random bits: those of the first two elements of a group, or of the last two."""
    word = mixed * T.uint32((0x846CA68B, 0xD35A2D97)[half])
    return word ^ (word >> T.uint32(11))


def rounded_at_random(value: Any, random: Any, dtype: str) -> Any:
    """A neighbour in the format; `random` are 16 bits (uint32)."""
    if dtype == "float8_e4m3fn":
        value = num.saturated(value, num.MAX_VALUE["e4m3"])
        chosen = num.stochastic(value, random << T.uint32(8), "e4m3")
        return num.as_e4m3(T.if_then_else(num.is_nan(value), value, chosen))
    bits = T.reinterpret(value, "uint32")
    up = T.cast(random < (bits & T.uint32(0xFFFF)), "uint32")
    return T.reinterpret(T.cast((bits >> T.uint32(16)) + up, "uint16"), "bfloat16")


@asc_kernel()
def cast_elements(
    x, out, group0: T.int32, tasks: T.int32,
    x_dtype: str = "", out_dtype: str = "", cores: int = 1,
):  # fmt: skip
    """Writes every element of `x` rounded to a neighbour; `group0` numbers its first group."""
    N = T.dynamic("N")
    x: T.Tensor((N,), x_dtype)
    out: T.Tensor((N,), out_dtype)
    with T.Kernel(cores) as core:
        given = T.alloc_shared((CHUNK,), x_dtype)
        result = T.alloc_shared((CHUNK,), out_dtype)
        start = T.alloc_var(T.int32)
        for turn in T.serial((tasks - core + cores - 1) // cores):
            start = (turn * cores + core) * CHUNK
            T.copy(x[start : start + CHUNK], given)
            with T.SimtVF(threads=THREADS):
                tx = T.get_thread_binding()
                value = T.alloc_local((GROUP,), T.float32)
                mixed = T.alloc_var(T.uint32)
                random = T.alloc_local((2,), T.uint32)
                for step in T.serial(CHUNK // (THREADS * GROUP)):
                    first = (step * THREADS + tx) * GROUP
                    if start + first < N:
                        for e in T.unroll(GROUP):
                            value[e] = 0.0
                            if start + first + e < N:
                                value[e] = T.cast(given[first + e], "float32")
                        mixed = group_hash(
                            [T.reinterpret(value[e], "uint32") for e in range(GROUP)],
                            group0 + (start + first) // GROUP,
                        )
                        random[0] = random_word(mixed, 0)
                        random[1] = random_word(mixed, 1)
                        for e in T.unroll(GROUP):
                            if start + first + e < N:
                                result[first + e] = rounded_at_random(
                                    value[e],
                                    (random[e // 2] >> T.uint32(e % 2 * 16)) & T.uint32(0xFFFF),
                                    out_dtype,
                                )
            T.copy(result, out[start : start + CHUNK])
