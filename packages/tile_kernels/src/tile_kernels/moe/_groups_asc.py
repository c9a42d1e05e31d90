"""Building blocks of the gates on vector registers: groups of experts, a lane a group."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces
from tile_kernels.moe._select_asc import LANES

__all__ = ["drop_groups", "sum_groups"]


@T.macro
def sum_groups(keys, sums, rows, groups, per_group, num_sum):
    """sums[i, g] = sum of the `num_sum` (1 or 2) largest keys of group g; -inf behind the groups.

    Group g begins to read at its entry g: the lanes then read from different banks of the unified
    buffer, also where groups lie a multiple of the banks apart.
    """
    all32 = T.simd.pset(32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    size = T.simd.vdup(per_group, "int32", all32)
    both = T.simd.vcmps(T.simd.vdup(num_sum, "int32", all32), 2, all32, op="eq")
    for i in T.serial(rows):
        for c in T.serial(pieces(groups, LANES)):
            group = T.simd.vci(c * LANES, "int32")
            inside = T.simd.vcmps(group, groups, all32, op="lt")
            first, second = T.alloc_var("float32x64"), T.alloc_var("float32x64")
            first = lowest
            second = lowest
            begin = T.simd.vmul(group, size, all32)
            end = T.simd.vadd(begin, size, all32)
            skewed = T.simd.vadd(begin, T.simd.vmins(group, per_group - 1, all32), all32)
            for step in T.serial(per_group):
                ahead = T.simd.vadds(skewed, step, all32)
                over = T.simd.vcmp(ahead, end, all32, op="ge")
                at = T.simd.vsel(T.simd.vsub(ahead, size, all32), ahead, over)
                entry = T.simd.vgather2(keys[i, 0], T.reinterpret(at, "uint32x64"), inside)
                second = T.simd.vmax(second, T.simd.vmin(first, entry, all32), all32)
                first = T.simd.vmax(first, entry, all32)
            total = T.simd.vsel(T.simd.vadd(first, second, all32), first, both)
            T.simd.vsts(sums[i, c * LANES], T.simd.vsel(total, lowest, inside), all32)


@T.macro
def drop_groups(keys, sums, found, rows, count, per_group, kept):
    """Keys of groups become -inf where none of the `kept` groups in `found` (best first) is theirs.

    The last one kept decides: others go if their sum is below, or equal and their index larger.
    """
    all32 = T.simd.pset(32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    size = T.simd.vcvt(T.simd.vdup(per_group, "int32", all32), "float32", all32)
    for i in T.serial(rows):
        last = T.simd.vld(found[i, kept - 1], dist="BRC_B32")
        worst = T.simd.vgather2(sums[i, 0], T.reinterpret(last, "uint32x64"), all32)
        for c in T.serial(pieces(count, LANES)):
            entry = T.simd.vcvt(T.simd.vci(c * LANES, "int32"), "float32", all32)
            # NOTE: exact: a half is added, so no quotient is near a whole number.
            quotient = T.simd.vdiv(T.simd.vadds(entry, T.float32(0.5), all32), size, all32)
            group = T.simd.vcvt(quotient, "int32", all32, round="ROUND_Z")
            inside = T.simd.vcmps(T.simd.vci(c * LANES, "int32"), count, all32, op="lt")
            total = T.simd.vgather2(sums[i, 0], T.reinterpret(group, "uint32x64"), inside)
            below = T.simd.vcmp(total, worst, inside, op="lt")
            equal = T.simd.vcmp(total, worst, inside, op="eq")
            lost = T.simd.por(below, T.simd.vcmp(group, last, equal, op="gt"), inside)
            kept_keys = T.simd.vsel(lowest, T.simd.vld(keys[i, c * LANES]), lost)
            T.simd.vsts(keys[i, c * LANES], kept_keys, all32)
