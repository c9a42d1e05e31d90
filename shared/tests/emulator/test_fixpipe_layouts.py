"""Fixpipe layouts and targets: rows, fractals, columns; GM, UB, L1 (ascend_c_cube.md 9.1-9.3)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import SIZES, Emulator, Space, same_bytes
from .fixpipe_case import FLOATS, check_gm, expected, fields_of, image_of, launcher
from .model import fixpipe as model


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return launcher(emu)


# n, m, dst stride, src stride, dst byte offset
ND = [
    (40, 30, 40, 32, 0),
    (128, 64, 131, 64, 64),
    (1, 1, 1, 16, 12),
    (250, 100, 256, 112, 128),
    (17, 5, 33, 20, 4),
]


@pytest.mark.parametrize("case", ND, ids=str)
@pytest.mark.parametrize(
    ("mode", "dst"),
    [
        ("NoQuant", "f32"),
        ("NoQuant", "i32"),
        ("F322BF16", "bf16"),
        ("F322F16", "f16"),
        ("QF322B8", "i8"),
    ],
)
def test_rows_to_gm(launch, case, mode, dst):
    n, m, dst_stride, src_stride, offset = case
    check_gm(
        launch,
        mode,
        dst,
        n=n,
        m=m,
        dst_stride=dst_stride,
        src_stride=src_stride,
        dst=offset,
        nd=1,
        src=1024,
        word=model.word(0.5, -3),
    )


def test_long_rows_of_large_tiles(launch):
    for dst, mode in (("f32", "NoQuant"), ("bf16", "F322BF16"), ("f16", "F322F16")):
        check_gm(launch, mode, dst, n=496, m=96, dst_stride=512, src_stride=96, dst=0, nd=1)


@pytest.mark.parametrize(
    ("mode", "dst", "n", "dst_stride"),
    [
        ("NoQuant", "f32", 48, 600),
        ("NoQuant", "i32", 32, 512),
        ("F322BF16", "bf16", 64, 528),
        ("F322F16", "f16", 16, 16),
        ("QF322B8", "i8", 64, 1024),
        ("REQ8", "u8", 80, 1100),
        ("QF322S4", "i4", 128, 2048),
        ("QF322FP8", "e4m3", 96, 1024),
    ],
)
def test_fractals_to_gm(launch, mode, dst, n, dst_stride):
    check_gm(
        launch,
        mode,
        dst,
        n=n,
        m=30,
        dst_stride=dst_stride,
        src_stride=32,
        dst=32,
        word=model.word(0.5),
    )


def test_loop3_is_not_read_by_fractal_copies(launch):
    check_gm(launch, "NoQuant", "f32", n=32, m=16, dst_stride=256, src_stride=16, write_loop3=0)


def test_channel_split(launch):
    for n in (16, 24, 64):
        check_gm(launch, "NoQuant", "f32", n=n, m=20, dst_stride=200, src_stride=32, split=1)


@pytest.mark.parametrize(
    ("mode", "dst", "m"),
    [
        ("NoQuant", "f32", 40),
        ("F322BF16", "bf16", 48),
        ("QF322B8", "i8", 32),
        ("NoQuant", "i32", 8),
    ],
)
@pytest.mark.parametrize("pitch", [1, 3])
def test_columns_to_gm(launch, mode, dst, m, pitch):
    check_gm(
        launch,
        mode,
        dst,
        n=37,
        m=m,
        dst_stride=m + 5,
        src_stride=160,
        dn=1,
        pitch=pitch,
        word=model.word(0.5),
    )


@pytest.mark.parametrize("layout", ["nd", "dn"])
def test_several_matrices(launch, layout):
    check_gm(
        launch,
        "F322BF16",
        "bf16",
        n=20,
        m=16,
        dst_stride=24,
        src_stride=64,
        num=3,
        src_matrix=16,
        dst_matrix=1000,
        **{layout: 1},
    )
    check_gm(
        launch, "NoQuant", "f32", n=20, m=16, dst_stride=24, src_stride=64, num=0, **{layout: 1}
    )


def ub_parts(f: dict[str, int]) -> list[tuple[int, dict[str, int]]]:
    m, n = f["m"], f["n"]
    if f["dual"] == 1:
        return [(0, {"m": m // 2}), (1, {"m": m // 2, "src": f["src"] + m // 2 * 64})]
    if f["dual"] == 2:
        return [
            (0, {"n": n // 2}),
            (1, {"n": n // 2, "src": f["src"] + n // 32 * f["src_stride"] * 64}),
        ]
    return [(f["sub_block"], {})]


@pytest.mark.parametrize(
    ("mode", "dst", "changes"),
    [
        ("NoQuant", "f32", {"n": 40, "m": 33, "dst_stride": 48, "nd": 1}),
        ("NoQuant", "f32", {"n": 40, "m": 34, "dst_stride": 40, "nd": 1, "dual": 1}),
        ("NoQuant", "i32", {"n": 64, "m": 17, "dst_stride": 32, "nd": 1, "dual": 2}),
        ("NoQuant", "f32", {"n": 64, "m": 32, "dst_stride": 600, "dual": 1}),
        ("NoQuant", "f32", {"n": 96, "m": 32, "dst_stride": 600, "dual": 2}),
        ("NoQuant", "f32", {"n": 48, "m": 20, "dst_stride": 400, "sub_block": 1}),
        ("F322BF16", "bf16", {"n": 48, "m": 20, "dst_stride": 64, "nd": 1, "sub_block": 1}),
        (
            "QF322B8",
            "i8",
            {"n": 64, "m": 20, "dst_stride": 64, "nd": 1, "relu": 1, "word": model.word(0.5)},
        ),
        ("F322F16", "f16", {"n": 21, "m": 32, "dst_stride": 40, "dn": 1}),
    ],
)
def test_to_ub(launch, emu, mode, dst, changes):
    for newer in (0, 1):
        f = fields_of(mode, dst, target=1, newer=newer, dst=256, src=2048, src_stride=64, **changes)
        launch(image_of(f), np.zeros(32, np.uint8), f)
        want = [np.zeros(SIZES[Space.UB], np.uint8) for _ in range(2)]
        for core, part in ub_parts(f):
            expected(want[core], f, mode, dst, part)
        for core in range(2):
            same_bytes(emu.read(Space.UB, core + 1), want[core], (f, core))


def test_worked_value_of_section_22_dual_split(launch, emu):
    f = fields_of(
        "NoQuant",
        "f32",
        target=1,
        newer=1,
        n=224,
        m=256,
        dst_stride=224,
        src_stride=256,
        nd=1,
        dual=1,
    )
    launch(image_of(f), np.zeros(32, np.uint8), f)
    rows, cols = np.meshgrid(np.arange(256), np.arange(224), indexing="ij")
    c = FLOATS[cols // 16 * 256 * 16 + rows * 16 + cols % 16]
    for core in range(2):
        got = emu.read(Space.UB, core + 1)
        assert (
            got[:114688].view(np.float32).reshape(128, 224) == c[core * 128 : core * 128 + 128]
        ).all()
        assert not got[114688:].any()


@pytest.mark.parametrize(
    ("mode", "dst", "changes"),
    [
        ("F322F16", "f16", {"n": 48, "m": 20, "dst_stride": 320}),
        ("QF322B8", "i8", {"n": 64, "m": 20, "dst_stride": 640, "word": model.word(0.5)}),
        ("NoQuant", "f32", {"n": 16, "m": 20, "dst_stride": 24, "nd": 1}),
    ],
)
def test_to_l1(launch, emu, mode, dst, changes):
    for newer in (0, 1):
        f = fields_of(mode, dst, target=2, newer=newer, dst=262144, src=0, src_stride=32, **changes)
        launch(image_of(f), np.zeros(32, np.uint8), f)
        want = emu.read(Space.L1)
        start = 262144 - 64
        want[start:] = 0
        expected(want, f, mode, dst, {})
        same_bytes(emu.read(Space.L1)[start:], want[start:], f)
