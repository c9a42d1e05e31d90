"""Random numbers of the gate on vector registers: a hash of seed, token and entry."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

__all__ = ["random_numbers"]


@T.macro
def mixed(bits, all32):
    """Bits of which each depends on all bits given."""
    first = T.simd.vdup(T.uint32(0x7FEB352D), "uint32", all32)
    second = T.simd.vdup(T.uint32(0x846CA68B), "uint32", all32)
    once = T.simd.vxor(bits, T.simd.vshrs(bits, 16, all32), all32)
    once = T.simd.vmul(once, first, all32)
    twice = T.simd.vxor(once, T.simd.vshrs(once, 15, all32), all32)
    twice = T.simd.vmul(twice, second, all32)
    return T.simd.vxor(twice, T.simd.vshrs(twice, 16, all32), all32)


@T.macro
def random_numbers(seed, token, entry, all32):
    """64 whole numbers below 2 ** 24, as fp32, for 64 entries (int32) of a token."""
    by_token = T.simd.vdup(T.uint32(0x9E3779B9), "uint32", all32)
    by_entry = T.simd.vdup(T.uint32(0x85EBCA6B), "uint32", all32)
    row = T.reinterpret(T.simd.vdup(token, "int32", all32), "uint32x64")
    start = T.reinterpret(T.simd.vdup(seed, "int32", all32), "uint32x64")
    of_row = mixed(T.simd.vxor(start, T.simd.vmul(row, by_token, all32), all32), all32)
    spread = T.simd.vmul(T.reinterpret(entry, "uint32x64"), by_entry, all32)
    bits = mixed(T.simd.vxor(of_row, spread, all32), all32)
    whole = T.reinterpret(T.simd.vshrs(bits, 8, all32), "int32x64")
    return T.simd.vcvt(whole, "float32", all32)
