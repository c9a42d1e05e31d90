"""Casts, integer intrinsics and math of SIMT code (ascend_c_vector.md section 14.5)."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

N = 1024


def _floats(seed: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(N) * scale).astype(np.float32)
    special = [0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -2.5, 2**31, 3e38, 1e-40]
    values[: len(special)] = special
    return values


def _rounded(x: np.ndarray, mode: str) -> np.ndarray:
    x = x.astype(np.float64)
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    return {"rn": np.rint, "rd": np.floor, "ru": np.ceil, "rz": np.trunc}.get(mode, lambda _: away)(
        x
    )


@pytest.mark.parametrize("mode", ["rn", "rna", "rd", "ru", "rz"])
@pytest.mark.parametrize(("name", "kind"), [("int", "int32"), ("uint", "uint32"), ("ll", "int64")])
def test_float_to_integer_saturates(simt, mode, name, kind):
    x = _floats(1, 1e9)
    out = np.zeros(N, kind)
    simt.run(f"p1[threadIdx.x] = __float2{name}_{mode}(p0[threadIdx.x]);", N, x, out)
    limits = np.iinfo(kind)
    for got, value, real in zip(out, _rounded(x, mode), x, strict=True):
        if math.isnan(real):
            wanted = 0
        else:
            wanted = limits.max if value >= 2.0**limits.bits / 2 * (1 + (limits.min == 0)) else None
            if wanted is None:
                wanted = limits.min if value <= limits.min else int(value)
        assert int(got) == wanted, (real, mode)


@pytest.mark.parametrize(
    ("name", "dtype"), [("half", np.float16), ("bfloat16", ml_dtypes.bfloat16)]
)
def test_float_to_small_float_and_back(simt, name, dtype):
    x = _floats(2, 1e3)
    bits, back = np.zeros(N, np.uint16), np.zeros(N, np.float32)
    body = f"""
    auto small = __float2{name}_rn(p0[threadIdx.x]);
    p1[threadIdx.x] = __{name}_as_ushort(small);
    p2[threadIdx.x] = __{name}2float(small);
    """
    simt.run(body, N, x, bits, back)
    with np.errstate(over="ignore"):
        wanted = x.astype(dtype)
    number = ~np.isnan(x)
    assert (bits.view(dtype)[number].view(np.uint16) == wanted[number].view(np.uint16)).all()
    assert (back[number] == wanted[number].astype(np.float32)).all()
    assert np.isnan(back[~number]).all()


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
def test_directed_rounding_brackets_the_number(simt, mode):
    x = np.random.default_rng(5).standard_normal(N).astype(np.float32)
    out = np.zeros(N, np.float32)
    simt.run(f"p1[threadIdx.x] = __half2float(__float2half_{mode}(p0[threadIdx.x]));", N, x, out)
    nearest = x.astype(np.float16)
    step = np.spacing(np.abs(nearest)).astype(np.float32)
    assert (np.abs(out - x) < step).all()
    assert (out == out.astype(np.float16)).all()
    side = {"rd": out <= x, "ru": out >= x, "rz": np.abs(out) <= np.abs(x)}[mode]
    assert side.all()


@pytest.mark.parametrize(
    ("code", "dtype", "limit"),
    [("__ASC_E4M3", ml_dtypes.float8_e4m3fn, 448), ("__ASC_E5M2", ml_dtypes.float8_e5m2, 57344)],
)
@pytest.mark.parametrize("saturate", [True, False])
def test_fp8_pairs(simt, code, dtype, limit, saturate):
    x = _floats(3, 300)
    out, back = np.zeros(N // 2, np.uint16), np.zeros(N, np.float32)
    kind = "e4m3" if limit == 448 else "e5m2"
    saturation = "__ASC_SATFINITE" if saturate else "__ASC_NOSAT"
    body = f"""
    float2 v = make_float2(p0[threadIdx.x * 2], p0[threadIdx.x * 2 + 1]);
    auto pair = __asc_cvt_float2_to_fp8x2(v, {saturation}, {code});
    p1[threadIdx.x] = pair;
    float2 b = __{kind}x22float2(*(float8_{kind}x2_t*)&pair);
    p2[threadIdx.x * 2] = b.x;
    p2[threadIdx.x * 2 + 1] = b.y;
    """
    simt.run(body, N // 2, x, out, back)
    number = ~np.isnan(x)
    source = np.clip(x, -limit, limit) if saturate else x
    with np.errstate(over="ignore"):
        wanted = source.astype(dtype)
    same = number if saturate else number & (np.abs(x) < limit)
    assert (out.view(np.uint8)[same] == wanted[same].view(np.uint8)).all()
    assert (back[same] == wanted[same].astype(np.float32)).all()
    if saturate:
        assert (out.view(np.uint8)[~number] == 0).all()


INTEGER_CASES = {
    "__popc(a)": lambda a, b: bin(a).count("1"),
    "__clz((int)a)": lambda a, b: 32 - a.bit_length(),
    "__ffs((int)a)": lambda a, b: (a & -a).bit_length(),
    "__brev(a)": lambda a, b: int(f"{a:032b}"[::-1], 2),
    "__umulhi(a, b)": lambda a, b: a * b >> 32,
    "__uhadd(a, b)": lambda a, b: a + b >> 1,
    "__urhadd(a, b)": lambda a, b: a + b + 1 >> 1,
    "__usad(a, b, 7u)": lambda a, b: abs(a - b) + 7 & 0xFFFFFFFF,
    "__umul24(a, b)": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) & 0xFFFFFFFF,
    "__byte_perm(a, b, 0x5140)": lambda a, b: int.from_bytes(
        [(b << 32 | a) >> 8 * i & 255 for i in (0, 4, 1, 5)], "little"
    ),
}


@pytest.mark.parametrize("expression", INTEGER_CASES)
def test_integer_intrinsics(simt, expression):
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 2**32, (2, N)).astype(np.uint32)
    a[:3] = [0, 1, 0xFFFFFFFF]
    out = np.zeros(N, np.uint32)
    body = f"uint32_t a = p0[threadIdx.x], b = p1[threadIdx.x]; p2[threadIdx.x] = {expression};"
    simt.run(body, N, a, b, out)
    wanted = [INTEGER_CASES[expression](int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert list(map(int, out)) == wanted


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "sin", "cos", "tanh", "erf", "exp2", "log1p"]
)
def test_functions_are_within_two_ulps(simt, name):
    x = np.abs(np.random.default_rng(7).standard_normal(N)).astype(np.float32)
    out = np.zeros(N, np.float32)
    simt.run(f"p1[threadIdx.x] = {name}f(p0[threadIdx.x]);", N, x, out)
    exact = getattr(np, name, None) or np.vectorize(getattr(math, name))
    wanted = exact(x.astype(np.float64))
    assert (np.abs(out - wanted) <= np.spacing(np.abs(wanted).astype(np.float32)) * 2.01).all()


def test_min_and_max_take_the_number_beside_nan(simt):
    x = np.array([1, np.nan, -0.0, 5], np.float32)
    y = np.array([np.nan, 2, 0.0, -5], np.float32)
    low, high = np.zeros(4, np.float32), np.zeros(4, np.float32)
    body = """
    p2[threadIdx.x] = min(p0[threadIdx.x], p1[threadIdx.x]);
    p3[threadIdx.x] = max(p0[threadIdx.x], p1[threadIdx.x]);
    """
    simt.run(body, 4, x, y, low, high)
    assert list(low) == [1, 2, 0, -5]
    assert list(high) == [1, 2, 0, 5]
