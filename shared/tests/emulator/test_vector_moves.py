"""Lane movement, masks, reductions, gather and histograms (ascend_c_vector.md 3.3, 7, 8.6, 10)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Emulator, random_bytes
from .vector_lanes import DTYPES, Case, LaneKernel, lane_mask, masks, random_rows, zeroed

WIDTHS = ("uint8_t", "uint16_t", "uint32_t", "half", "float", "int8_t", "bfloat16_t")


def unsigned(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def same(name: str) -> tuple[str, str, str, str]:
    return (name, name, name, name)


# Permutations -----------------------------------------------------------------------------------
def interleaved(a, b, c, bits):
    a, b = unsigned(a), unsigned(b)
    z = np.stack([a, b], 2).reshape(len(a), -1)
    n = a.shape[1]
    return {"d": z[:, :n], "e": z[:, n:]}


def deinterleaved(a, b, c, bits):
    z = np.concatenate([unsigned(a), unsigned(b)], 1)
    return {"d": z[:, 0::2], "e": z[:, 1::2]}


def packed(half):
    def model(a, b, c, bits):
        w = a.dtype.itemsize // 2
        d = np.zeros((len(a), 256 // w), f"u{w}")
        n = a.shape[1]
        d[:, half * n : half * n + n] = unsigned(a).astype(d.dtype)
        return {"d": d}

    return model


def unpacked(half, dtype):
    def model(a, b, c, bits):
        n = a.shape[1] // 2
        return {"d": a[:, half * n : half * n + n].astype(dtype)}

    return model


def gathered(a, b, c, bits):
    n = a.shape[1]
    return {"d": np.take_along_axis(unsigned(a), b.astype(np.int64) % n, 1)}


def permutations() -> list[Case]:
    cases = []
    for i, name in enumerate(WIDTHS):
        ways = (("asc_intlv", "vintlv"), ("asc_deintlv", "vdintlv"))
        for (c_name, raw), model in zip(ways, (interleaved, deinterleaved), strict=True):
            cases.append(Case(f"{(c_name, raw)[i % 2]}(d, e, a, b)", same(name), model))
    # A source may be a destination.
    cases.append(Case("d = a; e = b; asc_intlv(d, e, d, e)", same("half"), interleaved))
    narrowing = {"uint16_t": "uint8_t", "int16_t": "uint8_t", "uint32_t": "uint16_t"}
    for source, target in {**narrowing, "int32_t": "uint16_t"}.items():
        types = (source, source, target, target)
        cases += [
            Case("asc_pack_to_low(d, a)", types, packed(0)),
            Case("asc_pack_to_high(d, a)", types, packed(1)),
            Case("vpack(d, a, LOWER)", types, packed(0)),
            Case("asc_pack_v2(d, a)", types, packed(1)),
        ]
    widening = {"uint8_t": "uint16_t", "int8_t": "int16_t", "uint16_t": "uint32_t"}
    for source, target in {**widening, "int16_t": "int32_t"}.items():
        types = (source, source, target, target)
        dtype = DTYPES[target]
        cases += [
            Case("asc_unpack_lower(d, a)", types, unpacked(0, dtype)),
            Case("asc_unpack_upper(d, a)", types, unpacked(1, dtype)),
            Case("vunpack(d, a, HIGHER)", types, unpacked(1, dtype)),
        ]
    for name, index in (("int8_t", "uint8_t"), ("half", "uint16_t"), ("float", "uint32_t")):
        types = (name, index, name, name)
        cases.append(Case("asc_gather(d, a, b)", types, gathered))
        cases.append(Case("vselr(d, a, b)", types, gathered))
    return cases


# Compaction -------------------------------------------------------------------------------------
def squeezed(a, b, c, bits):
    d = np.zeros_like(unsigned(a))
    for row, x, on in zip(d, unsigned(a), lane_mask(bits, a.dtype.itemsize), strict=True):
        row[: on.sum()] = x[on]
    return {"d": d}


def prefix_counts(a, b, c, bits):
    on = lane_mask(bits, a.dtype.itemsize).astype(np.int64)
    return {"d": (np.cumsum(on, 1) - on).astype(a.dtype)}


def compaction() -> list[Case]:
    cases = []
    for i, name in enumerate(WIDTHS):
        ways = ("asc_squeeze(d, a, m)", "d = asc_squeeze(a, m)", "vsqz(d, a, m, MODE_NO_STORED)",
                "asc_squeeze_v2(d, a, m)", "vsqz(d, a, m, MODE_STORED)")  # fmt: skip
        cases.append(Case(ways[i % 5], same(name), squeezed))
    for i, name in enumerate(("uint8_t", "int16_t", "uint32_t")):
        call = ("asc_unsqueeze(d, m)", "vusqz(d, m)")[i % 2]
        cases.append(Case(call, same(name), prefix_counts))
    return cases


# Masks ------------------------------------------------------------------------------------------
def mask_of(rule):
    """p starts as m; q is the mask of the nonzero lanes of a (8-bit)."""

    def model(a, b, c, bits):
        q = a != 0
        r = rule(bits, q)
        r = r if isinstance(r, tuple) else (r,)
        return {"p": r[0]} if len(r) == 1 else {"p": np.where(c[:, :1] % 2 == 0, r[0], r[1])}

    return model


def elements(bits: np.ndarray, width: int) -> np.ndarray:
    return bits.reshape(len(bits), -1, width)


def mask_interleaved(width):
    def rule(x, y):
        z = np.stack([elements(x, width), elements(y, width)], 2).reshape(len(x), 512)
        return z[:, :256], z[:, 256:]

    return rule


def mask_deinterleaved(width):
    def rule(x, y):
        z = elements(np.concatenate([x, y], 1), width)
        return z[:, 0::2].reshape(len(x), 256), z[:, 1::2].reshape(len(x), 256)

    return rule


def mask_packed(half):
    def rule(x, y):
        r = np.zeros_like(x)
        r[:, 128 * half : 128 * half + 128] = x[:, 0::2]
        return r

    return rule


def mask_unpacked(half):
    def rule(x, y):
        r = np.zeros_like(x)
        r[:, 0::2] = x[:, 128 * half : 128 * half + 128]
        return r

    return rule


def mask_cases() -> list[Case]:
    q = "vector_bool q; asc_ne_scalar(q, a, 0, asc_create_mask_b8(PAT_ALL)); "
    t = same("uint8_t")

    def two(call, raw, width, rule):
        """Both destinations: which of them a row shows depends on c's first byte."""
        text = f"{q}vector_bool x, y; {call}(x, y, m, q); p = first_is_odd(c) ? y : x"
        return [Case(text, t, mask_of(rule)), Case(text.replace(call, raw), t, mask_of(rule))]

    cases = [
        Case(q + "asc_and(p, m, q, m)", t, mask_of(lambda x, y: x & y)),
        Case(q + "asc_or(p, m, q, q)", t, mask_of(lambda x, y: (x | y) & y)),
        Case(q + "p = asc_xor(m, q, q)", t, mask_of(lambda x, y: (x ^ y) & y)),
        Case(q + "asc_not(p, q, m)", t, mask_of(lambda x, y: ~y & x)),
        Case(q + "pnot(p, m, q)", t, mask_of(lambda x, y: ~x & y)),
        Case(q + "asc_select(p, m, q, q)", t, mask_of(lambda x, y: np.where(y, x, y))),
        Case(q + "psel(p, q, m, m)", t, mask_of(lambda x, y: np.where(x, y, x))),
        Case(q + "asc_copy(p, q)", t, mask_of(lambda x, y: y)),
        Case(q + "asc_copy(p, q, m)", t, mask_of(lambda x, y: x & y)),
        Case("asc_pack_to_low(p, m)", t, mask_of(mask_packed(0))),
        Case("asc_pack_to_high(p, m)", t, mask_of(mask_packed(1))),
        Case("ppack(p, m, HIGHER)", t, mask_of(mask_packed(1))),
        Case("asc_unpack_lower(p, m)", t, mask_of(mask_unpacked(0))),
        Case("asc_unpack_upper(p, m)", t, mask_of(mask_unpacked(1))),
        Case("punpack(p, m, LOWER)", t, mask_of(mask_unpacked(0))),
    ]
    for suffix, width in (("b8", 1), ("b16", 2), ("b32", 4)):
        cases += two(f"asc_intlv_{suffix}", f"pintlv_{suffix}", width, mask_interleaved(width))
        cases += two(f"asc_deintlv_{suffix}", f"pdintlv_{suffix}", width, mask_deinterleaved(width))
    for name, size, repeat in (("uint16_t", 16, 2), ("uint32_t", 8, 4)):
        for part in (0, 5, 256 // size - 1):

            def model(a, b, c, bits, n=size, r=repeat, k=part):
                raw = a.view(np.uint8).reshape(len(a), 256)[:, k * n : k * n + n]
                single = np.unpackbits(raw, axis=1, bitorder="little").astype(bool)
                return {"p": np.repeat(single, r, 1)}

            cases.append(Case(f"asc_copy(p, a, {part})", same(name), model))
    return cases


# Mask creation: a count of lanes in a's first element, lowered by what was used -------------------
def creation() -> list[Case]:
    patterns = [("ALL", None), *((f"VL{n}", n) for n in (1, 2, 3, 4, 8, 16, 32, 64, 128))]
    rules = {
        "M3": lambda j, n: j % 3 == 0,
        "M4": lambda j, n: j % 4 == 0,
        "H": lambda j, n: j < n // 2,
        "Q": lambda j, n: j < n // 4,
        "ALLF": lambda j, n: j < 0,
    }
    rules |= {
        name: (lambda j, n, count=count: j < min(n if count is None else count, n))
        for name, count in patterns
    }

    def created(width, rule):
        def model(a, b, c, bits):
            p = np.zeros((len(a), 256), bool)
            j = np.arange(256 // width)
            p[:, ::width] = rule(j, 256 // width)
            return {"p": p}

        return model

    def updated(width):
        def model(a, b, c, bits):
            count = (a[:, :1] % 600).astype(np.int64)
            p = np.zeros((len(a), 256), bool)
            n = 256 // width
            p[:, ::width] = np.arange(n) < np.minimum(count, n)
            left = np.maximum(count - n, 0)
            return {"p": p, "d": np.broadcast_to(left, a.shape).astype(a.dtype)}

        return model

    cases = []
    for width in (1, 2, 4):
        suffix = f"b{8 * width}"
        for i, (name, rule) in enumerate(rules.items()):
            call = (f"asc_create_mask_{suffix}", f"pset_{suffix}", f"pge_{suffix}")[i % 3]
            cases.append(Case(f"p = {call}(PAT_{name})", same("uint8_t"), created(width, rule)))
        for call in (f"asc_update_mask_{suffix}(n)", f"plt_{suffix}(n, POST_UPDATE)"):
            text = f"uint32_t n = first_of(a) % 600; p = {call}; asc_duplicate_scalar(d, n)"
            cases.append(Case(text, same("uint32_t"), updated(width)))
    return cases


# Reductions -------------------------------------------------------------------------------------
def tree(x: np.ndarray, levels: int) -> np.ndarray:
    """Sums of adjacent pairs, each level rounded to the type."""
    for _ in range(levels):
        with np.errstate(all="ignore"):
            x = (x[:, 0::2] + x[:, 1::2]).astype(x.dtype)
    return x


def placed(values: np.ndarray, like: np.dtype) -> np.ndarray:
    lanes = np.zeros((len(values), 256 // like.itemsize), like)
    lanes[:, : values.shape[1]] = values
    return lanes


def summed(bytes_per_sum: int, target: str):
    def model(a, b, c, bits):
        dtype = DTYPES[target]
        active = zeroed(a, bits)
        wide = active.astype(dtype) if a.dtype.kind in "iu" else active
        levels = int(np.log2(bytes_per_sum // a.dtype.itemsize))
        return {"d": placed(tree(wide, levels), dtype)}

    return model


def extremes(largest: bool, block: int):
    """Scans lanes in order: the first that nothing before it equals or passes."""

    def model(a, b, c, bits):
        on = lane_mask(bits, a.dtype.itemsize)
        n = block // a.dtype.itemsize
        values = np.zeros((len(a), a.shape[1] // n), a.dtype)
        where = np.zeros(values.shape, np.int64)
        for row in range(len(a)):
            for k in range(values.shape[1]):
                part = slice(k * n, k * n + n)
                values[row, k], where[row, k] = extreme(a[row, part], on[row, part], largest)
        d = placed(values, a.dtype)
        if block == 256:
            unsigned(d)[:, 1] = where[:, 0]
        return {"d": d}

    return model


def extreme(x: np.ndarray, on: np.ndarray, largest: bool):
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        best = info.min if largest else info.max
        keys = [(int(v), 0) for v in x]
    else:
        best = -np.inf if largest else np.inf
        keys = [(float(v), 0 if np.signbit(v) else 1) for v in x]
    index, found = 0, None
    for i in np.flatnonzero(on):
        if x.dtype.kind not in "iu" and np.isnan(x[i]):
            return np.nan, int(i)
        better = found is None or (keys[i] > keys[found] if largest else keys[i] < keys[found])
        if better:
            found = int(i)
    if found is not None:
        best, index = x[found], found
    return best, index


def reductions() -> list[Case]:
    cases = []
    sums = [("int16_t", "int32_t"), ("uint16_t", "uint32_t"), ("int32_t", "int32_t"),
            ("uint32_t", "uint32_t"), ("half", "half"), ("float", "float")]  # fmt: skip
    for i, (source, target) in enumerate(sums):
        types = (source, source, target, target)
        ways = ("asc_reduce_sum(d, a, m)", "d = asc_reduce_sum(a, m)", "vcadd(d, a, m)")
        cases.append(Case(ways[i % 3], types, summed(256, target)))
        ways = ("asc_reduce_sum_datablock(d, a, m)", "vcgadd(d, a, m, MODE_ZEROING)")
        cases.append(Case(ways[i % 2], types, summed(32, target)))
    for i, name in enumerate(("int16_t", "uint16_t", "int32_t", "uint32_t", "half", "float")):
        for op, raw, largest in (("max", "vcmax", True), ("min", "vcmin", False)):
            ways = (f"asc_reduce_{op}(d, a, m)", f"{raw}(d, a, m, MODE_ZEROING)")
            cases.append(Case(ways[i % 2], same(name), extremes(largest, 256)))
            ways = (f"asc_reduce_{op}_datablock(d, a, m)", f"{raw.replace('vc', 'vcg')}(d, a, m)")
            cases.append(Case(ways[i % 2], same(name), extremes(largest, 32)))

    def pairs(a, b, c, bits):
        return {"d": placed(tree(zeroed(a, bits), 1), a.dtype)}

    for name in ("half", "float"):
        cases.append(Case("asc_pair_reduce_sum(d, a, m)", same(name), pairs))
        cases.append(Case("vcpadd(d, a, m, MODE_ZEROING)", same(name), pairs))
    return cases


# Histograms -------------------------------------------------------------------------------------
def histogram(first: int, cumulative: bool):
    def model(a, b, c, bits):
        d = c.copy()
        for row in range(len(a)):
            counts = np.bincount(a[row][bits[row]], minlength=256)
            if cumulative:
                counts = np.cumsum(counts)
            d[row] += counts[first : first + 128].astype(np.uint16)
        return {"d": d}

    return model


def histograms() -> list[Case]:
    types = ("uint8_t", "uint8_t", "uint16_t", "uint16_t")
    return [
        Case("asc_frequency_histogram_bin0(d, a, m)", types, histogram(0, False)),
        Case("asc_frequency_histogram_bin1(d, a, m)", types, histogram(128, False)),
        Case("asc_cumulative_histogram_bin0(d, a, m)", types, histogram(0, True)),
        Case("asc_cumulative_histogram_bin1(d, a, m)", types, histogram(128, True)),
        Case("dhistv2(d, a, m, Bin_N1)", types, histogram(128, False)),
        Case("chistv2(d, a, m, Bin_N1)", types, histogram(128, True)),
    ]


CASES = permutations() + compaction() + mask_cases() + creation() + reductions() + histograms()


@pytest.fixture(scope="module")
def kernel(emu: Emulator):
    return LaneKernel(emu, "moves", CASES)


IDS = [f"{c.text}-{c.types[0]}" for c in CASES]


@pytest.mark.parametrize("index", range(len(CASES)), ids=IDS)
def test_lanes_follow_the_formulas(kernel, index):
    case = CASES[index]
    rows = [random_rows(t, 32, s) for s, t in enumerate(case.types[:3])]
    if "q" in case.text and case.types[0] == "uint8_t":
        rows[0] = (random_bytes(32 * 256, 9) % 2).reshape(32, 256)
        rows[2] = random_bytes(32 * 256, 3).reshape(32, 256)
    kernel.check(index, *rows, masks(32))
