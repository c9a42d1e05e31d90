"""Fixpipe conversions, ReLU and atomic stores (ascend_c_cube.md 9.4, 9.6, 9.7)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Emulator, same_bytes
from .fixpipe_case import GM_BYTES, check_gm, expected, fields_of, image_of, launcher
from .model import fixpipe as model
from .model.types import TYPES


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return launcher(emu)


@pytest.mark.parametrize("mode", [m for m in model.MODES if m != "NoQuant"])
@pytest.mark.parametrize("relu", [0, 1, 2, 3])
def test_every_conversion(launch, mode, relu):
    targets = {
        "B8": ("i8", "u8"),
        "EQ8": ("i8", "u8"),
        "S4": ("i4",),
        "EQ4": ("i4",),
        "FP8": ("e4m3",),
        "HIF8": ("hif8",),
        "BF16": ("bf16",),
        "F16": ("f16",),
        "F32": ("f32",),
    }
    for suffix, types in targets.items():
        if not mode.endswith(suffix) or (suffix == "F16" and mode.endswith("BF16")):
            continue
        for dst in types:
            check_gm(
                launch,
                mode,
                dst,
                n=96,
                m=48,
                dst_stride=100,
                src_stride=64,
                nd=1,
                relu=relu,
                quant_fb=3,
                relu_fb=1,
                word=model.word(0.375, 17, dst != "u8"),
                relu_alpha=0x3E800000,
            )


@pytest.mark.parametrize("relu", [1, 2, 3])
def test_relu_without_conversion(launch, relu):
    check_gm(
        launch,
        "NoQuant",
        "f32",
        n=32,
        m=32,
        dst_stride=32,
        src_stride=32,
        nd=1,
        relu=relu,
        relu_alpha=0x3E800000,
    )
    if relu == 1:
        check_gm(
            launch, "NoQuant", "i32", n=32, m=32, dst_stride=32, src_stride=32, nd=1, relu=relu
        )


SPECIALS = np.array(
    [
        np.inf,
        -np.inf,
        np.nan,
        1e-40,
        -1.5,
        0.0,
        65520.0,
        -65519.0,
        3.4e38,
        1e-45,
        448.0,
        464.0,
        465.0,
        -480.0,
        1.0,
        2.0**-10,
    ],
    np.float32,
)


@pytest.mark.parametrize("keep", [1, 0], ids=["inf_nan", "saturate"])
@pytest.mark.parametrize(
    ("mode", "dst"),
    [
        ("F322BF16", "bf16"),
        ("F322F16", "f16"),
        ("QF322FP8", "e4m3"),
        ("QF322HIF8", "hif8"),
        ("QF322F32", "f32"),
    ],
)
def test_special_values(launch, keep, mode, dst):
    row = np.zeros(1024, np.float32)
    row[:16] = SPECIALS
    f = fields_of(
        mode,
        dst,
        n=16,
        m=4,
        dst_stride=16,
        src_stride=16,
        nd=1,
        fill=2,
        ctrl=keep << 48,
        word=model.word(1.0),
    )
    gm = np.zeros(4096, np.uint8)
    launch(row.view(np.uint8), gm, f)
    want = model.values(
        SPECIALS[None],
        mode,
        np.full(16, f["word"], np.uint64),
        relu=0,
        alpha=np.zeros(16),
        dst=dst,
        keep=bool(keep),
    )
    size = TYPES[dst].bytes
    got = gm[: 16 * size].view(want.dtype)
    nan = np.isnan(SPECIALS) if keep else np.zeros(16, bool)
    assert (got[~nan] == want[0][~nan]).all(), (got, want)
    if keep and dst != "hif8":
        assert np.isnan(gm[: 16 * size].view(TYPES[dst].dtype).astype(np.float64)[nan]).all()


def test_a_nan_of_fp8_can_be_kept_while_saturating(launch):
    row = np.full(1024, np.nan, np.float32)
    for bit, want in ((0, 0x00), (1, 0x7F)):
        f = fields_of(
            "QF322FP8",
            "e4m3",
            n=16,
            m=1,
            dst_stride=16,
            src_stride=16,
            nd=1,
            fill=2,
            ctrl=bit << 50,
            word=model.word(1.0),
        )
        gm = np.ones(64, np.uint8)
        launch(row.view(np.uint8), gm, f)
        assert (gm[:16] == want).all()


def test_worked_quant_word_of_section_22():
    assert model.word(2.0) == 0x0000400040000000


ATOMICS = {
    1: ("f32", "NoQuant", np.add),
    2: ("f32", "NoQuant", np.maximum),
    3: ("f32", "NoQuant", np.minimum),
    4: ("bf16", "F322BF16", np.add),
    5: ("f16", "F322F16", np.add),
    6: ("i32", "NoQuant", np.add),
    7: ("i8", "QF322B8", np.maximum),
}


@pytest.mark.parametrize("atomic", ATOMICS)
@pytest.mark.parametrize("layout", ["nd", "nz", "dn"])
def test_atomic_stores(launch, atomic, layout):
    dst, mode, op = ATOMICS[atomic]
    dtype = TYPES[dst].dtype
    m = 32
    f = fields_of(
        mode,
        dst,
        n=64,
        m=m,
        dst_stride=70 if layout != "nz" else 2048,
        src_stride=32,
        atomic=atomic,
        word=model.word(0.5),
        **({layout: 1} if layout != "nz" else {}),
    )
    start = (np.random.default_rng(1).integers(-50, 50, GM_BYTES // 16)).astype(dtype)
    gm = start.copy()
    launch(image_of(f), gm.view(np.uint8), f)
    stored = np.zeros(start.nbytes, np.uint8)
    expected(stored, f, mode, dst, {})
    index = model.element_index(
        m, 64, layout=layout, bits=TYPES[dst].bits, dst_stride=f["dst_stride"]
    )
    want = start.copy()
    values = stored.view(dtype)[index]
    if dst in ("bf16", "f16"):
        want[index] = op(start[index].astype(np.float32), values.astype(np.float32)).astype(dtype)
    else:
        want[index] = op(start[index], values)
    same_bytes(gm.view(np.uint8), want.view(np.uint8), f)
