"""GM -> L1 copies and the L1 fill against the formulas (ascend_c_cube.md sections 5 and 6)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import SIZES, Emulator, Space, params, random_bytes, same_bytes
from .model import gm_to_l1 as model
from .model.types import TYPES

GM = random_bytes(1 << 20)


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return emu.kernel("gm_to_l1")


def poisoned() -> np.ndarray:
    return np.full(SIZES[Space.L1], model.POISON, np.uint8)


# n, d, extra bytes behind a row, num, n_stride, c0_stride, destination matrix distance, dst
NZ_SHAPES = [
    (16, 32, 0, 1, 1, 16, 0, 0),
    (30, 70, 3, 1, 1, 32, 0, 4096),
    (1, 1, 0, 1, 1, 1, 0, 32),
    (33, 17, 64, 2, 1, 48, 400, 1024),
    (7, 100, 0, 1, 3, 40, 0, 0),
    (20, 9, 5, 3, 2, 41, 200, 64),
    (48, 300, 12, 1, 1, 48, 0, 0),
]
NZ_TYPES = ["i8", "u8", "hif8", "e5m2", "e4m3", "i16", "u16", "f16", "bf16", "i32", "u32", "f32"]


def nz_params(
    newer, kind, transposed, dst, src, line, n, d, matrix, small, num, n_str, c0_str, m_str
):
    return params(
        newer,
        kind.index,
        transposed,
        dst,
        src,
        line,
        n,
        d,
        matrix,
        small,
        num,
        n_str,
        c0_str,
        m_str,
    )


@pytest.mark.parametrize("transposed", [False, True], ids=["nd2nz", "dn2nz"])
@pytest.mark.parametrize("shape", NZ_SHAPES, ids=str)
def test_to_nz(launch, emu, shape, transposed):
    n, d, extra, num, n_stride, c0_stride, dst_matrix, dst = shape
    for i, name in enumerate(NZ_TYPES):
        kind = TYPES[name]
        line = (n if transposed else d) * kind.bytes + extra
        matrix = line * (d if transposed else n) + 11
        newer = i % 2
        launch(
            GM,
            nz_params(
                newer,
                kind,
                transposed,
                dst,
                5,
                line,
                n,
                d,
                matrix,
                0,
                num,
                n_stride,
                c0_stride,
                dst_matrix,
            ),
            np.int32(0),
        )
        want = poisoned()
        model.to_nz(
            want,
            GM,
            size=kind.bytes,
            transposed=transposed,
            dst=dst,
            src=5,
            line=line,
            n=n,
            d=d,
            matrix=matrix,
            num=num,
            n_stride=n_stride,
            c0_stride=c0_stride,
            dst_matrix=dst_matrix,
        )
        same_bytes(emu.read(Space.L1), want, (name, shape, transposed, newer))


@pytest.mark.parametrize("name", ["i8", "bf16", "f32"])
@pytest.mark.parametrize("d", [1, 3, 4])
def test_small_c0_packs_rows_of_four(launch, emu, name, d):
    kind = TYPES[name]
    launch(GM, nz_params(0, kind, 0, 64, 0, 50, 13, d, 0, 1, 1, 1, 16, 0), np.int32(0))
    want = poisoned()
    model.small_c0(want, GM, size=kind.bytes, dst=64, src=0, line=50, n=13, d=d)
    same_bytes(emu.read(Space.L1), want, (name, d))


@pytest.mark.parametrize(("n", "d", "num"), [(0, 8, 1), (8, 0, 1), (8, 8, 0)])
def test_an_empty_copy_writes_nothing(launch, emu, n, d, num):
    launch(GM, nz_params(0, TYPES["f16"], 0, 0, 0, 64, n, d, 0, 0, num, 1, 16, 0), np.int32(0))
    same_bytes(emu.read(Space.L1), poisoned(), (n, d, num))


def test_worked_value_of_section_22(launch, emu):
    n, d, row = 224, 128, 4096
    kind = TYPES["bf16"]
    launch(GM, nz_params(1, kind, 0, 512, 0, row, n, d, 0, 0, 1, 1, 224, 0), np.int32(0))
    l1 = emu.read(Space.L1)
    element = l1[512 : 512 + 57344].view(np.uint16)
    rows, cols = np.meshgrid(np.arange(n), np.arange(d), indexing="ij")
    at = ((cols // 16 * 224 + rows) * 32 + cols % 16 * 2) // 2
    assert (element[at] == GM.view(np.uint16).reshape(-1, row // 2)[:n, :d]).all()
    assert (l1[:512] == model.POISON).all()
    assert (l1[512 + 57344 :] == model.POISON).all()


# type, count, bytes, left, right, constant, src stride, dst stride, loops, loop1, loop2
BURSTS = [
    ("u8", 1, 64, 0, 0, False, 0, 0, (1, 1), (0, 0), (0, 0)),
    ("u8", 5, 33, 0, 0, False, 100, 64, (1, 1), (0, 0), (0, 0)),
    ("bf16", 3, 50, 2, 5, True, 77, 64, (1, 1), (0, 0), (0, 0)),
    ("bf16", 3, 50, 2, 5, False, 77, 96, (1, 1), (0, 0), (0, 0)),
    ("f32", 2, 120, 1, 1, True, 200, 128, (3, 2), (500, 256), (2000, 1024)),
    ("i8", 4, 20, 0, 0, False, 31, 20, (2, 1), (300, 96), (0, 0)),
    ("i16", 6, 64, 0, 0, False, 64, 64, (1, 1), (0, 0), (0, 0)),
    ("u32", 7, 4, 3, 4, True, 4, 32, (1, 1), (0, 0), (0, 0)),
]


@pytest.mark.parametrize("case", BURSTS, ids=str)
@pytest.mark.parametrize("newer", [0, 1])
def test_align(launch, emu, case, newer):
    name, count, length, left, right, constant, src_stride, dst_stride, loops, loop1, loop2 = case
    pad = 0x12345678
    kind = TYPES[name]
    launch(
        GM,
        params(
            newer,
            kind.index,
            256,
            7,
            count,
            length,
            left,
            right,
            constant,
            src_stride,
            dst_stride,
            pad,
            *loops,
            *loop1,
            *loop2,
        ),
        np.int32(1),
    )
    want = poisoned()
    model.bursts(
        want,
        GM,
        size=kind.bytes,
        dst=256,
        src=7,
        count=count,
        length=length,
        left=left,
        right=right,
        constant=constant,
        src_stride=src_stride,
        dst_stride=dst_stride,
        pad=pad,
        loops=loops,
        loop1=loop1,
        loop2=loop2,
    )
    same_bytes(emu.read(Space.L1), want, case)


# count, blocks, mode, src stride, dst stride
PLAIN = [
    (1, 10, 0, 0, 0),
    (3, 2, 0, 4, 5),
    (4, 1, 1, 0, 1),
    (4, 1, 2, 0, 2),
    (2, 1, 3, 0, 0),
    (3, 1, 4, 0, 1),
    (3, 1, 5, 0, 3),
    (2, 3, 6, 4, 0),
    (2, 2, 7, 2, 0),
    (1, 5, 8, 0, 0),
]


@pytest.mark.parametrize("case", PLAIN, ids=str)
@pytest.mark.parametrize("newer", [0, 1])
def test_plain_and_padded(launch, emu, case, newer):
    count, blocks, mode, src_stride, dst_stride = case
    launch(
        GM,
        params(newer, 96, 3, count, blocks, mode, src_stride, dst_stride, 0xCAFE0102),
        np.int32(2),
    )
    want = poisoned()
    model.plain(
        want,
        GM,
        dst=96,
        src=3,
        count=count,
        blocks=blocks,
        mode=mode,
        src_stride=src_stride,
        dst_stride=dst_stride,
        pad=0xCAFE0102,
    )
    same_bytes(emu.read(Space.L1), want, case)


def test_fractals_of_an_nz_source(launch, emu):
    launch(GM, params(0, 1024, 0, 1, 2, 4, 3, 2), np.int32(3))
    want = poisoned()
    for k in range(2):
        at = ((2 + k) * 3 + 1) * 512
        want[1024 + k * 2048 : 1024 + k * 2048 + 1536] = GM[at : at + 1536]
    same_bytes(emu.read(Space.L1), want, "fractals")


@pytest.mark.parametrize("form", [0, 1, 2, 3], ids=["u16", "u32", "half", "bf16"])
@pytest.mark.parametrize("shape", [(1, 4, 0), (3, 2, 5), (0, 4, 0), (4, 0, 1), (2, 1, 0)], ids=str)
def test_fill(launch, emu, form, shape):
    repeat, blocks, gap = shape
    value = 0x8001_7F02
    launch(GM, params(0, form, 320, value, repeat, blocks, gap), np.int32(4))
    want = poisoned()
    pattern = value.to_bytes(4, "little")
    model.fill(
        want,
        dst=320,
        pattern=pattern if form == 1 else pattern[:2],
        repeat=repeat,
        blocks=blocks,
        gap=gap,
    )
    same_bytes(emu.read(Space.L1), want, (form, shape))


NZ_OK = {"dst": 0, "n": 16, "d": 32, "n_str": 1, "c0_str": 16}
BAD_NZ = [
    ({"dst": 16}, "L1 address 16 must be a multiple of 32"),
    ({"dst": 524288 - 512}, "writes L1 bytes"),
    ({"n": 16385, "n_str": 1}, "n_value got 16385, allowed 0 .. 16384"),
    ({"d": 65536}, "d_value got 65536, allowed 0 .. 65535"),
    ({"n_str": 0}, "destination row stride got 0"),
    ({"c0_str": 0}, "destination C0 column stride got 0"),
]


@pytest.mark.parametrize(("change", "text"), BAD_NZ, ids=lambda v: str(v))
def test_bad_nz_parameters_are_reported(launch, emu, change, text):
    c = NZ_OK | change
    with pytest.raises(LaunchError, match=text):
        launch(
            GM,
            nz_params(
                0,
                TYPES["f16"],
                0,
                c["dst"],
                0,
                64,
                c["n"],
                c["d"],
                0,
                0,
                1,
                c["n_str"],
                c["c0_str"],
                0,
            ),
            np.int32(0),
        )
    same_bytes(emu.read(Space.L1), poisoned(), change)


BAD_BURSTS = [
    ((0, 64, 0, 0, 64, 64), "n_burst got 0, allowed 1 .. 4095"),
    ((4096, 64, 0, 0, 64, 64), "n_burst got 4096"),
    ((2, 64, 17, 0, 64, 128), "left padding in bytes got 34, allowed 0 .. 32"),
    ((2, 64, 0, 0, 64, 80), "destination stride got 80, allowed are multiples of 32"),
    ((2, 63, 0, 0, 64, 64), "len_burst got 63, allowed are multiples of 2"),
]


@pytest.mark.parametrize(("case", "text"), BAD_BURSTS, ids=lambda v: str(v))
def test_bad_bursts_are_reported(launch, case, text):
    count, length, left, right, src_stride, dst_stride = case
    with pytest.raises(LaunchError, match=text):
        launch(
            GM,
            params(
                0,
                TYPES["f16"].index,
                0,
                0,
                count,
                length,
                left,
                right,
                0,
                src_stride,
                dst_stride,
                0,
                1,
                1,
                0,
                0,
                0,
                0,
            ),
            np.int32(1),
        )


def test_bad_padding_modes_are_reported(launch):
    with pytest.raises(LaunchError, match="pad_func_mode got 9, allowed 0 .. 8"):
        launch(GM, params(0, 0, 0, 1, 1, 9, 0, 0, 0), np.int32(2))
    with pytest.raises(LaunchError, match="len_burst got 2, allowed 1 .. 1"):
        launch(GM, params(0, 0, 0, 1, 2, 3, 0, 0, 0), np.int32(2))
