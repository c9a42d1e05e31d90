"""Fixpipe unit flags and parameter checks (ascend_c_cube.md 9.5 and 19)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import Emulator, Space
from .fixpipe_case import FLOATS, GM_BYTES, fields_of, image_of, launcher
from .model import fixpipe as model


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return launcher(emu)


@pytest.mark.parametrize(
    "options",
    [{}, {"schedule": "deferred", "seed": 1}, {"schedule": "deferred", "seed": 2}],
    ids=["immediate", "deferred1", "deferred2"],
)
def test_unit_flags_order_the_copy_behind_the_product(launch, options):
    f = fields_of(
        "NoQuant",
        "f32",
        n=16,
        m=1024,
        dst_stride=16,
        src_stride=1024,
        nd=1,
        unit_flag=3,
        fill_unit_flag=3,
        sync=0,
    )
    gm = np.zeros(GM_BYTES, np.uint8)
    launch(image_of(f), gm, f, **options)
    assert (gm[:65536] == FLOATS.view(np.uint8)[:65536]).all()


def test_a_copy_without_its_product_is_a_deadlock(launch):
    f = fields_of("NoQuant", "f32", n=16, m=16, dst_stride=16, src_stride=16, nd=1, unit_flag=3)
    with pytest.raises(LaunchError, match="unit_flag 3 on L0C from byte 0"):
        launch(image_of(f), np.zeros(GM_BYTES, np.uint8), f)


GOOD = {"n": 32, "m": 16, "dst_stride": 32, "src_stride": 16}
B8_WORD = model.word(1.0)
BAD = [
    ("NoQuant", "f32", {"nd": 1, "dn": 1}, "nz2nd and nz2dn exclude each other"),
    ("NoQuant", "f32", {"split": 1, "nd": 1}, "channel_split excludes nz2nd and nz2dn"),
    ("NoQuant", "f32", {"split": 1, "unit_flag": 3}, "channel_split excludes the unit flag"),
    ("F322F16", "f16", {"split": 1}, "channel_split is for float"),
    ("NoQuant", "f16", {"int_source": 0, "fill": 0}, "quant mode NoQuant does not convert"),
    ("F322F16", "bf16", {}, "quant mode F322F16 does not convert"),
    ("DEQF16", "f16", {"int_source": 0, "fill": 0}, "quant mode DEQF16 does not convert"),
    ("NoQuant", "f32", {"quant": 63}, "quant mode got 63"),
    ("NoQuant", "f32", {"relu": 4}, "relu_pre got 4, allowed 0 .. 3"),
    ("NoQuant", "f32", {"unit_flag": 1}, "unit_flag got 1"),
    ("NoQuant", "f32", {"dst_stride": 0}, "dst_stride got 0"),
    ("NoQuant", "f32", {"nd": 1, "write_loop3": 0}, "call asc_set_l0c2gm_nz2nd"),
    ("NoQuant", "f32", {"dn": 1, "pitch": 0}, "call asc_set_l0c2gm_channel_para"),
    ("NoQuant", "f32", {"dn": 1, "pitch": 2, "unit_flag": 3}, "excludes the unit flag"),
    ("NoQuant", "f32", {"dn": 1, "m": 9}, "bytes of a column"),
    ("NoQuant", "f32", {"n": 40}, "n_size got 40, allowed are multiples of 16"),
    ("NoQuant", "f32", {"n": 36, "split": 1}, "n_size got 36, allowed are multiples of 8"),
    ("QF322S4", "i4", {"n": 96, "word": B8_WORD}, "n_size got 96, allowed are multiples of 64"),
    ("NoQuant", "f32", {"n": 4096}, "n_size got 4096, allowed 0 .. 4095"),
    ("NoQuant", "f32", {"nd": 1, "m": 8193}, "m_size got 8193, allowed 0 .. 8192"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "n": 30}, "bytes of a row"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "dst": 16}, "UB address 16 must be a multiple of 32"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "dst": 262144 - 64}, "writes UB bytes"),
    ("NoQuant", "f32", {"src": 32}, "L0C address 32 must be a multiple of 64"),
    ("NoQuant", "f32", {"m": 4096, "src_stride": 4096}, "reads L0C bytes"),
    (
        "F322F16",
        "f16",
        {"target": 1, "nd": 1, "dual": 1},
        "a dual destination excludes quantisation",
    ),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "dual": 1, "m": 15}, "m_size of a split by M got 15"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "dual": 2, "n": 48}, "n_size of a split by N got 48"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "dual": 3, "newer": 1}, "dual_dst_mode got 3"),
    ("NoQuant", "f32", {"target": 1, "nd": 1, "sub_block": 2, "newer": 1}, "sub_blockid got 2"),
    ("NoQuant", "f32", {"target": 2, "split": 1}, "channel_split writes to GM only"),
    ("VQF322B8", "i8", {"quant_fb": 32}, "reads FB bytes"),
    ("NoQuant", "f32", {"atomic": 4}, "armed atomic mode has another element type"),
]


@pytest.mark.parametrize(("mode", "dst", "changes", "text"), BAD, ids=lambda v: str(v)[:40])
def test_bad_parameters_are_reported(launch, emu, mode, dst, changes, text):
    f = fields_of(mode, dst, **(GOOD | changes))
    gm = np.zeros(4096, np.uint8)
    with pytest.raises(LaunchError, match=text):
        launch(image_of(f), gm, f)
    assert not gm.any()
    assert not emu.read(Space.UB, 1).any()
    assert not emu.read(Space.UB, 2).any()
