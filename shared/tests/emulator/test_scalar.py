"""Scalar helpers, system variables, scalar GM access, caches (ascend_c_cube.md 12, 14-16)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import Emulator
from .model.types import TYPES


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return emu.kernel("scalar")


MASK = (1 << 64) - 1


def leading_sign_bits(v: int) -> int:
    if v in (0, -1):
        return -1
    text = f"{v & MASK:064b}"
    return len(text[1:]) - len(text[1:].lstrip(text[0]))


def test_bit_helpers(launch):
    rng = np.random.default_rng(0)
    values = [
        0,
        -1,
        1,
        33,
        0x000F00FF0FF0FFFF,
        -(1 << 63),
        (1 << 63) - 1,
        *rng.integers(-(2**62), 2**62, 50),
    ]
    indices = [0, 63, 64, -1, -64, 5, 129, *rng.integers(-300, 300, 50)]
    data = np.array([[int(v), int(i)] for v, i in zip(values, indices, strict=True)], np.int64)
    out = np.zeros((len(values), 8), np.int64)
    launch(data.view(np.uint8), out.view(np.uint8), np.int32(0), np.int32(len(values)))
    for row, (v, i) in zip(out, data.tolist(), strict=True):
        u = v & MASK
        bit = ((i % 64) + 64) % 64
        want = [
            (u & -u).bit_length() - 1,
            ((~u & MASK) & -(~u & MASK)).bit_length() - 1,
            u.bit_count(),
            64 - u.bit_count(),
            64 - u.bit_length(),
            leading_sign_bits(v),
            u | 1 << bit,
            u & ~(1 << bit),
        ]
        assert [int(x) & MASK for x in row] == [x & MASK for x in want], (v, i)
    assert out[3, 1] == 1
    assert out[4, 5] == 11


def test_float_to_int32(launch):
    values = np.array(
        [
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
            -2.5,
            0.49999997,
            8388609.0,
            3e9,
            -3e9,
            np.nan,
            np.inf,
            -np.inf,
            -0.0,
            2147483520.0,
            -2147483648.0,
            1e-40,
            -7.25,
            7.75,
        ],
        np.float32,
    )
    out = np.zeros((len(values), 4), np.int32)
    launch(values.view(np.uint8), out.view(np.uint8), np.int32(1), np.int32(len(values)))

    def clamp(x: float) -> int:
        return 0 if math.isnan(x) else int(max(-(2.0**31), min(2.0**31 - 1, x)))

    for v, row in zip(values.astype(float), out, strict=True):
        finite = np.nan_to_num(v, nan=0, posinf=1e10, neginf=-1e10)
        away = math.copysign(math.floor(abs(finite) + 0.5), finite)
        rules = [float(np.rint(finite)), away, math.floor(finite), math.ceil(finite)]
        assert row.tolist() == [clamp(float(r)) for r in rules], v


ATOMIC_TYPES = {"i32": 9, "u32": 10, "f32": 11, "i64": 100, "u64": 101}


@pytest.mark.parametrize("name", ATOMIC_TYPES)
@pytest.mark.parametrize("operand", [3, 7])
def test_scalar_atomics_return_the_old_value(launch, name, operand):
    dtype = {"i64": np.dtype(np.int64), "u64": np.dtype(np.uint64)}.get(name) or TYPES[name].dtype
    assert dtype is not None
    out = np.zeros(32, dtype)
    start = np.arange(12) + (0 if name.startswith("u") else -2)
    start[10:12] = 5
    out[:12] = start.astype(dtype)
    out[24] = operand
    launch(np.zeros(8, np.uint8), out.view(np.uint8), np.int32(2), np.int32(ATOMIC_TYPES[name]))
    x = [int(v) for v in start]
    v = operand
    used = 12 if name.startswith("u") else 10 if name != "f32" else 7
    new = [
        x[0] + v,
        x[1] - v,
        v,
        max(x[3], v),
        min(x[4], v),
        v,
        x[6],
        x[7] & v,
        x[8] | v,
        x[9] ^ v,
        0 if x[10] >= v else x[10] + 1,
        v if x[11] == 0 or x[11] > v else x[11] - 1,
    ]
    bits = 8 * dtype.itemsize
    wrap = (1 << bits) - 1 if dtype.kind == "u" else -1
    for i in range(used):
        want = new[i] & wrap if dtype.kind == "u" else new[i]
        assert int(out[i]) == want, (name, i)
        assert int(out[12 + i]) == x[i], (name, i)


def test_values_move_around_the_data_cache(launch):
    data = np.arange(1, 65, dtype=np.uint8)
    out = np.zeros(64, np.uint8)
    launch(data, out, np.int32(3), np.int32(0))
    want = np.zeros(64, np.uint8)
    for at, size in ((0, 1), (8, 2), (16, 4), (24, 8)):
        want[at : at + size] = data[at : at + size]
    assert (out == want).all()


def test_ctrl_and_clock(launch):
    out = np.zeros(8, np.int64)
    launch(np.zeros(8, np.uint8), out.view(np.uint8), np.int32(4), np.int32(0))
    assert out[0] == 1 << 48
    assert out[1] == 0x0123456789ABCDEF
    assert out[2] == 0x0123456789ABCDEF | 1 << 46 | 1 << 51
    assert out[3] == 0x0123456789ABCDEF & ~(1 << 46) & ~(1 << 51)
    assert out[5] >= out[4] > 0
    assert out[6] == 3510
    assert out[7] == 0


def test_every_core_knows_its_place(launch):
    blocks = 3
    out = np.full((blocks * 3, 8), -1, np.int64)
    launch(np.zeros(8, np.uint8), out.view(np.uint8), np.int32(5), np.int32(0), blocks=blocks)
    for block in range(blocks):
        for core in range(3):
            aic, sub = int(core == 0), max(core - 1, 0)
            assert out[block * 3 + core].tolist() == [
                aic,
                block,
                blocks,
                sub,
                1 if aic else 2,
                256,
                77,
                block * 100 + blocks + 1000 * aic,
            ]


def test_trap_ends_the_kernel(launch):
    with pytest.raises(LaunchError, match=r"trap\(\)"):
        launch(np.zeros(8, np.uint8), np.zeros(8, np.uint8), np.int32(6), np.int32(0))
