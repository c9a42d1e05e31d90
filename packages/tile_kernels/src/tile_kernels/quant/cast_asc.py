"""The kernel of the element-wise cast with random rounding (tile_kernels.md section 4.5).

A task is a run of elements. Groups of four share one hash: register k of four holds the elements
4 j + k, so the hashes of 64 groups fill a register. Rounding to nearest is in `convert_asc`.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import reused
from tile_kernels._bridge import asc_kernel
from tile_kernels.quant.quads_asc import PARTS, UNIT, load_quads
from tile_kernels.quant.random_asc import as_words, fixed_parts, mix, round_parts, store_random_e4m3
from tile_kernels.quant.registers_asc import LANES

__all__ = ["GROUP", "RUN", "cast_elements"]

RUN = 8192  # elements of a task
GROUP = PARTS  # elements of a hash
_FACTORS = (0x5671D42B, 0x9995E499, 0xACE1B8A5, 0xE153538D)
_WORDS = (0x846CA68B, 0xD35A2D97)  # factors of the words of the first and of the last two elements


@T.macro
def clear_tail(given, count):
    """Writes zeros behind `count` elements up to the end of a unit."""
    bits = 32 if given.dtype == "float32" else 16
    lanes, every = 2048 // bits, T.simd.pset(bits)
    zero = T.simd.vdup(T.cast(0, given.dtype), given.dtype, every)
    missing = T.truncmod(UNIT - T.truncmod(count, UNIT), UNIT)
    for step in T.serial(T.truncdiv(missing + lanes - 1, lanes)):
        first = (T.truncdiv(count, lanes) + step) * lanes
        behind = T.simd.pnot(T.simd.update_mask(T.max(count - first, 0), bits), every)
        T.simd.vsts(given[0, first], zero, behind, dist=f"NORM_B{bits}")


@T.macro
def load_exact(v, at, given, place):
    """Sets v[at : at + 4] to the numbers of a unit; NaNs keep all their bits for the hash."""
    if given.dtype == "float32":
        load_quads(v, given, 0, place, at)
    else:
        all32 = T.simd.pset(32)
        high = T.simd.vdup(T.uint32(0xFFFF0000), "uint32", all32)
        pair = T.simd.alloc_local(2, "uint32")
        even, odd = T.simd.vld2(given[0, place], "DINTLV_B16")
        pair[0], pair[1] = as_words(even), as_words(odd)
        for k in T.unroll(2):
            v[at + k] = T.reinterpret(T.simd.vshls(pair[k], 16, all32), "float32x64")
            v[at + 2 + k] = T.reinterpret(T.simd.vand(pair[k], high, all32), "float32x64")


@T.macro
def random_of_groups(word, v, factors, lane, group_a, group_b, part=None):
    """Sets the words 2 n and 2 n + 1 to the bits of the first and last elements of unit n's groups.

    Lane j has the group with the number `group_a` + j, or `group_b` + j in the second unit. Each
    step waits for the one before it; meanwhile the numbers go to their fixed-point parts, if given.
    """
    all32 = T.simd.pset(32)
    mixed = T.simd.alloc_local(2, "uint32")
    mixed[0] = T.simd.vadds(lane, group_a, all32)
    mixed[1] = T.simd.vadds(lane, group_b, all32)
    for k in T.unroll(GROUP):
        for n in T.unroll(2):
            T.simd.vmula(mixed[n], as_words(v[n * PARTS + k]), factors[k], all32)
    if part is not None:
        fixed_parts(part, v, (0, PARTS), "e4m3")
    mix(mixed, 2, 23, 0x7FEB352D)
    if part is not None:
        fixed_parts(part, v, (1, PARTS + 1), "e4m3")
    mix(mixed, 2, 16)
    if part is not None:
        fixed_parts(part, v, (2, PARTS + 2), "e4m3")
    for half, value in enumerate(_WORDS):
        for n in T.unroll(2):
            word[2 * n + half] = T.simd.vmuls(mixed[n], T.uint32(value), all32)
    mix(word, 4, 11)
    if part is not None:
        fixed_parts(part, v, (3, PARTS + 3), "e4m3")


@T.macro
def invert_halves(dither, word, low, count):
    """Makes of the 16-bit halves of words what `round_parts` adds; `low` are 0xFF."""
    all32 = T.simd.pset(32)
    for n in T.unroll(count):
        word[n] = T.simd.vnot(word[n], all32)
    for n in T.unroll(count):
        dither[2 * n] = T.simd.vshls(word[n], 16, all32)
        dither[2 * n + 1] = T.simd.vshrs(word[n], 8, all32)
    for n in T.unroll(count):
        dither[2 * n] = T.simd.vshrs(dither[2 * n], 8, all32)
    for k in T.unroll(2 * count):
        dither[k] = T.simd.vor(dither[k], low, all32)


@T.macro
def store_random_bf16(word, at, halves, result, place):
    """Writes the numbers of a unit, rounded up where the lower half is above the random number.

    `halves` are the lower and upper halves (uint16) of all numbers.
    """
    all16 = T.simd.pset(16)
    random = T.simd.alloc_local(2, "uint32")
    random[0], random[1] = T.simd.vintlv(word[at], word[at + 1])
    for h in T.unroll(2):
        low, high = T.simd.vld2(halves[0, 2 * (place + 2 * h * LANES)], "DINTLV_B16")
        is_up = T.simd.vcmp(T.reinterpret(random[h], "uint16x128"), low, all16, "lt")
        rounded = T.simd.vsel(T.simd.vadds(high, T.uint16(1), all16), high, is_up)
        T.simd.vsts(
            result[0, place + 2 * h * LANES], T.reinterpret(rounded, "bfloat16x128"), all16,
            dist="NORM_B16",
        )  # fmt: skip


@asc_kernel()
def cast_elements(
    x, out, group0: T.int32, tasks: T.int32,
    x_dtype: str = "", out_dtype: str = "", cores: int = 1,
):  # fmt: skip
    """Writes every element of `x` [1, N] rounded to a neighbour; `group0` numbers the first group.

    Elements behind the last one count as zeros in the hash of its group.
    """
    N = T.dynamic("N")
    x: T.Tensor((1, N), x_dtype)
    out: T.Tensor((1, N), out_dtype)
    with T.Kernel(cores) as core:
        given = T.alloc_shared((1, RUN), x_dtype)
        result = T.alloc_shared((1, RUN), out_dtype)
        if out_dtype == "bfloat16":
            halves = T.view(given, (1, 2 * RUN), T.uint16)
        T.annotate_buffer_versions({given: 2, result: 2})
        for turn in T.Pipelined(T.truncdiv(tasks - core + cores - 1, cores), num_stages=2):
            reused(given, result)
            start = T.alloc_var(T.int32)
            with T.Stage(0), T.Task(latency=1, ii=1):
                start = (turn * cores + core) * RUN
            T.copy(x[0, start], given)
            with T.SimdVF():
                count = T.min(N - start, RUN)
                clear_tail(given, count)
                T.simd.mem_bar("VST_VLD")
                all32 = T.simd.pset(32)
                lane = as_words(T.simd.vci(T.int32(0), "int32"))
                low = T.simd.vdup(T.uint32(0xFF), "uint32", all32)
                high = T.simd.vdup(T.uint32(0x80000000), "uint32", all32)
                factors = T.simd.alloc_local(GROUP, "uint32")
                for k, factor in enumerate(_FACTORS):
                    factors[k] = T.simd.vdup(T.uint32(factor), "uint32", all32)
                group = T.cast(group0 + T.truncdiv(start, GROUP), "uint32")
                units = T.truncdiv(count + UNIT - 1, UNIT)
                v = T.simd.alloc_local(2 * PARTS, "float32")
                part, dither = (T.simd.alloc_local(2 * PARTS, "uint32") for _ in range(2))
                word = T.simd.alloc_local(2 * 2, "uint32")
                for pair in T.serial(T.truncdiv(units + 1, 2)):
                    a = 2 * pair
                    b = T.min(a + 1, units - 1)  # without a second unit, the first one once more
                    load_exact(v, 0, given, a * UNIT)
                    load_exact(v, PARTS, given, b * UNIT)
                    random_of_groups(
                        word, v, factors, lane, group + T.cast(a * LANES, "uint32"),
                        group + T.cast(b * LANES, "uint32"),
                        part if out_dtype == "float8_e4m3fn" else None,
                    )  # fmt: skip
                    if out_dtype == "bfloat16":
                        store_random_bf16(word, 0, halves, result, a * UNIT)
                        store_random_bf16(word, 2, halves, result, b * UNIT)
                    else:
                        invert_halves(dither, word, low, 4)
                        round_parts(part, dither, v, high, 2 * PARTS, "e4m3")
                        store_random_e4m3(part, 0, result, 0, a * UNIT)
                        store_random_e4m3(part, PARTS, result, 0, b * UNIT)
            T.copy(result, out[0, start])
