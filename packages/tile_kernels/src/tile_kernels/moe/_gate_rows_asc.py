"""The gate's work on rows of a tile, on vector registers: kinds of tokens, scores, results."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

from tile_kernels._asc import pieces
from tile_kernels.moe._random_asc import random_numbers
from tile_kernels.moe._scoring_asc import SOFTMAX, TOGETHER, row_totals, score_registers
from tile_kernels.moe._select_asc import INFINITY_BITS, LANES

__all__ = ["fill_flags", "finish_rows", "score_rows", "sort_out_rows", "take_fixed"]

ROUTED, FIXED, RANDOM, IMAGE = range(4)  # rows of `kinds`: 1 where a token is of the kind
MASK, FIX, FORCE, IMAGES = range(4)  # rows of `flags`, as they are given


@T.macro
def fill_flags(flags):
    """Flags of calls without any: every token takes part, none is of another kind."""
    all8 = T.simd.pset(8)
    for kind in range(4):
        value = T.simd.vdup(T.uint8(1 if kind == MASK else 0), "uint8", all8)
        T.simd.vsts(flags[kind, 0], value, all8, dist="NORM_B8")


@T.macro
def sort_out_rows(flags, kinds):
    """Sorts up to 64 tokens into kinds: the mask comes first, then random, then fixed ones."""
    all32 = T.simd.pset(32)
    none = T.simd.vdup(T.int32(0), "int32", all32)
    mask = T.reinterpret(T.simd.vld(flags[MASK, 0], dist="UNPK4_B8"), "int32x64")
    fix = T.reinterpret(T.simd.vld(flags[FIX, 0], dist="UNPK4_B8"), "int32x64")
    force = T.reinterpret(T.simd.vld(flags[FORCE, 0], dist="UNPK4_B8"), "int32x64")
    image = T.reinterpret(T.simd.vld(flags[IMAGES, 0], dist="UNPK4_B8"), "int32x64")
    routed = T.simd.vsel(none, mask, T.simd.vcmps(force, 0, all32, op="gt"))
    T.simd.vsts(kinds[ROUTED, 0], routed, all32)
    T.simd.vsts(kinds[FIXED, 0], T.simd.vand(fix, routed, all32), all32)
    T.simd.vsts(kinds[RANDOM, 0], T.simd.vand(force, mask, all32), all32)
    T.simd.vsts(kinds[IMAGE, 0], image, all32)


def is_kind(kinds, kind, row, all32):
    """All lanes or none: whether a row is of a kind."""
    return T.simd.vcmps(T.simd.vld(kinds[kind, row], dist="BRC_B32"), 1, all32, op="eq")


@T.macro
def score_rows(
    keys, score, bias, kinds, largest, rows, experts, entries, first, seed,
    scoring, with_kinds, with_images, with_random,
):  # fmt: skip
    """Turns logits in `keys` into scores and keys.

    Raises largest[0, 0] to the largest magnitude of the logits, as bits.

    Rows that are not routed count as logits of zero and have scores of zero. Keys behind the row
    are -inf to the end of a register.
    """
    all32 = T.simd.pset(32)
    magnitude = T.simd.vdup(T.int32(0x7FFFFFFF), "int32", all32)
    lowest = T.simd.vdup(-T.infinity(T.float32), "float32", all32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    most = T.alloc_var("int32x64")
    most = T.simd.vld(largest[0, 0], dist="BRC_B32")
    x, u, top, total = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(4))
    for b in T.serial(pieces(rows, TOGETHER)):
        if scoring == SOFTMAX:
            row_totals(keys, rows, b * TOGETHER, experts, top, total, x)
        for c in T.serial(pieces(entries, LANES)):
            lane = T.simd.vci(c * LANES, "int32")
            inside = T.simd.vcmps(lane, experts, all32, op="lt")
            added = T.simd.vld(bias[0, c * LANES])
            # NOTE: the last row stands in for those behind it; it is read before it is written.
            for k in T.unroll(TOGETHER):
                x[k] = T.simd.vld(keys[T.min(b * TOGETHER + k, rows - 1), c * LANES])
            if with_kinds:
                for k in T.unroll(TOGETHER):
                    i = T.min(b * TOGETHER + k, rows - 1)
                    x[k] = T.simd.vsel(x[k], zero, is_kind(kinds, ROUTED, i, all32))
            for k in T.unroll(TOGETHER):
                size = T.simd.vand(T.reinterpret(x[k], "int32x64"), magnitude, inside)
                most = T.simd.vmax(most, size, all32)
            score_registers(x, u, top, total, all32, scoring)
            for k in T.unroll(TOGETHER):
                i = T.min(b * TOGETHER + k, rows - 1)
                if with_kinds:
                    u[k] = T.simd.vsel(u[k], zero, is_kind(kinds, ROUTED, i, all32))
                T.simd.vsts(score[i, c * LANES], u[k], all32)
                if scoring != SOFTMAX:
                    x[k] = u[k]
                if with_images:
                    of_images = T.simd.vld(bias[1, c * LANES])
                    of_row = T.simd.vsel(of_images, added, is_kind(kinds, IMAGE, i, all32))
                    x[k] = T.simd.vadd(x[k], of_row, all32)
                else:
                    x[k] = T.simd.vadd(x[k], added, all32)
            for k in T.unroll(TOGETHER):
                i = T.min(b * TOGETHER + k, rows - 1)
                x[k] = T.simd.vsel(x[k], lowest, inside)
                if with_random:
                    number = random_numbers(seed, first + i, lane, all32)
                    random = is_kind(kinds, RANDOM, i, all32)
                    x[k] = T.simd.vsel(number, x[k], T.simd.vcmps(lane, entries, random, op="lt"))
                T.simd.vsts(keys[i, c * LANES], x[k], all32)
    T.simd.vsts(largest[0, 0], T.simd.vcmax(most, all32), all32, dist="ONEPT_B32")


@T.macro
def take_fixed(found, chosen, kinds, largest, rows, k, experts):
    """Puts the experts given for fixed tokens in place of those found.

    Writes the bits of infinity to largest[0, LANES] if one of them is no expert.
    """
    all32 = T.simd.pset(32)
    none = T.simd.vdup(T.int32(0), "int32", all32)
    infinite = T.simd.vdup(T.int32(INFINITY_BITS), "int32", all32)
    most = T.alloc_var("int32x64")
    most = T.simd.vld(largest[0, LANES], dist="BRC_B32")
    for i in T.serial(rows):
        for c in T.serial(pieces(k, LANES)):
            lane = T.simd.vci(c * LANES, "int32")
            taken = T.simd.vcmps(lane, k, is_kind(kinds, FIXED, i, all32), op="lt")
            low, high = T.simd.vld2(chosen[i, 2 * c * LANES], dist="DINTLV_B32")
            above = T.simd.vcmps(low, experts, taken, op="ge")
            below = T.simd.vcmps(low, 0, taken, op="lt")
            far = T.simd.vcmps(high, 0, taken, op="ne")
            wrong = T.simd.por(T.simd.por(above, below, all32), far, all32)
            most = T.simd.vmax(most, T.simd.vsel(infinite, none, wrong), all32)
            old = T.simd.vld(found[i, c * LANES])
            T.simd.vsts(
                found[i, c * LANES], T.simd.vsel(T.simd.vsel(none, low, wrong), old, taken), all32
            )
    T.simd.vsts(largest[0, LANES], T.simd.vcmax(most, all32), all32, dist="ONEPT_B32")


@T.macro
def store_pairs(words, row, c, index, all32):
    """Writes 64 indices as numbers of 64 bits."""
    left, right = T.simd.vintlv(index, T.simd.vshrs(index, 31, all32))
    T.simd.vsts(words[row, 2 * c * LANES], left, all32)
    T.simd.vsts(words[row, (2 * c + 1) * LANES], right, all32)


@T.macro
def scores_of_found(found, score, old, u, b, c, rows, selected):
    """Sets `old` to 64 experts found for each row of a batch, `u` to the scores of the selected.

    The last row stands in for those behind it.
    """
    for j in T.unroll(TOGETHER):
        old[j] = T.simd.vld(found[T.min(b * TOGETHER + j, rows - 1), c * LANES])
    for j in T.unroll(TOGETHER):
        i = T.min(b * TOGETHER + j, rows - 1)
        at = T.reinterpret(old[j], "uint32x64")
        u[j] = T.simd.vgather2(score[i, 0], at, selected)


@T.macro
def finish_rows(
    found, score, index_words, weights, chosen, kinds, rows, k, slots, experts, entries, factor,
    first, seed, with_kinds, with_random, with_unmapped,
):  # fmt: skip
    """Writes the slots of rows: experts as pairs of words, and normalised weights."""
    all32 = T.simd.pset(32)
    one = T.simd.vdup(T.float32(1.0), "float32", all32)
    zero = T.simd.vdup(T.float32(0.0), "float32", all32)
    none = T.simd.vdup(T.int32(-1), "int32", all32)
    total, inverse, u, w = (T.simd.alloc_local(TOGETHER, "float32") for _ in range(4))
    old = T.simd.alloc_local(TOGETHER, "int32")
    for b in T.serial(pieces(rows, TOGETHER)):
        # Sums of the selected scores
        for j in T.unroll(TOGETHER):
            total[j] = zero
        for c in T.serial(pieces(k, LANES)):
            selected = T.simd.vcmps(T.simd.vci(c * LANES, "int32"), k, all32, op="lt")
            scores_of_found(found, score, old, u, b, c, rows, selected)
            for j in T.unroll(TOGETHER):
                total[j] = T.simd.vadd(total[j], u[j], all32)
        for j in T.unroll(TOGETHER):
            total[j] = T.simd.vcadd(total[j], all32)
        for j in T.unroll(TOGETHER):
            total[j] = T.simd.vdupv(total[j], all32)
        for j in T.unroll(TOGETHER):
            total[j] = T.simd.vadds(total[j], T.float32(1e-20), all32)
        for j in T.unroll(TOGETHER):
            inverse[j] = T.simd.vdiv(one, total[j], all32, precision="ftz_true")
        for c in T.serial(pieces(slots, LANES)):
            slot = T.simd.vci(c * LANES, "int32")
            shared = T.simd.vadds(slot, experts - k, all32)
            selected = T.simd.vcmps(slot, k, all32, op="lt")
            scores_of_found(found, score, old, u, b, c, rows, selected)
            # Quotients, and what they have lost by rounding
            for j in T.unroll(TOGETHER):
                w[j] = T.simd.vdiv(u[j], total[j], all32, precision="ftz_true")
            for j in T.unroll(TOGETHER):
                T.simd.vmula(u[j], T.simd.vneg(w[j], all32), total[j], all32)
            for j in T.unroll(TOGETHER):
                T.simd.vmula(w[j], u[j], inverse[j], all32)
            for j in T.unroll(TOGETHER):
                w[j] = T.simd.vsel(T.simd.vmuls(w[j], factor, all32), one, selected)
            for j in T.unroll(TOGETHER):
                i = T.min(b * TOGETHER + j, rows - 1)
                index = T.simd.vsel(old[j], shared, selected)
                if with_kinds:
                    routed = is_kind(kinds, ROUTED, i, all32)
                    index = T.simd.vsel(index, none, routed)
                    w[j] = T.simd.vsel(w[j], zero, routed)
                if with_unmapped:
                    store_pairs(chosen, i, c, index, all32)
                if with_random:
                    place = T.simd.vadds(slot, entries, all32)
                    number = random_numbers(seed, first + i, place, all32)
                    random = is_kind(kinds, RANDOM, i, all32)
                    index = T.simd.vsel(old[j], index, random)
                    share = T.simd.vmuls(number, T.float32(2.0**-24), all32)
                    w[j] = T.simd.vsel(share, w[j], random)
                store_pairs(index_words, i, c, index, all32)
                T.simd.vsts(weights[i, c * LANES], w[j], all32)
