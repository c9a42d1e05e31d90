"""Every kernel of the MAD reference page, compiled from the page and compared with numpy."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import emulator, gm_range
from deep_jit._shared.jit import Config, Runtime, bool_, u32
from deep_jit._shared.jit.kernel import Kernel

_PAGE = Path(__file__).parents[3] / "packages" / "deep_jit" / "docs" / "mad.md"
_EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```cpp\n(.*?)```", re.S)
_BF16 = np.dtype(ml_dtypes.bfloat16)
_SIZES = [(64, 64, 64), (1, 1, 1), (17, 30, 50), (64, 16, 48), (5, 63, 64)]

sizes = pytest.mark.parametrize("size", _SIZES, ids=lambda s: "x".join(map(str, s)))
schedules = pytest.mark.parametrize(
    "options",
    [{"schedule": "immediate"}, {"schedule": "deferred", "seed": 5, "uninitialized": "nan"}],
    ids=["immediate", "deferred"],
)


class GmPtr(ctypes.Structure):
    """mad::gm_ptr: address, outer stride and batch stride in elements."""

    _fields_ = (
        ("addr", ctypes.c_uint64),
        ("stride_outer", ctypes.c_int64),
        ("stride_batch", ctypes.c_int64),
    )


def _examples() -> dict[str, str]:
    return dict(_EXAMPLE.findall(_PAGE.read_text()))


@functools.cache
def _runtime() -> Runtime:
    config = Config(
        _PAGE.parent, "TEST", include_dirs=include_dirs(), include_prefixes=["mad/", "c_api/"]
    )
    return Runtime(config, backend="cpu")


@functools.cache
def _kernel(name: str) -> Kernel:
    return _runtime().compile(name, _examples()[name])


def _gm(array: np.ndarray) -> GmPtr:
    return GmPtr(array.ctypes.data, array.strides[0] // array.itemsize, 0)


def _launch(name: str, *args: object, **options: object) -> None:
    with emulator(**options):
        _kernel(name).launch({"num_blocks": 1}, *args)


def _random(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(_BF16)


def _f64(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def test_the_page_shows_every_function():
    headers = _PAGE.parents[3] / "shared" / "include" / "mad"
    names = set()
    for header in headers.glob("*.hpp"):
        text = header.read_text()
        text = re.sub(r"namespace detail \{.*?\}  // namespace detail", "", text, flags=re.S)
        names |= set(re.findall(r"^inline __aicore__ \w+ (\w+)\(", text, flags=re.M))
    assert len(names) > 15
    code = "".join(_examples().values())
    assert {name for name in names if f"mad::{name}" not in code} == set()


@schedules
@sizes
@pytest.mark.parametrize("name", ["tile_matmul", "pipelined_matmul", "handover"])
def test_matmul(name, size, options):
    m, n, k = size
    rng = np.random.default_rng(1)
    if name == "pipelined_matmul":
        k = k * 3 + 1
    a, b = _random(rng, m, k), _random(rng, n, k)
    d = np.zeros((m + 1, n + 2), np.float32 if name == "tile_matmul" else _BF16)
    out = d[:m, :n]
    _launch(name, _gm(a), _gm(b), _gm(d), u32(m), u32(n), u32(k), **options)
    want = _f64(a) @ _f64(b).T
    bound = 2.0**-7 if d.dtype == _BF16 else 1e-5
    np.testing.assert_allclose(_f64(out), want, rtol=bound, atol=bound)
    assert not d[m:].any()
    assert not d[:, n:].any()


@schedules
@sizes
def test_transposed_matmul(size, options):
    m, n, k = size
    rng = np.random.default_rng(2)
    a, b = _random(rng, k, m), _random(rng, k, n)
    d = np.zeros((m, n), np.float32)
    _launch("transposed_matmul", _gm(a), _gm(b), _gm(d), u32(m), u32(n), u32(k), **options)
    np.testing.assert_allclose(d, _f64(a).T @ _f64(b), rtol=1e-5, atol=1e-5)


@schedules
@pytest.mark.parametrize(("rows", "cols"), [(32, 64), (1, 1), (7, 33), (31, 16)])
def test_ub_round_trip(rows, cols, options):
    src = _random(np.random.default_rng(3), rows, cols)
    dst = np.zeros((rows + 1, cols + 3), _BF16)
    _launch("ub_round_trip", _gm(src), _gm(dst), u32(rows), u32(cols), **options)
    np.testing.assert_array_equal(dst[:rows, :cols].view(np.uint16), src.view(np.uint16))
    assert not dst[rows:].any()
    assert not dst[:, cols:].any()


@schedules
@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize(("rows", "cols"), [(8, 128), (1, 1), (23, 65), (100, 100)])
def test_pipelined_add(rows, cols, checks, options):
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((rows, cols)).astype(np.float32) for _ in range(2))
    d = np.zeros((rows + 1, cols + 3), np.float32)
    ranges = [gm_range(array, read_only=array is not d) for array in (a, b, d)]
    with emulator(checks=checks, **options):
        _kernel("pipelined_add").launch(
            {"num_blocks": 3}, _gm(a), _gm(b), _gm(d), u32(rows), u32(cols), memory=ranges
        )
    np.testing.assert_array_equal(d[:rows, :cols], a + b)
    assert not d[rows:].any()
    assert not d[:, cols:].any()


@schedules
@pytest.mark.parametrize(("n", "k"), [(64, 64), (3, 17), (40, 33)])
def test_staged_operand(n, k, options):
    rng = np.random.default_rng(4)
    cols = -(-k // 16)
    a = np.zeros((32, cols * 16), _BF16)
    a[:, :k] = _random(rng, 32, k)
    fractals = np.ascontiguousarray(a.reshape(32, cols, 16).transpose(1, 0, 2)).reshape(-1, 16)
    b, d = _random(rng, n, k), np.zeros((32, n), np.float32)
    _launch("staged_operand", _gm(fractals), _gm(b), _gm(d), u32(n), u32(k), **options)
    np.testing.assert_allclose(d, _f64(a[:, :k]) @ _f64(b).T, rtol=1e-5, atol=1e-5)


def _mx_operand(
    rng: np.random.Generator, rows: int, k: int, fp4: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Returns stored bytes [rows, bytes] and decoded values [rows, k]."""
    codes = rng.integers(0, 16 if fp4 else 256, (rows, k), dtype=np.uint8)
    if fp4:
        values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
        return codes[:, 0::2] | codes[:, 1::2] << 4, values
    codes[(codes & 0x7F) == 0x7F] = 0
    return codes, codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)


def _scales(exponents: np.ndarray, k: int) -> np.ndarray:
    """Returns the factor of every element, from one exponent per 32."""
    return np.repeat(2.0 ** (exponents.astype(np.float64) - 127), 32, axis=1)[:, :k]


@schedules
@pytest.mark.parametrize("fp4", [False, True], ids=["fp8", "fp4"])
@pytest.mark.parametrize("size", [(64, 64, 256), (17, 30, 100), (1, 5, 64), (33, 64, 10)], ids=str)
def test_mx_matmul(size, fp4, options):
    m, n, k = size
    pairs = -(-k // 64)
    rng = np.random.default_rng(5)
    (a, a_values), (b, b_values) = _mx_operand(rng, m, k, fp4), _mx_operand(rng, n, k, fp4)
    ea = rng.integers(120, 130, (m, 2 * pairs), dtype=np.uint8)
    eb = rng.integers(120, 130, (n, 2 * pairs), dtype=np.uint8)
    sfa = ea.view(np.int16)
    sfb = np.ascontiguousarray(eb.view(np.int16).T)
    d = np.zeros((m, n), np.float32)
    _launch(
        "mx_matmul", _gm(a), _gm(b), _gm(sfa), _gm(sfb), _gm(d), u32(m), u32(n), u32(k),
        bool_(fp4), **options,
    )  # fmt: skip
    scaled_a, scaled_b = a_values * _scales(ea, k), b_values * _scales(eb, k)
    want = scaled_a @ scaled_b.T
    bound = (k + 2) * 2.0**-24 * (np.abs(scaled_a) @ np.abs(scaled_b).T) + 1e-30
    assert (np.abs(d - want) <= bound).all()
