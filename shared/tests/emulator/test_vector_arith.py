"""Arithmetic, logic, shifts, comparisons and selection of registers (ascend_c_vector.md section 8).

Every case is checked with all kinds of masks, special values and random ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import Emulator
from .vector_lanes import (
    DTYPES,
    Case,
    LaneKernel,
    canonical,
    lane_mask,
    masks,
    random_rows,
    zeroed,
)

INTS = ("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t")
FLOATS = ("half", "bfloat16_t", "float")
ALL9 = INTS + FLOATS


def wide(x: np.ndarray) -> np.ndarray:
    """Operands in which the operation is exact or rounds once more at most."""
    return x.astype(np.int64) if x.dtype.kind in "iu" else x.astype(np.float32)


def narrow(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype)


def maximum(a, b):
    if a.dtype.kind in "iu":
        return np.maximum(a, b)
    r = np.where(a > b, a, b)
    r = np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0), r)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, r).astype(np.float32)


def minimum(a, b):
    return np.minimum(a, b) if a.dtype.kind in "iu" else -maximum(-a, -b)


def multiply(a, b):
    # 32-bit products may pass 64 bits only above the bits that are kept.
    return a * b


RULES = {"add": np.add, "sub": np.subtract, "mul": multiply, "max": maximum, "min": minimum}


def typed(name: str, rule, scalar=None):
    dtype = DTYPES[name]

    def model(a, b, c, bits):
        with np.errstate(all="ignore"):
            second = np.full_like(a, scalar) if scalar is not None else b
            return {"d": zeroed(narrow(rule(wide(a), wide(second)), dtype), bits)}

    return model


def same(name: str) -> tuple[str, str, str, str]:
    return (name, name, name, name)


def arithmetic() -> list[Case]:
    """Section 8.1: both generations, vector and scalar forms."""
    cases = []
    for op, rule in RULES.items():
        for index, name in enumerate(ALL9):
            if op == "mul" and name in ("int8_t", "uint8_t"):
                continue
            raw = f"v{op}(d, a, b, m, MODE_ZEROING)"
            ways = (f"asc_{op}(d, a, b, m)", f"d = asc_{op}(a, b, m)", raw)
            cases.append(Case(ways[index % 3], same(name), typed(name, rule)))
    for op in ("add", "mul", "max", "min"):
        for index, name in enumerate(ALL9):
            if op == "mul" and name in ("int8_t", "uint8_t"):
                continue
            value = 3 if name in INTS else 1.25
            ways = (
                f"asc_{op}_scalar(d, a, {value}, m)",
                f"d = asc_{op}_scalar(a, {value}, m)",
                f"v{op}s(d, a, {value}, m, MODE_ZEROING)",
            )
            cases.append(Case(ways[(index + 1) % 3], same(name), typed(name, RULES[op], value)))
    return cases


def merging() -> list[Case]:
    """Raw intrinsics keep inactive lanes."""

    def merged(name, rule):
        def model(a, b, c, bits):
            with np.errstate(all="ignore"):
                r = narrow(rule(wide(a), wide(b)), DTYPES[name])
            kind = f"u{r.dtype.itemsize}"
            on = lane_mask(bits, r.dtype.itemsize)
            return {"d": np.where(on, canonical(r).view(kind), c.view(kind))}

        return model

    return [
        Case("vadd(d, a, b, m, MODE_MERGING)", same("float"), merged("float", np.add)),
        Case("vmax(d, a, b, m, MODE_MERGING)", same("int16_t"), merged("int16_t", np.maximum)),
        Case("vxor(d, a, b, m, MODE_MERGING)", same("uint8_t"), merged("uint8_t", np.bitwise_xor)),
        Case(
            "vdup(d, 7, m, MODE_MERGING)",
            same("int32_t"),
            merged("int32_t", lambda a, b: np.full_like(a, 7)),
        ),
        Case("asc_copy(d, a, m)", same("uint16_t"), merged("uint16_t", lambda a, b: a)),
        Case("vmov(d, a, m, MODE_MERGING)", same("int8_t"), merged("int8_t", lambda a, b: a)),
    ]


def unary() -> list[Case]:
    def abs_(x):
        return np.abs(x)

    def relu(x):
        if x.dtype.kind == "i":
            return x.clip(0)
        return np.where(x > 0, x, np.where(np.isnan(x), x, 0.0))

    rows = [("abs", abs_), ("neg", np.negative), ("relu", relu)]
    cases = []
    for op, rule in rows:
        for index, name in enumerate(("int8_t", "int16_t", "int32_t", "half", "float")):
            ways = (f"asc_{op}(d, a, m)", f"d = asc_{op}(a, m)", f"v{op}(d, a, m, MODE_ZEROING)")
            cases.append(Case(ways[index % 3], same(name), typed(name, lambda a, b, f=rule: f(a))))
    return cases


def activation() -> list[Case]:
    def leaky(a, slope):
        return np.where(a > 0, a, a * slope)

    def distance(a, b):
        return np.abs(a - b)

    return [
        case
        for name in ("half", "float")
        for case in (
            Case("asc_leakyrelu(d, a, 0.125, m)", same(name), typed(name, leaky, 0.125)),
            Case("asc_prelu(d, a, b, m)", same(name), typed(name, leaky)),
            Case("asc_abs_sub(d, a, b, m)", same(name), typed(name, distance)),
        )
    ]


def carries() -> list[Case]:
    """{carry, d} = a + b (+ carry in); a subtraction adds the complement."""

    def model(subtract: bool, carry_in):
        def run(a, b, c, bits):
            x = a.view(np.uint32).astype(np.uint64)
            y = b.view(np.uint32) ^ np.uint32(0xFFFFFFFF if subtract else 0)
            on = lane_mask(bits, 4)
            total = x + y.astype(np.uint64) + (on if carry_in == "m" else np.uint64(carry_in))
            p = np.zeros((len(a), 256), bool)
            p[:, ::4] = (total >> np.uint64(32)).astype(bool) & on
            return {"d": zeroed((total & 0xFFFFFFFF).astype(np.uint32).view(a.dtype), bits), "p": p}

        return run

    return [
        Case("asc_add(p, d, a, b, m)", same("uint32_t"), model(False, 0)),
        Case("asc_addc(p, d, a, b, p, m)", same("uint32_t"), model(False, "m")),
        Case("asc_sub(p, d, a, b, m)", same("uint32_t"), model(True, 1)),
        Case("asc_subc(p, d, a, b, p, m)", same("int32_t"), model(True, "m")),
        Case("vaddc(p, d, a, b, m)", same("int32_t"), model(False, 0)),
        Case("vsubcs(p, d, a, b, p, m)", same("uint32_t"), model(True, "m")),
        Case("asc_mull(d, e, a, b, m)", same("uint32_t"), long_product),
        Case("vmull(d, e, a, b, m)", same("int32_t"), long_product),
    ]


def long_product(a, b, c, bits):
    kind = np.uint64 if a.dtype.kind == "u" else np.int64
    product = a.astype(kind) * b.astype(kind)
    low, high = product.astype(np.uint64) & 0xFFFFFFFF, product >> 32
    return {
        "d": zeroed(low.astype(np.uint32).view(a.dtype), bits),
        "e": zeroed(high.astype(np.int64).astype(a.dtype), bits),
    }


def logic() -> list[Case]:
    def bitwise(op):
        def model(a, b, c, bits):
            kind = f"u{a.dtype.itemsize}"
            return {"d": zeroed(op(a.view(kind), b.view(kind)), bits)}

        return model

    cases = []
    for op, rule in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        for index, name in enumerate(ALL9):
            ways = (f"asc_{op}(d, a, b, m)", f"d = asc_{op}(a, b, m)", f"v{op}(d, a, b, m)")
            cases.append(Case(ways[index % 3], same(name), bitwise(rule)))
    for name in ("uint8_t", "int16_t", "float"):
        cases.append(Case("asc_not(d, a, m)", same(name), bitwise(lambda a, b: ~a)))
    return cases


def shift_model(left: bool, counts):
    """Section 8.3, on Python-like integers."""

    def model(a, b, c, bits):
        width = 8 * a.dtype.itemsize
        n = np.full(a.shape, counts, np.int64) if counts is not None else b.astype(np.int64)
        x = a.astype(np.int64)
        safe = np.minimum(n, width)
        if not left:
            r = x >> np.minimum(n, 63)
        elif a.dtype.kind == "u":
            r = np.where(n >= width, 0, x << safe)
        else:
            # The sign stays, the rest moves.
            low = (x << safe) & ((1 << (width - 1)) - 1)
            r = np.where(n >= width, 0, np.where(x < 0, low - (1 << (width - 1)), low))
        return {"d": zeroed(r.astype(a.dtype), bits)}

    return model


def shifts() -> list[Case]:
    cases = []
    for index, name in enumerate(INTS):
        signed = name.removeprefix("u")
        types = (name, signed, name, name)
        for op, left in (("shiftleft", True), ("shiftright", False)):
            ways = (f"asc_{op}(d, a, b, m)", f"d = asc_{op}(a, b, m)")
            cases.append(Case(ways[index % 2], types, shift_model(left, None)))
            for n in (0, 1, 5, 8 * DTYPES[name].itemsize - 1, 8 * DTYPES[name].itemsize):
                text = f"asc_{op}_scalar(d, a, {n}, m)"
                cases.append(Case(text, same(name), shift_model(left, n)))
    return cases


COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def comparisons() -> list[Case]:
    def model(rule, scalar=None):
        def run(a, b, c, bits):
            second = np.full_like(a, scalar) if scalar is not None else b
            p = np.zeros((len(a), 256), bool)
            width = a.dtype.itemsize
            p[:, ::width] = rule(wide(a), wide(second)) & lane_mask(bits, width)
            return {"p": p}

        return run

    cases = []
    for index, (op, rule) in enumerate(COMPARISONS.items()):
        for number, name in enumerate(ALL9):
            ways = (f"asc_{op}(p, a, b, m)", f"p = asc_{op}(a, b, m)", f"vcmp_{op}(p, a, b, m)")
            cases.append(Case(ways[(index + number) % 3], same(name), model(rule)))
            if number % 3 == index % 3 or name in FLOATS:
                value = 0
                ways = (f"asc_{op}_scalar(p, a, {value}, m)", f"p = asc_{op}_scalar(a, {value}, m)")
                cases.append(Case(ways[number % 2], same(name), model(rule, value)))
    return cases


def selection() -> list[Case]:
    def select(a, b, c, bits):
        kind = f"u{a.dtype.itemsize}"
        return {"d": np.where(lane_mask(bits, a.dtype.itemsize), a.view(kind), b.view(kind))}

    def splat(lane):
        def model(a, b, c, bits):
            kind = f"u{a.dtype.itemsize}"
            return {"d": zeroed(np.broadcast_to(a.view(kind)[:, [lane]], a.shape), bits)}

        return model

    def constant(value, masked):
        def model(a, b, c, bits):
            r = np.full_like(a, value)
            return {"d": zeroed(r, bits) if masked else r}

        return model

    cases = [Case("asc_select(d, a, b, m)", same(name), select) for name in ALL9]
    cases += [Case("d = asc_select(a, b, m)", same("float"), select)]
    for name in ("int8_t", "half", "float"):
        value = 5 if name == "int8_t" else -1.5
        cases += [
            Case(f"asc_duplicate_scalar(d, {value}, m)", same(name), constant(value, True)),
            Case(f"asc_duplicate_scalar(d, {value})", same(name), constant(value, False)),
            Case("asc_duplicate(d, a, m)", same(name), splat(0)),
            Case("d = asc_duplicate_highest(a, m)", same(name), splat(-1)),
            Case("vdup(d, a, m, POS_HIGHEST, MODE_ZEROING)", same(name), splat(-1)),
        ]
    return cases


def ramps() -> list[Case]:
    def model(start, down, name):
        def run(a, b, c, bits):
            dtype = DTYPES[name]
            steps = np.arange(a.shape[1])[:: -1 if down else 1]
            first = wide(np.array(start).astype(dtype))
            r = np.full(a.shape, first) + steps.astype(wide(a).dtype)
            return {"d": narrow(r, dtype)}

        return run

    cases = []
    for name in ("int8_t", "int16_t", "int32_t", "half", "float"):
        start = 100 if name in INTS else 2047.5 if name == "half" else -3.25
        cases.append(Case(f"asc_arange(d, {start})", same(name), model(start, False, name)))
        cases.append(Case(f"asc_arange_descend(d, {start})", same(name), model(start, True, name)))
    return cases


GROUPS = {
    "arith": arithmetic() + merging() + unary() + activation() + carries(),
    "logic": logic() + shifts() + comparisons() + selection() + ramps(),
}
CASES = [(group, index) for group, cases in GROUPS.items() for index in range(len(cases))]


@pytest.fixture(scope="module")
def kernels(emu: Emulator):
    return {name: LaneKernel(emu, name, cases) for name, cases in GROUPS.items()}


def rows_of(case: Case, count: int) -> list[np.ndarray]:
    a, b, c = (random_rows(t, count, s) for s, t in enumerate(case.types[:3]))
    if "shift" in case.text:
        b = (np.abs(b.astype(np.int64)) % (8 * b.dtype.itemsize + 3)).astype(b.dtype)
    return [a, b, c]


@pytest.mark.parametrize(("group", "index"), CASES, ids=lambda v: str(v))
def test_results_are_those_of_numpy(kernels, group, index):
    case = GROUPS[group][index]
    kernels[group].check(index, *rows_of(case, 32), masks(32))


def case_index(group: str, text: str, name: str) -> int:
    return next(i for i, c in enumerate(GROUPS[group]) if text in c.text and c.types[0] == name)


@pytest.mark.parametrize("name", ["int8_t", "half", "bfloat16_t", "float"])
def test_the_schedule_changes_nothing(kernels, name):
    index = case_index("arith", "add", name)
    rows = rows_of(GROUPS["arith"][index], 32)
    kernels["arith"].check(index, *rows, masks(32), schedule="deferred", seed=3)


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_ctrl_53_saturates_integers(emu, op, name):
    if op == "mul" and DTYPES[name].itemsize == 1:
        pytest.skip("asc_mul has no 8-bit form")
    limits = np.iinfo(DTYPES[name])

    def clipped(a, b):
        exact = [[int(x) for x in row] for row in RULES[op](a.astype(object), b.astype(object))]
        return np.array(exact, object).clip(limits.min, limits.max).astype(np.int64)

    index = case_index("arith", f"{op}(", name)
    original = GROUPS["arith"][index]
    kernel = LaneKernel(emu, "arith", GROUPS["arith"])
    kernel._cases = [Case(original.text, original.types, typed(name, clipped))] * (index + 1)
    kernel.check(index, *rows_of(original, 32), masks(32), ctrl=1 << 53)


@pytest.mark.parametrize("op", ["add", "mul", "sub"])
def test_ctrl_48_and_60_saturate_half(emu, op):
    def saturated(a, b):
        r = narrow(RULES[op](a, b), np.dtype(np.float16)).astype(np.float32)
        r = np.where(np.isinf(r), np.copysign(65504.0, r), r)
        return np.where(np.isnan(r), 0.0, r)

    index = case_index("arith", f"{op}(", "half")
    original = GROUPS["arith"][index]
    kernel = LaneKernel(emu, "arith", GROUPS["arith"])
    kernel._cases = [Case(original.text, original.types, typed("half", saturated))] * (index + 1)
    kernel.check(index, *rows_of(original, 32), masks(32), ctrl=1 << 60)


def test_a_negative_shift_count_is_reported(kernels):
    index = case_index("logic", "shiftleft", "int16_t")
    rows = rows_of(GROUPS["logic"][index], 32)
    rows[1][3, 5] = -1
    with pytest.raises(LaunchError, match="negative count"):
        kernels["logic"].check(index, *rows, masks(32, full=True))
