"""Random rounding on vector registers, of numbers in the order of `quads_asc`.

A magnitude becomes a fixed-point word: its code, rounded down, in the highest bits, the part that
rounding drops below. That part plus inverted random bits carries into the code just where the part
is above the random number. The rule is that of `stochastic` in `numeric_asc`, bit for bit.
"""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

from typing import Any, NamedTuple

import tilelang.ascend.language as T

from tile_kernels.quant.numeric_asc import MAX_VALUE
from tile_kernels.quant.quads_asc import PARTS

__all__ = [
    "as_words", "fixed_parts", "mix", "place_bits", "place_of", "round_parts", "store_at_random",
    "store_random_e4m3",
]  # fmt: skip

PLACE_FACTOR = 0x9E3779B9
NAN_BITS = 0x43F00000  # 480: as e4m3 that is the code of NaN


class Fixed(NamedTuple):
    """How a format's magnitudes become fixed-point words.

    Attributes:
        fraction: bits of the dropped part.
        least: the least normal number.
        align: a power of two that makes its exponent the first one.
        shift: from bits of a number so scaled to the word.
        unit: words, less `tail` bits, of the number 1 among subnormal ones.
        tail: bits of a word that subnormal numbers leave zero.
    """

    fraction: int
    least: float
    align: float
    shift: int
    unit: float
    tail: int


FIXED = {
    "e4m3": Fixed(24, 2.0**-6, 2.0**-120, 4, 2.0**33, 0),
    "e2m1": Fixed(28, 1.0, 2.0**-126, 6, 2.0**25, 4),
}


def as_words(value: Any) -> Any:
    """The bits of a register as 64 uint32."""
    return T.reinterpret(value, "uint32x64")


def _as_bytes(word: Any) -> Any:
    return T.reinterpret(word, "uint8x256")


def _as_halves(word: Any) -> Any:
    return T.reinterpret(word, "uint16x128")


@T.macro
def mix(word, count, shift, factor=1):
    """Replaces words w by (w ^ w >> shift) * factor."""
    all32 = T.simd.pset(32)
    moved = T.simd.alloc_local(count, "uint32")
    for k in T.unroll(count):
        moved[k] = T.simd.vshrs(word[k], shift, all32)
    for k in T.unroll(count):
        word[k] = T.simd.vxor(word[k], moved[k], all32)
    if factor != 1:
        for k in T.unroll(count):
            word[k] = T.simd.vmuls(word[k], T.uint32(factor), all32)


def place_of(row: Any, column: Any, hidden: Any) -> Any:
    """The place (uint32) of an element in a matrix of `hidden` columns, modulo 2 ** 32."""
    start = T.cast(row, "uint32") * T.cast(hidden, "uint32")
    return start + T.cast(column, "uint32")


def place_bits(all32: Any) -> Any:
    """Each lane's share of the hash of a place: lane j of the first register has element 4 j."""
    lane = T.reinterpret(T.simd.vci(T.int32(0), "int32"), "uint32x64")
    return T.simd.vmuls(lane, T.uint32(PLACE_FACTOR * PARTS % 2**32), all32)


@T.macro
def random_of_places(word, v, lanes, place_a, place_b):
    """Sets words to random bits of two units' numbers and places; `lanes` is `place_bits`.

    The first elements of the units have these places (uint32) in the whole matrix.
    """
    all32 = T.simd.pset(32)
    for k in T.unroll(PARTS):
        word[k] = T.simd.vadds(lanes, (place_a + T.uint32(k)) * T.uint32(PLACE_FACTOR), all32)
    for k in T.unroll(PARTS):
        first = (place_b + T.uint32(k)) * T.uint32(PLACE_FACTOR)
        word[PARTS + k] = T.simd.vadds(lanes, first, all32)
    for k in T.unroll(2 * PARTS):
        word[k] = T.simd.vxor(word[k], as_words(v[k]), all32)
    mix(word, 2 * PARTS, 16, 0x7FEB352D)
    mix(word, 2 * PARTS, 15, 0x846CA68B)
    mix(word, 2 * PARTS, 16)


@T.macro
def invert(word, count, fmt):
    """Makes of words, random from the highest bit on, what `round_parts` adds."""
    all32 = T.simd.pset(32)
    for k in T.unroll(count):
        word[k] = T.simd.vnot(word[k], all32)
    for k in T.unroll(count):
        word[k] = T.simd.vshrs(word[k], 32 - FIXED[fmt].fraction, all32)


@T.macro
def fixed_parts(part, v, registers, fmt, is_limited=False):
    """Sets words to the magnitudes of v, limited unless they are, as fixed-point numbers.

    Registers, a tuple of their numbers, take each step together. NaN has the e4m3 code of NaN.
    """
    all32 = T.simd.pset(32)
    fixed = FIXED[fmt]
    count = len(registers)
    magnitude = T.simd.alloc_local(count, "float32")
    small, whole = (T.simd.alloc_local(count, "uint32") for _ in range(2))
    for n, k in enumerate(registers):
        magnitude[n] = T.simd.vabs(v[k], all32)
    if not is_limited:
        for n in T.unroll(count):
            magnitude[n] = T.simd.vmins(magnitude[n], T.float32(MAX_VALUE[fmt]), all32)
    if fmt == "e4m3":
        for n in T.unroll(count):
            bits = T.reinterpret(magnitude[n], "int32x64")
            bits = T.simd.vmins(bits, T.int32(NAN_BITS), all32)
            magnitude[n] = T.reinterpret(bits, "float32x64")
    # Subnormal numbers. NOTE: rounded up, they stay above just the random numbers that they were.
    for n in T.unroll(count):
        scaled = T.simd.vmuls(magnitude[n], T.float32(fixed.unit), all32)
        small[n] = as_words(T.simd.vcvt(scaled, "int32", all32, round="ROUND_C"))
    if fixed.tail:
        for n in T.unroll(count):
            small[n] = T.simd.vshls(small[n], fixed.tail, all32)
    # Normal ones
    for n in T.unroll(count):
        whole[n] = as_words(T.simd.vmuls(magnitude[n], T.float32(fixed.align), all32))
    for n in T.unroll(count):
        whole[n] = T.simd.vshls(whole[n], fixed.shift, all32)
    for n, k in enumerate(registers):
        is_small = T.simd.vcmps(magnitude[n], T.float32(fixed.least), all32, "lt")
        part[k] = T.simd.vsel(small[n], whole[n], is_small)


@T.macro
def round_parts(part, word, v, high, count, fmt):
    """Adds words by `invert` to fixed-point magnitudes: codes, and v's signs, in the highest bits.

    `high` has the highest bit of each lane set. Signs of NaN are left out; as e2m1 it becomes 0.
    """
    all32 = T.simd.pset(32)
    for k in T.unroll(count):
        part[k] = T.simd.vadd(part[k], word[k], all32)
    for k in T.unroll(count):
        is_number = T.simd.vcmp(v[k], v[k], all32, "eq")
        sign = T.simd.vand(as_words(v[k]), high, is_number)
        part[k] = T.simd.vor(part[k], sign, all32 if fmt == "e4m3" else is_number)


@T.macro
def store_random_e4m3(word, at, codes, i, j):
    """Writes the highest bytes of word[at : at + 4] as e4m3 to row i from column j on."""
    all8, all16, all32 = T.simd.pset(8), T.simd.pset(16), T.simd.pset(32)
    # NOTE: masks of wider lanes choose the first byte, or half, of each.
    left = T.simd.vsel(
        _as_bytes(T.simd.vshrs(word[at], 24, all32)),
        _as_bytes(T.simd.vshrs(word[at + 1], 16, all32)), all32,
    )  # fmt: skip
    right = T.simd.vsel(
        _as_bytes(T.simd.vshrs(word[at + 2], 8, all32)), _as_bytes(word[at + 3]), all16
    )
    quad = T.simd.vsel(_as_halves(left), _as_halves(right), all32)
    T.simd.vsts(codes[i, j], T.reinterpret(quad, "float8_e4m3fnx256"), all8, dist="NORM_B8")


@T.macro
def store_random_e2m1(word, at, codes, i, j):
    """Writes the four highest bits of word[at : at + 4] as e2m1 to row i from byte j on."""
    all32 = T.simd.pset(32)
    high = T.simd.vdup(T.uint32(0xF0000000), "uint32", all32)
    pair = T.simd.alloc_local(2, "uint32")
    for k in T.unroll(2):
        pair[k] = T.simd.vor(
            T.simd.vshrs(word[at + 2 * k], 4, all32),
            T.simd.vand(word[at + 2 * k + 1], high, all32), all32,
        )  # fmt: skip
    both = T.simd.vsel(
        _as_bytes(T.simd.vshrs(pair[0], 24, all32)),
        _as_bytes(T.simd.vshrs(pair[1], 16, all32)), all32,
    )  # fmt: skip
    T.simd.vsts(codes[i, j], T.reinterpret(both, "int8x256"), all32, dist="PK_B32")


@T.macro
def store_at_random(v, lanes, place, codes, i, j0, j1, fmt):
    """Writes codes of two units v to row i, rounded up or down at random by value and place.

    `j0` and `j1` are their first columns, `place` (uint32) is that of the row's first column in the
    whole matrix, `lanes` is `place_bits`. NaN stays as e4m3, and becomes 0 as e2m1.
    NOTE: numbers above the largest are on the grid once limited, so their bits do not matter.
    """
    all32 = T.simd.pset(32)
    high = T.simd.vdup(T.uint32(0x80000000), "uint32", all32)
    part, word = (T.simd.alloc_local(2 * PARTS, "uint32") for _ in range(2))
    random_of_places(word, v, lanes, place + T.cast(j0, "uint32"), place + T.cast(j1, "uint32"))
    invert(word, 2 * PARTS, fmt)
    fixed_parts(part, v, tuple(range(2 * PARTS)), fmt)
    round_parts(part, word, v, high, 2 * PARTS, fmt)
    if fmt == "e4m3":
        store_random_e4m3(part, 0, codes, i, j0)
        store_random_e4m3(part, PARTS, codes, i, j1)
    else:
        store_random_e2m1(part, 0, codes, i, T.truncdiv(j0, 2))
        store_random_e2m1(part, PARTS, codes, i, T.truncdiv(j1, 2))
