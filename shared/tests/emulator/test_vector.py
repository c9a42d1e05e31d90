"""Vector functions of an epilogue against numpy (ascend_c_vector.md sections 2, 3, 5, 6, 8, 9)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import Emulator

BF16 = ml_dtypes.bfloat16
SCHEDULES = [{}, {"schedule": "deferred", "seed": 5}]


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernel = emu.kernel("vector")

    def run(
        scenario: int, data: np.ndarray, alpha: float = 1, count: int = 0, **options
    ) -> np.ndarray:
        padded = np.zeros(65536, np.uint8)
        padded[: data.nbytes] = data.view(np.uint8).ravel()
        out = np.full(8192, 0xEE, np.uint8)
        kernel(padded, out, np.float32(alpha), np.int32(scenario), np.int32(count), **options)
        return out

    return run


@pytest.mark.parametrize("options", SCHEDULES, ids=["immediate", "deferred"])
@pytest.mark.parametrize("count", [64, 1000, 4096, 1])
def test_scaled_rows_become_bf16(launch, count, options):
    rng = np.random.default_rng(count)
    x = (rng.standard_normal(4096) * 10.0 ** rng.integers(-38, 38, 4096)).astype(np.float32)
    x[:5] = [np.inf, -np.inf, np.nan, -0.0, 3.4e38]
    out = launch(0, x, alpha=1.25, count=count, **options).view(BF16)[:count]
    with np.errstate(over="ignore"):
        want = (x[:count] * np.float32(1.25)).astype(BF16)
    same = out.view(np.uint16) == want.view(np.uint16)
    assert (same | (np.isnan(out) & np.isnan(want))).all()


def test_lanes_behind_the_last_one_are_not_stored(launch):
    out = launch(0, np.ones(4096, np.float32), count=100)
    assert not out[200:].any()  # UB was zero


ARITHMETIC = {
    1: np.dtype(np.float32),
    2: np.dtype(np.float16),
    3: np.dtype(np.int32),
    4: np.dtype(BF16),
}


@pytest.mark.parametrize("scenario", ARITHMETIC, ids=lambda s: ARITHMETIC[s].name)
@pytest.mark.parametrize("active", [0, 1, 37, 64, 128])
def test_arithmetic_zeroes_inactive_lanes(launch, scenario, active):
    dtype = ARITHMETIC[scenario]
    lanes = 256 // dtype.itemsize
    rng = np.random.default_rng(scenario)
    if dtype.kind == "i":
        data = rng.integers(-(2**31), 2**31, 2 * lanes).astype(dtype)
    else:
        data = rng.standard_normal(2 * lanes).astype(np.float32).astype(dtype)
    out = launch(scenario, data, alpha=3, count=active).view(dtype)[: 7 * lanes].reshape(7, lanes)
    a, b = data[:lanes], data[lanes:]
    wide = np.int64 if dtype.kind == "i" else np.float32
    aw, bw, s = a.astype(wide), b.astype(wide), wide(3)
    on = np.arange(lanes) < active
    rows = [aw + bw, aw - bw, aw * bw, aw + s, aw * s, np.full(lanes, s), np.full(lanes, s)]
    for i, row in enumerate(rows):
        want = row.astype(dtype)
        if i != 5:
            want = np.where(on, want, dtype.type(0))
        assert (out[i].view(np.uint8) == want.astype(dtype).view(np.uint8)).all(), i


PATTERNS = ["all", 1, 2, 3, 4, 8, 16, 32, 64, 128, "m3", "m4", "h", "q", "none"]


@pytest.mark.parametrize("width", [1, 2, 4])
def test_mask_patterns(launch, width):
    out = launch(5, np.zeros(1, np.uint8), count=width)[:4096].reshape(16, 256)
    n = 256 // width
    j = np.arange(n)
    for row, pattern in zip(out, PATTERNS, strict=False):
        active = {
            "all": j >= 0,
            "none": j < 0,
            "m3": j % 3 == 0,
            "m4": j % 4 == 0,
            "h": j < n // 2,
            "q": j < n // 4,
        }.get(pattern)
        if active is None:
            active = j < min(int(pattern), n)
        bits = np.zeros(256, np.uint8)
        bits[j * width] = active
        assert (row == bits).all(), (pattern, width)


def test_bf16_widens_by_parts_and_comes_back(launch):
    x = np.random.default_rng(0).standard_normal(128).astype(BF16)
    out = launch(6, x)
    assert (out[:256].view(np.float32) == x[0::2].astype(np.float32)).all()
    assert (out[256:512].view(np.float32) == x[1::2].astype(np.float32)).all()
    assert (out[512:768].view(BF16) == x).all()


def test_arguments_travel_by_value(launch):
    out = launch(8, np.zeros(1, np.uint8), alpha=1.5, count=-7).view(np.float32)
    assert (out[:64] == -10.5).all()


@pytest.mark.parametrize(
    ("shift", "text"), [(1, "allowed are multiples of 32"), (65536, "leaves the 256 KiB of UB")]
)
def test_bad_addresses_are_reported(launch, shift, text):
    with pytest.raises(LaunchError, match=text):
        launch(7, np.zeros(1, np.uint8), count=shift)
