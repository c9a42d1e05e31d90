"""UB-side copies and DMA atomics against the formulas (ascend_c_cube.md sections 11 and 12)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import SIZES, Emulator, Space, params, random_bytes, same_bytes
from .model import gm_to_l1, l1_to_l0
from .model.types import TYPES

IMAGE = random_bytes(1 << 18, 4)
UB = IMAGE[:131072]


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernel = emu.kernel("ub_copy")

    def run(
        scenario: int, *values: int, gm: np.ndarray | None = None, image=IMAGE, core=1, blocks=1
    ) -> None:
        padded = [*values, *([0] * (18 - len(values))), core]
        kernel(
            image,
            np.zeros(64, np.uint8) if gm is None else gm,
            params(*padded),
            np.int32(scenario),
            blocks=blocks,
        )

    return run


def ub_after(emu: Emulator, core: int = 1) -> np.ndarray:
    return emu.read(Space.UB, core + 1)


# type, count, bytes, left, right, constant, src stride, dst stride, loops, loop1, loop2
LOADS = [
    ("u8", 1, 100, 0, 0, False, 0, 0, (1, 1), (0, 0), (0, 0)),
    ("u8", 9, 31, 1, 0, True, 77, 32, (1, 1), (0, 0), (0, 0)),
    ("f16", 4, 30, 0, 9, True, 64, 96, (1, 1), (0, 0), (0, 0)),
    ("bf16", 3, 60, 4, 6, False, 60, 96, (2, 2), (500, 320), (2000, 640)),
    ("f32", 5, 64, 8, 8, True, 64, 128, (1, 1), (0, 0), (0, 0)),
    ("e4m3", 4, 20, 0, 0, False, 31, 20, (1, 1), (0, 0), (0, 0)),
    ("i32", 8, 512, 0, 0, False, 512, 512, (1, 1), (0, 0), (0, 0)),
]


@pytest.mark.parametrize("case", LOADS, ids=str)
@pytest.mark.parametrize("newer", [0, 1])
def test_loads_with_padding(launch, emu, case, newer):
    name, count, length, left, right, constant, src_stride, dst_stride, loops, loop1, loop2 = case
    kind = TYPES[name]
    launch(
        0,
        newer,
        kind.index,
        64,
        3,
        count,
        length,
        left,
        right,
        constant,
        src_stride,
        dst_stride,
        0xBEEF4321,
        *loops,
        *loop1,
        *loop2,
    )
    want = np.zeros(SIZES[Space.UB], np.uint8)
    gm_to_l1.bursts(
        want,
        IMAGE,
        size=kind.bytes,
        dst=64,
        src=3,
        count=count,
        length=length,
        left=left,
        right=right,
        constant=constant,
        src_stride=src_stride,
        dst_stride=dst_stride,
        pad=0xBEEF4321,
        loops=loops,
        loop1=loop1,
        loop2=loop2,
        fill=True,
    )
    same_bytes(ub_after(emu), want, case)
    assert not ub_after(emu, 0).any()


@pytest.mark.parametrize("form", [0, 1, 2], ids=["strided", "size", "align_size"])
def test_plain_loads(launch, emu, form):
    count, length, src_stride, dst_stride = (
        (3, 96, 200, 128) if form == 0 else (1, 4096, 4096, 4096)
    )
    launch(1, 0, form, 32, 8, count, length, src_stride, dst_stride)
    want = np.zeros(SIZES[Space.UB], np.uint8)
    gm_to_l1.bursts(
        want,
        IMAGE,
        size=1,
        dst=32,
        src=8,
        count=count,
        length=length,
        left=0,
        right=0,
        constant=False,
        src_stride=src_stride,
        dst_stride=dst_stride,
        pad=0,
    )
    same_bytes(ub_after(emu), want, form)


def stored(
    gm: np.ndarray,
    *,
    dst,
    src,
    count,
    length,
    dst_stride,
    src_stride,
    loops=(1, 1),
    loop1=(0, 0),
    loop2=(0, 0),
):
    """UB -> GM: bursts of bytes, no padding (section 11)."""
    for j in range(loops[1]):
        for i in range(loops[0]):
            for b in range(count):
                at = src + j * loop2[0] + i * loop1[0] + b * src_stride
                to = dst + j * loop2[1] + i * loop1[1] + b * dst_stride
                gm[to : to + length] = UB[at : at + length]


# form, count, bytes, dst stride, src stride, loops, loop1, loop2, dst
STORES = [
    (0, 3, 50, 77, 64, (1, 1), (0, 0), (0, 0), 5),
    (1, 1, 1000, 1000, 1000, (1, 1), (0, 0), (0, 0), 1),
    (2, 7, 33, 50, 64, (1, 1), (0, 0), (0, 0), 0),
    (2, 4, 20, 100, 20, (1, 1), (0, 0), (0, 0), 3),
    (2, 128, 512, 1024, 512, (1, 1), (0, 0), (0, 0), 0),
    (2, 100, 360, 1000, 384, (1, 1), (0, 0), (0, 0), 8),
    (2, 2, 64, 64, 64, (3, 2), (256, 300), (1024, 2000), 0),
    (3, 1, 640, 640, 640, (1, 1), (0, 0), (0, 0), 8),
]


@pytest.mark.parametrize("case", STORES, ids=str)
def test_stores(launch, case):
    form, count, length, dst_stride, src_stride, loops, loop1, loop2, dst = case
    # Both a line-aligned destination, whose large copies are streamed, and one that is not.
    buffer = np.zeros((1 << 18) + 128, np.uint8)
    start = -buffer.ctypes.data % 64
    for shift in (0, 4):
        gm = buffer[start + shift : start + shift + (1 << 18)]
        gm[:] = 0x11
        want = gm.copy()
        launch(
            2,
            0,
            form,
            dst,
            96,
            count,
            length,
            dst_stride,
            src_stride,
            *loops,
            *loop1,
            *loop2,
            gm=gm,
        )
        stored(
            want,
            dst=dst,
            src=96,
            count=count,
            length=length,
            dst_stride=dst_stride,
            src_stride=src_stride,
            loops=loops,
            loop1=loop1,
            loop2=loop2,
        )
        same_bytes(gm, want, (case, shift))


ATOMICS = ["f32"] * 3 + ["f16"] * 3 + ["bf16"] * 3 + ["i32"] * 3 + ["i16"] * 3 + ["i8"] * 3
OPS = (np.add, np.maximum, np.minimum)


@pytest.mark.parametrize("which", range(18), ids=lambda w: f"{ATOMICS[w]}-{OPS[w % 3].__name__}")
def test_atomic_stores(launch, which):
    dtype = TYPES[ATOMICS[which]].dtype
    rng = np.random.default_rng(which)
    image = np.zeros(1 << 18, np.uint8)
    values = rng.integers(-100, 100, 1 << 12).astype(dtype)
    image[: values.nbytes] = values.view(np.uint8)
    start = rng.integers(-100, 100, 1 << 13).astype(dtype)
    gm = start.copy()
    count, size = 5, dtype.itemsize
    launch(
        2,
        0,
        2,
        3 * size,
        32,
        count,
        13 * size,
        40 * size,
        64 * size,
        1,
        1,
        0,
        0,
        0,
        0,
        which + 1,
        gm=gm.view(np.uint8),
        image=image,
    )
    want = start.copy()
    wide = np.float32 if dtype.kind not in "iu" else dtype
    with np.errstate(over="ignore"):
        for b in range(count):
            to, at = 3 + b * 40, 32 // size + b * 64
            a, v = want[to : to + 13].astype(wide), values[at : at + 13].astype(wide)
            want[to : to + 13] = OPS[which % 3](a, v).astype(dtype)
    same_bytes(gm.view(np.uint8), want.view(np.uint8), ATOMICS[which])


def test_atomic_adds_of_all_blocks_arrive(launch):
    image = np.zeros(1 << 18, np.uint8)
    image[:4096] = np.ones(1024, np.float32).view(np.uint8)
    gm = np.zeros(1024, np.float32)
    launch(
        2,
        0,
        2,
        0,
        0,
        1,
        4096,
        4096,
        4096,
        1,
        1,
        0,
        0,
        0,
        0,
        1,
        gm=gm.view(np.uint8),
        image=image,
        blocks=40,
    )
    assert (gm == 40).all()


def test_an_atomic_maximum_passes_nan_on(launch):
    image = np.zeros(1 << 18, np.uint8)
    image[:128] = np.full(32, np.nan, np.float32).view(np.uint8)
    gm = np.ones(32, np.float32)
    launch(2, 0, 2, 0, 0, 1, 128, 128, 128, 1, 1, 0, 0, 0, 0, 2, gm=gm.view(np.uint8), image=image)
    assert np.isnan(gm).all()


# form, count, 32-byte blocks, gaps; form 1 gives a size in bytes, which asc_copy_l12ub has not.
BLOCKS = [(0, 3, 2, 1, 4), (0, 1, 10, 0, 0), (1, 1, 5, 0, 0)]


@pytest.mark.parametrize(
    ("target", "case"),
    [(t, c) for t in ("ub2ub", "ub2l1", "l12ub") for c in BLOCKS if t != "l12ub" or c[0] == 0],
    ids=str,
)
def test_block_copies(launch, emu, case, target):
    form, count, blocks, src_gap, dst_gap = case
    length = blocks * 32
    size = length + 7 if form else blocks  # the size form counts bytes and drops the rest
    common = {
        "dst": 196608,
        "src": 320,
        "count": count,
        "length": length,
        "src_gap": src_gap * 32,
        "dst_gap": dst_gap * 32,
    }
    if target == "l12ub":
        for core in range(2):
            launch(5, 0, core, 196608, 320, count, blocks, src_gap, dst_gap)
            want = np.zeros(SIZES[Space.UB], np.uint8)
            l1_to_l0.blocks(want, IMAGE, **common)
            same_bytes(ub_after(emu, core), want, case)
        return
    launch(3 if target == "ub2ub" else 4, 0, form, 196608, 320, count, size, src_gap, dst_gap)
    space = Space.UB if target == "ub2ub" else Space.L1
    want = np.zeros(SIZES[space], np.uint8)
    if space is Space.UB:
        want[:131072] = UB
    l1_to_l0.blocks(want, UB, **common)
    same_bytes(ub_after(emu) if space is Space.UB else emu.read(Space.L1), want, case)


def test_calls_for_the_other_core_type_do_nothing(launch, emu):
    launch(6)
    assert not emu.read(Space.L1).any()
    assert not emu.read(Space.L0C).any()
    assert not ub_after(emu).any()
    assert not ub_after(emu, 0).any()


BAD = [
    ((0, 0, 1, 0, 0, 0, 64, 0, 0, 0, 64, 64, 0, 1, 1), "n_burst got 0"),
    ((0, 0, 1, 0, 0, 2, 64, 33, 0, 0, 64, 128, 0, 1, 1), "left padding in bytes got 33"),
    ((0, 0, 1, 0, 0, 2, 64, 0, 0, 0, 64, 72, 0, 1, 1), "destination stride got 72"),
    ((0, 0, 1, 16, 0, 1, 64, 0, 0, 0, 64, 64, 0, 1, 1), "UB address 16 must be a multiple of 32"),
    ((0, 0, 1, 262112, 0, 1, 64, 0, 0, 0, 64, 64, 0, 1, 1), r"writes UB bytes \[262112, 262176\)"),
    (
        (0, 0, 1, 0, 0, 1, 1 << 21, 0, 0, 0, 64, 64, 0, 1, 1),
        "len_burst got 2097152, allowed 0 .. 2097151",
    ),
    ((2, 0, 2, 0, 0, 4096, 32, 32, 32, 1, 1), "n_burst got 4096"),
    ((2, 0, 2, 0, 0, 2, 32, 32, 40, 1, 1), "source stride got 40"),
    ((2, 0, 2, 0, 262112, 1, 64, 64, 64, 1, 1), "reads UB bytes"),
    ((2, 0, 2, 0, 0, 1, 62, 64, 64, 1, 1, 0, 0, 0, 0, 1), "len_burst of an atomic store got 62"),
    ((3, 0, 0, 8, 0, 1, 1, 0, 0), "UB address 8 must be a multiple of 32"),
    ((4, 0, 0, 524288, 0, 1, 1, 0, 0), "writes L1 bytes"),
    ((5, 0, 2, 0, 0, 1, 1, 0, 0), "sub_blockid got 2, allowed 0 .. 1"),
]


@pytest.mark.parametrize(("case", "text"), BAD, ids=lambda v: str(v))
def test_bad_parameters_are_reported(launch, case, text):
    gm = np.zeros(4096, np.uint8)
    with pytest.raises(LaunchError, match=text) as failure:
        launch(*case, gm=gm)
    assert not gm.any()
    report = str(failure.value)
    assert "kernel ub_copy" in report
    assert " AIV" in report or " AIC" in report
    assert "kernel.asc:" in report
