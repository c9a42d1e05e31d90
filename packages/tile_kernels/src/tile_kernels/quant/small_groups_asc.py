"""Groups of 16 channels on vector registers, for the per-token cast in `token_cast_asc`.

In the order of `quads_asc` such a group has four lanes of each register, half of what one load of
factors fills. So its inverse is brought to its lanes by interleaving a register with itself, for
512 numbers of a row at once. Largest magnitudes of bf16 are found in a tree that ends with those of
two rows in one register.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any

import tilelang.ascend.language as T

from tile_kernels.quant.quads_asc import PARTS, UNIT, larger
from tile_kernels.quant.registers_asc import LANES

__all__ = ["SMALL", "STEP", "e2m1_of_small", "magnitudes_of_small", "small_factors"]

SMALL = 16  # channels of a group
STEP = 2 * UNIT  # numbers whose factors are spread at once
ROW = 4 * UNIT  # numbers of a row of a tile


@T.macro
def magnitudes_of_small(tile, groups, rows, units):
    """Writes the bits of the largest magnitude of each 16 channels of rows of 1024.

    They are those of bf16 (as int16) or fp32 numbers; behind the last unit come those of it again.
    """
    if tile.dtype == "float32":
        _magnitudes_of_fp32(tile, groups, rows, units)
    else:
        _magnitudes_of_bf16(tile, groups, rows, units)


@T.macro
def _magnitudes_of_fp32(tile, groups, rows, units):
    """A group is 32 bytes of lanes once the larger of each two neighbours is taken."""
    all32, eight = T.simd.pset(32), T.simd.pset(32, "PAT_VL8")
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    largest = T.simd.alloc_local(PARTS, "int32")
    for i in T.serial(rows):
        for step in T.serial(T.truncdiv(units + 1, 2)):
            for k in T.unroll(PARTS):
                place = step * STEP + k * 2 * LANES
                pair = T.simd.vld2(tile[i, place], "DINTLV_B32")
                largest[k] = larger(*pair, magnitude, all32)
            for k in T.unroll(PARTS):
                largest[k] = T.simd.vcgmax(largest[k], all32)
            for k in T.unroll(PARTS):
                place = step * (STEP // SMALL) + k * (2 * LANES // SMALL)
                T.simd.vsts(groups[i, place], largest[k], eight, extent=2 * LANES // SMALL)


@T.macro
def _magnitudes_of_bf16(tile, groups, rows, units):
    """Each level takes the larger of each two neighbours; behind the last row comes it again."""
    all16 = T.simd.pset(16)
    magnitude = T.simd.vdup(T.int16(0x7FFF), "int16", all16)
    largest = T.simd.alloc_local(2 * PARTS, "int16")
    for pair in T.serial(T.truncdiv(rows + 1, 2)):
        for h in T.unroll(2):
            i = T.min(2 * pair + h, rows - 1)
            for k in T.unroll(PARTS):
                u = T.min(k, units - 1)
                both = T.simd.vld2(tile[i, u * UNIT], "DINTLV_B16")
                largest[h * PARTS + k] = larger(*both, magnitude, all16)
        for count in (4, 2, 1):
            for k in T.unroll(count):
                even, odd = T.simd.vdintlv(largest[2 * k], largest[2 * k + 1])
                largest[k] = T.simd.vmax(even, odd, all16)
        T.simd.vsts(groups[2 * pair, 0], largest[0], all16, dist="NORM_B16")


def small_factors(factors: Any, i: Any, unit: Any) -> Any:
    """The factors of two units of row i, as `quads_asc` orders their numbers.

    Half of what is loaded is used, so half a register behind the last row must exist.
    """
    some = T.simd.vld(factors[i, unit * (UNIT // SMALL)])
    twice, _ = T.simd.vintlv(some, some)
    return T.simd.vintlv(twice, twice)


@T.macro
def e2m1_of_small(tile, factors, codes, rows, units):
    """Writes the e2m1 codes nearest to bf16 values times powers of two, exact as bf16.

    A group has 32 bytes of lanes, as the values lie.
    """
    all16, all32 = T.simd.pset(16), T.simd.pset(32)
    product = T.simd.alloc_local(PARTS, "bfloat16")
    for i in T.serial(rows):
        for step in T.serial(T.truncdiv(units + 1, 2)):
            for k in T.unroll(PARTS):
                place = step * STEP + k * 2 * LANES
                factor = T.simd.vld(factors[i, T.truncdiv(place, SMALL)], dist="E2B_B16")
                product[k] = T.simd.vmul(T.simd.vld(tile[i, place]), factor, all16)
            for k in T.unroll(PARTS):
                code = T.simd.vcvt(product[k], "float4_e2m1fn", all16, part=0)
                place = step * (STEP // 2) + k * LANES
                T.simd.vsts(codes[i, place], T.reinterpret(code, "int8x256"), all32, dist="PK4_B32")
