"""exp, ln, sqrt, division, fused multiply-add, rounding of registers (ascend_c_vector.md 8.4)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Emulator
from .model.exact import fused
from .model.vector_convert import round_float
from .vector_lanes import BF16, DTYPES, Case, LaneKernel, masks, random_rows, zeroed

TINY = {np.dtype(np.float32): 2.0**-126, np.dtype(np.float16): 2.0**-14}


def same(name: str) -> tuple[str, str, str, str]:
    return (name, name, name, name)


def flushed(x: np.ndarray) -> np.ndarray:
    """Subnormal numbers become zero; the sign stays."""
    tiny = TINY[x.dtype]
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(x.astype(np.float64)) < tiny, np.copysign(x.dtype.type(0), x), x)


def elementary(rule):
    """The correctly rounded result of 64-bit significands, flushed on both sides."""

    def model(a, b, c, bits):
        x = flushed(a).astype(np.longdouble)
        y = flushed(b).astype(np.longdouble)
        with np.errstate(all="ignore"):
            return {"d": zeroed(flushed(round_once(rule(x, y), a.dtype)), bits)}

    return model


def round_once(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """One rounding from long double; to half through a float64 rounded to odd."""
    if dtype == np.float32:
        return x.astype(np.float32)
    f = x.astype(np.float64)
    codes = f.view(np.int64)
    inexact = np.isfinite(x) & (f.astype(np.longdouble) != x)
    above = np.abs(f.astype(np.longdouble)) > np.abs(x)
    odd = (codes - (inexact & above)) | inexact
    return odd.view(np.float64).astype(dtype)


def fma_model(order):
    """d = x * y + z with one rounding, where `order` picks x, y, z from a, b, c."""

    def model(a, b, c, bits):
        x, y, z = order(a, b, c)
        dtype = a.dtype
        if dtype.kind in "iu":
            r = x.astype(np.int64) * y.astype(np.int64) + z.astype(np.int64)
            return {"d": zeroed(r.astype(dtype), bits)}
        kind = {np.dtype(np.float16): "f16", BF16: "bf16"}.get(dtype, "f32")
        flat = [v.astype(np.float64).ravel() for v in (x, y, z)]
        r = np.array([fused(*v, kind) for v in zip(*flat, strict=True)]).reshape(a.shape)
        with np.errstate(over="ignore"):
            return {"d": zeroed(r.astype(np.float32).astype(dtype), bits)}

    return model


def half_difference(part):
    def model(a, b, c, bits):
        x, y = (v[:, part::2].astype(np.float32) for v in (a, b))
        with np.errstate(all="ignore"):
            difference = flushed(x - y).astype(np.longdouble)
            return {"d": zeroed(flushed(np.exp(difference).astype(np.float32)), bits)}

    return model


def float_difference(a, b, c, bits):
    with np.errstate(all="ignore"):
        x = flushed(a - b).astype(np.longdouble)
        return {"d": zeroed(flushed(np.exp(x).astype(np.float32)), bits)}


def to_integer(rounding):
    def model(a, b, c, bits):
        with np.errstate(invalid="ignore"):
            x = a.astype(np.float64)
            finite = np.isfinite(x)
            whole = np.where(finite, round_float(np.where(finite, x, 0), rounding), x)
            whole = np.copysign(whole, x)
            return {"d": zeroed(whole.astype(np.float32).astype(a.dtype), bits)}

    return model


def truncated(a, b, c, bits):
    x, y = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(y == 0, 1, y)
    q = np.abs(x) // np.abs(safe) * np.sign(x) * np.sign(safe)
    return {"d": zeroed(np.where(y == 0, 0, q).astype(a.dtype), bits)}


def cases() -> list[Case]:
    rows = []
    for name in ("half", "float"):
        rows += [
            Case("asc_exp(d, a, m)", same(name), elementary(lambda x, y: np.exp(x))),
            Case("asc_ln(d, a, m)", same(name), elementary(lambda x, y: np.log(x))),
            Case("asc_sqrt(d, a, m)", same(name), elementary(lambda x, y: np.sqrt(x))),
            Case("asc_div(d, a, b, m)", same(name), elementary(lambda x, y: x / y)),
            Case("d = asc_exp(a, m)", same(name), elementary(lambda x, y: np.exp(x))),
            Case("d = asc_div(a, b, m)", same(name), elementary(lambda x, y: x / y)),
            Case("asc_madd(d, a, b, m)", same(name), fma_model(lambda a, b, c: (c, a, b))),
            Case("vmadd(d, a, b, m)", same(name), fma_model(lambda a, b, c: (c, a, b))),
            Case(
                "asc_axpy(d, a, 1.5, m)",
                same(name),
                fma_model(lambda a, b, c: (a, np.full_like(a, 1.5), c)),
            ),
        ]
    for name in ("half", "bfloat16_t", "float", "int16_t", "uint32_t"):
        model = fma_model(lambda a, b, c: (a, b, c))
        rows.append(Case("vmula(d, a, b, m, MODE_ZEROING)", same(name), model))
    for name in ("int16_t", "uint16_t", "int32_t", "uint32_t"):
        rows.append(Case("asc_div(d, a, b, m)", same(name), truncated))
    half_types = ("half", "half", "float", "float")
    rows += [
        Case("asc_exp_sub(d, a, b, m)", same("float"), float_difference),
        Case("asc_exp_sub(d, a, b, m)", half_types, half_difference(0)),
        Case("asc_exp_sub_v2(d, a, b, m)", half_types, half_difference(1)),
        Case("vexpdif(d, a, b, m, PART_ODD)", half_types, half_difference(1)),
    ]
    modes = (("rint", "rn", "R"), ("round", "rna", "A"), ("floor", "rd", "F"), ("ceil", "ru", "C"),
             ("trunc", "rz", "Z"))  # fmt: skip
    for i, (op, rounding, control) in enumerate(modes):
        for j, name in enumerate(("half", "bfloat16_t", "float")):
            raw = f"vtrc(d, a, ROUND_{control}, m, MODE_ZEROING)"
            ways = (f"asc_{op}(d, a, m)", f"d = asc_{op}(a, m)", raw)
            rows.append(Case(ways[(i + j) % 3], same(name), to_integer(rounding)))
    return rows


CASES = cases()


@pytest.fixture(scope="module")
def kernel(emu: Emulator):
    return LaneKernel(emu, "float", CASES)


IDS = [f"{c.text}-{c.types[0]}" for c in CASES]


@pytest.mark.parametrize("index", range(len(CASES)), ids=IDS)
def test_results_are_correctly_rounded(kernel, index):
    case = CASES[index]
    count = 16 if "m" in case.text and "vmul" in case.text else 32
    rows = [random_rows(t, count, s + 20) for s, t in enumerate(case.types[:3])]
    kernel.check(index, *rows, masks(count))


def index_of(text: str, name: str) -> int:
    return next(i for i, c in enumerate(CASES) if c.text == text and c.types[0] == name)


@pytest.mark.parametrize("text", ["asc_exp(d, a, m)", "asc_ln(d, a, m)", "asc_sqrt(d, a, m)"])
def test_every_half(kernel, text):
    a = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(512, 128)
    kernel.check(index_of(text, "half"), a, a, a, masks(512, full=True))


@pytest.mark.parametrize(
    "text", ["asc_exp(d, a, m)", "asc_ln(d, a, m)", "asc_sqrt(d, a, m)", "asc_div(d, a, b, m)"]
)
def test_many_floats(kernel, text):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 1 << 32, 512 * 64, np.uint32).view(np.float32)
    if "exp" in text:
        a = np.where(rng.random(a.size) < 0.8, rng.uniform(-88, 89, a.size), a).astype(np.float32)
    if "ln" in text:
        a = np.where(rng.random(a.size) < 0.5, np.abs(a), 1 + rng.uniform(-1e-3, 1e-3, a.size))
    a = a.astype(np.float32).reshape(512, 64)
    b = rng.permutation(a.ravel()).reshape(512, 64)
    kernel.check(index_of(text, "float"), a, b, b, masks(512, full=True))


def test_random_rows_hold_special_values():
    x = random_rows("float", 32, 0)
    assert np.isnan(x).any()
    assert np.isinf(x).any()
    assert (x == 0).any()
    assert DTYPES["float"] == x.dtype
