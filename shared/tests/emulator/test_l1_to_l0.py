"""Loads of L0A, L0B, their scales, BT and FB against the formulas (ascend_c_cube.md 7 and 8)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import SIZES, Emulator, Space, params, random_bytes, same_bytes
from .model import l1_to_l0 as model
from .model.types import TYPES

L1 = random_bytes(SIZES[Space.L1], 1)
ALL_TYPES = [t for t in TYPES if t != "u8"]


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernel = emu.kernel("l1_to_l0")

    def run(scenario: int, *values: int) -> None:
        kernel(L1, params(*values), np.int32(scenario))

    return run


def check(emu: Emulator, space: Space, want: np.ndarray, case: object) -> None:
    same_bytes(emu.read(space), want, case)


def zeros(space: Space) -> np.ndarray:
    return np.zeros(SIZES[space], np.uint8)


# m start, k start, m step, k step, src stride, dst stride, dst, src
LOADS = [
    (0, 0, 1, 1, 1, 1, 0, 0),
    (0, 4, 16, 4, 16, 16, 0, 0),
    (3, 1, 5, 7, 11, 6, 1024, 64),
    (1, 0, 2, 3, 4, 9, 512, 4096),
    (0, 0, 0, 3, 4, 9, 0, 0),
    (0, 0, 3, 0, 4, 9, 0, 0),
]


@pytest.mark.parametrize("to_b", [0, 1], ids=["l0a", "l0b"])
@pytest.mark.parametrize("case", LOADS, ids=str)
def test_2d(launch, emu, case, to_b):
    m_start, k_start, m_step, k_step, src_stride, dst_stride, dst, src = case
    for name in ("bf16", "e2m1", "f32", "i8"):
        launch(
            0,
            to_b,
            TYPES[name].index,
            dst,
            src,
            m_start,
            k_start,
            m_step,
            k_step,
            src_stride,
            dst_stride,
        )
        space = Space.L0B if to_b else Space.L0A
        want = zeros(space)
        model.copy_2d(
            want,
            L1,
            dst=dst,
            src=src,
            m_start=m_start,
            k_start=k_start,
            m_step=m_step,
            k_step=k_step,
            src_stride=src_stride,
            dst_stride=dst_stride,
        )
        check(emu, space, want, (name, case))


def test_worked_value_of_section_22(launch, emu):
    launch(0, 0, TYPES["bf16"].index, 0, 0, 0, 4, 16, 4, 16, 16)
    got = emu.read(Space.L0A)
    assert (got[: 32 << 10] == L1[4 * 16 * 512 :][: 32 << 10]).all()
    assert not got[32 << 10 :].any()


# m start, k start, m step, k step, src stride, dst stride, dst
TRANSPOSES = [(0, 0, 4, 4, 8, 8, 0), (4, 2, 8, 2, 16, 16, 512), (0, 2, 4, 6, 4, 33, 1024)]


@pytest.mark.parametrize("to_b", [0, 1], ids=["l0a", "l0b"])
@pytest.mark.parametrize("name", ALL_TYPES)
def test_transpose(launch, emu, name, to_b):
    kind = TYPES[name]
    for case in TRANSPOSES:
        m_start, k_start, m_step, k_step, src_stride, dst_stride, dst = case
        if kind.bits == 4:
            dst_stride = max(dst_stride, k_step * 4)
        if kind.bits == 32:
            m_step //= 2
        launch(
            1, to_b, kind.index, dst, 96, m_start, k_start, m_step, k_step, src_stride, dst_stride
        )
        space = Space.L0B if to_b else Space.L0A
        want = zeros(space)
        model.transpose_2d(
            want,
            L1,
            bits=kind.bits,
            dst=dst,
            src=96,
            m_start=m_start,
            k_start=k_start,
            m_step=m_step,
            k_step=k_step,
            src_stride=src_stride,
            dst_stride=dst_stride,
        )
        check(emu, space, want, (name, case))


# index, repeat, src stride, dst gap, dst fractal gap, src fractal gap
TRANS = [(0, 2, 6, 1, 0, 0), (3, 3, 2, 0, 10, 5), (1, 4, 8, 9, 1, 1), (0, 0, 1, 0, 0, 0)]


@pytest.mark.parametrize("name", ["i8", "bf16", "f32", "i4"])
@pytest.mark.parametrize("case", TRANS, ids=str)
def test_trans(launch, emu, name, case):
    kind = TYPES[name]
    index, repeat, src_stride, dst_gap, dst_fractal_gap, src_fractal_gap = case
    launch(
        2,
        1,
        kind.index,
        512,
        32,
        index,
        repeat,
        src_stride,
        dst_gap,
        dst_fractal_gap,
        src_fractal_gap,
    )
    want = zeros(Space.L0B)
    model.trans(
        want,
        L1,
        bits=kind.bits,
        dst=512,
        src=32,
        index=index,
        repeat=repeat,
        src_stride=src_stride,
        dst_gap=dst_gap,
        dst_fractal_gap=dst_fractal_gap,
        src_fractal_gap=src_fractal_gap,
    )
    check(emu, Space.L0B, want, (name, case))


@pytest.mark.parametrize("to_b", [0, 1], ids=["l0a", "l0b"])
@pytest.mark.parametrize(
    "case",
    [(0, 0, 8, 4, 4, 4), (2, 1, 3, 2, 5, 7), (0, 0, 0, 2, 1, 1), (0, 0, 2, 0, 1, 1)],
    ids=str,
)
def test_scales(launch, emu, case, to_b):
    x_start, y_start, x_step, y_step, src_stride, dst_stride = case
    launch(3, to_b, 2048, 320, x_start, y_start, x_step, y_step, src_stride, dst_stride)
    space = Space.L0B_MX if to_b else Space.L0A_MX
    want = zeros(space)
    model.scales(
        want,
        L1,
        dst=128,
        src=320,
        x_start=x_start,
        y_start=y_start,
        x_step=x_step,
        y_step=y_step,
        src_stride=src_stride,
        dst_stride=dst_stride,
    )
    check(emu, space, want, case)


@pytest.mark.parametrize("form", range(4), ids=["bytes", "half", "bf16", "size"])
def test_bias_table(launch, emu, form):
    count, blocks, src_gap, dst_gap = (1, 0, 0, 0) if form == 3 else (3, 4, 1, 2)
    length = 256 if form == 3 else blocks * 32
    launch(4, form, 128, 640, count, length if form == 3 else blocks, src_gap, dst_gap)
    want = zeros(Space.BT)
    widen = {1: "f16", 2: "bf16"}.get(form, "")
    source = L1[: 1 << 16]
    model.blocks(
        want,
        source,
        dst=128,
        src=640,
        count=count,
        length=length,
        src_gap=src_gap * 32,
        dst_gap=dst_gap * 32,
        widen=widen,
    )
    got = emu.read(Space.BT)
    if widen:
        nan = np.isnan(want.view(np.float32))
        assert (np.isnan(got.view(np.float32)) == nan).all()
        assert (got.view(np.uint32)[~nan] == want.view(np.uint32)[~nan]).all()
    else:
        same_bytes(got, want, form)


def test_fixpipe_buffer_counts_64_byte_units(launch, emu):
    launch(5, 0, 128, 64, 2, 3, 1, 2)
    want = zeros(Space.FB)
    model.blocks(want, L1, dst=128, src=64, count=2, length=192, src_gap=32, dst_gap=128)
    check(emu, Space.FB, want, "blocks")


def test_the_size_form_of_the_fixpipe_buffer_moves_twice_the_bytes(launch, emu):
    launch(5, 1, 0, 64, 0, 96, 0, 0)
    want = zeros(Space.FB)
    want[:192] = L1[64 : 64 + 192]
    check(emu, Space.FB, want, "size")


F16 = TYPES["f16"].index
BAD = [
    ((0, 0, F16, 256, 0, 0, 0, 1, 1, 1, 1), "L0A address 256 must be a multiple of 512"),
    ((0, 0, F16, 0, 16, 0, 0, 1, 1, 1, 1), "L1 address 16 must be a multiple of 32"),
    ((0, 1, F16, 65024, 0, 0, 0, 2, 1, 1, 1), r"writes L0B bytes \[65024, 66048\)"),
    ((0, 0, F16, 0, 0, 0, 0, 1, 2, 1024, 1), "reads L1 bytes"),
    ((1, 0, TYPES["i8"].index, 0, 0, 0, 0, 3, 1, 4, 4), "m_step got 3, allowed are multiples of 2"),
    ((1, 0, TYPES["i4"].index, 0, 0, 0, 0, 6, 1, 8, 8), "m_step got 6, allowed are multiples of 4"),
    (
        (1, 0, TYPES["f32"].index, 0, 0, 0, 0, 1, 3, 4, 4),
        "k_step got 3, allowed are multiples of 2",
    ),
    ((3, 0, 65520, 0, 0, 0, 2, 1, 1, 1), "L0A_MX"),
    ((4, 0, 32, 0, 1, 1, 0, 0), "BT address 32 must be a multiple of 64"),
    ((4, 4, 0, 0, 1, 1, 0, 0), "conv_control 1 widens half and bfloat16_t"),
    ((5, 0, 0, 0, 1, 65, 0, 0), "writes FB bytes"),
    ((5, 0, 0, 0, 0, 1, 0, 0), "n_burst got 0"),
]


@pytest.mark.parametrize(("case", "text"), BAD, ids=lambda v: str(v))
def test_bad_parameters_are_reported(launch, emu, case, text):
    with pytest.raises(LaunchError, match=text):
        launch(*case)
    for space in (Space.L0A, Space.L0B, Space.L0A_MX, Space.BT, Space.FB):
        assert not emu.read(space).any()
