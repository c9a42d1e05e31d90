"""asc_mmad and asc_mmad_mx: operand layouts, sources of C, modes and checks (ascend_c_cube.md 10).

Values are small enough for exact fp32 sums, so results are compared for equality; the arithmetic
itself is tested in test_mmad_numerics.py.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import Emulator, Space, params
from .model import mmad as model
from .model.types import TYPES

PAIRS = {
    ("f16", "f16"): 0,
    ("bf16", "bf16"): 1,
    ("f32", "f32"): 2,
    ("i8", "i8"): 3,
    ("e4m3", "e4m3"): 4,
    ("e4m3", "e5m2"): 5,
    ("e5m2", "e4m3"): 6,
    ("e5m2", "e5m2"): 7,
    ("hif8", "hif8"): 8,
}
MX_PAIRS = {
    ("e4m3", "e5m2"): 9,
    ("e5m2", "e4m3"): 10,
    ("e2m1", "e1m2"): 11,
    ("e1m2", "e2m1"): 12,
    ("e2m1", "e2m1"): 13,
}
A_SIZE = 65536
SCALES = 4096


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return emu.kernel("mmad")


def exact_codes(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Codes of values with few bits."""
    kind = TYPES[name]
    if kind.bits == 4:
        return rng.integers(0, 16, shape, np.uint32)
    if name == "hif8":
        finite = np.nan_to_num(model.HIF8, nan=99, posinf=99, neginf=99)
        small = np.flatnonzero((np.abs(finite) <= 4) & (finite % 0.25 == 0))
        return rng.choice(small, shape).astype(np.uint32)
    values = rng.integers(-6, 7, shape).astype(kind.dtype)
    width = {8: np.uint8, 16: np.uint16, 32: np.uint32}[kind.bits]
    return values.view(width).astype(np.uint32)


# Codes of elements outside M, K, N: NaN where the type has it.
JUNK = {
    "f16": 0x7E00,
    "bf16": 0x7FC0,
    "f32": 0x7FC00000,
    "i8": 0x55,
    "e4m3": 0x7F,
    "e5m2": 0x7F,
    "hif8": 0x80,
    "e2m1": 7,
    "e1m2": 7,
}


class Case:
    """Operands of one product and the image of the on-chip memories that holds them."""

    def __init__(
        self, a: str, b: str, m: int, k: int, n: int, mx: bool = False, at: int = 0
    ) -> None:
        rng = np.random.default_rng(zlib.crc32(repr((a, b, m, k, n)).encode()))
        self.m, self.k, self.n, self.at = m, k, n, at
        a_codes = exact_codes(rng, a, (m, k))
        b_codes = exact_codes(rng, b, (n, k))
        self.a, self.b = model.decode(a_codes, a), model.decode(b_codes, b)
        self.image = np.zeros(2 * A_SIZE + 2 * SCALES + 4096, np.uint8)
        a_image = model.nz_image(a_codes, TYPES[a].bits, JUNK[a])
        b_image = model.nz_image(b_codes, TYPES[b].bits, JUNK[b])
        self.image[at : at + len(a_image)] = a_image
        self.image[A_SIZE + at : A_SIZE + at + len(b_image)] = b_image
        self.bias = rng.integers(-99, 99, 1024).astype(np.float32)
        if (a, b) == ("i8", "i8"):
            self.bias = self.bias.astype(np.int32)
        self.image[-4096:] = self.bias.view(np.uint8)
        if mx:
            self._add_scales(rng)

    def _add_scales(self, rng: np.random.Generator) -> None:
        for start, rows, which in ((2 * A_SIZE, self.m, "a"), (2 * A_SIZE + SCALES, self.n, "b")):
            codes = rng.integers(126, 129, (rows, self.k // 32)).astype(np.uint8)
            image = model.scale_image(codes)
            place = start + self.at // 16
            self.image[place : place + len(image)] = image
            factor = np.repeat(2.0 ** (codes.astype(int) - 127), 32, axis=1)
            setattr(self, which, getattr(self, which) * factor)

    def product(self) -> np.ndarray:
        return self.a @ self.b.T

    def args(self, init=0, bt=0, disable_gemv=1, repeat=1, modes=0, newer=1, c=0) -> np.ndarray:
        return params(
            self.m,
            self.k,
            self.n,
            self.at,
            self.at,
            c,
            init,
            bt,
            disable_gemv,
            repeat,
            modes,
            newer,
        )


SIZES = [(16, 32, 16), (30, 70, 40), (1, 33, 5), (64, 96, 80), (100, 17, 3)]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_product_of_every_pair(launch, emu, pair, size):
    case = Case(*pair, *size)
    dtype = np.int32 if pair[0] == "i8" else np.float32
    for newer in (0, 1):
        launch(case.image, case.args(newer=newer), np.int32(PAIRS[pair]))
        got = model.c_matrix(emu.read(Space.L0C), case.m, case.n, dtype)
        assert (got == case.product()).all(), (pair, size, newer)


@pytest.mark.parametrize("pair", MX_PAIRS, ids="-".join)
@pytest.mark.parametrize("size", [(16, 64, 16), (40, 128, 70), (3, 192, 50)], ids=str)
@pytest.mark.parametrize("at", [0, 2048])
def test_scaled_product_of_every_pair(launch, emu, pair, size, at):
    case = Case(*pair, *size, mx=True, at=at)
    for init in (0, 3):
        launch(case.image, case.args(init=init, bt=64), np.int32(MX_PAIRS[pair]))
        want = case.product() + (case.bias[16 : 16 + case.n] if init else 0)
        got = model.c_matrix(emu.read(Space.L0C), case.m, case.n, np.float32)
        assert (got == want).all(), (pair, size, init)


@pytest.mark.parametrize("pair", [("bf16", "bf16"), ("i8", "i8"), ("f32", "f32")], ids="-".join)
@pytest.mark.parametrize("init", [1, 2, 3], ids=["previous", "bias_flag", "bias_overload"])
def test_sources_of_c(launch, emu, pair, init):
    case = Case(*pair, 30, 40, 24)
    dtype = np.int32 if pair[0] == "i8" else np.float32
    launch(case.image, case.args(init=init, bt=128, repeat=2, c=2048), np.int32(PAIRS[pair]))
    want = 2 * case.product()
    if init > 1:
        want = want + case.bias[32 : 32 + case.n]
    got = model.c_matrix(emu.read(Space.L0C, offset=2048), case.m, case.n, dtype)
    assert (got == want).all()


def test_a_single_row_is_read_as_a_vector_unless_disabled(launch, emu):
    case = Case("f16", "f16", 1, 40, 20)
    k = np.arange(40)
    row = np.frombuffer(case.image[: 40 // 16 * 512 + 512].tobytes(), np.uint16)
    vector = row[k // 16 * 256 + k % 16].copy()
    launch(case.image, case.args(disable_gemv=1), np.int32(0))
    assert (model.c_matrix(emu.read(Space.L0C), 1, 20, np.float32) == case.product()).all()
    case.image[:512] = 0
    case.image[:80] = vector.view(np.uint8)
    launch(case.image, case.args(disable_gemv=0), np.int32(0))
    assert (model.c_matrix(emu.read(Space.L0C), 1, 20, np.float32) == case.product()).all()


def test_disable_gemv_is_ignored_for_more_rows(launch, emu):
    case = Case("f16", "f16", 30, 40, 20)
    launch(case.image, case.args(disable_gemv=0), np.int32(0))
    assert (model.c_matrix(emu.read(Space.L0C), 30, 20, np.float32) == case.product()).all()


# enable, away, trans(1), fp32 mode, (hif8, fp8), even
@pytest.mark.parametrize(
    ("modes", "rounding"),
    [
        (1, "even"),
        (1 | 2, "away"),
        (1 | 4, "away"),
        (1 | 2 | 64, "even"),
        (1 | 8, "none"),
        (128, "none"),
    ],
)
def test_hf32_rounds_operands(launch, emu, modes, rounding):
    rng = np.random.default_rng(5)
    a = (1 + rng.integers(0, 1 << 15, (16, 8)) / 2.0**14).astype(np.float32)
    case = Case("f32", "f32", 16, 8, 16)
    case.image[: 16 * 32] = model.nz_image(a.view(np.uint32), 32, 0)
    identity = np.zeros((16, 8), np.float32)
    identity[np.arange(8), np.arange(8)] = 1
    case.image[A_SIZE : A_SIZE + 16 * 32] = model.nz_image(identity.view(np.uint32), 32, 0)
    launch(case.image, case.args(modes=modes), np.int32(2))
    want = a if rounding == "none" else model.hf32(a, rounding == "away")
    got = model.c_matrix(emu.read(Space.L0C), 16, 8, np.float32)
    assert (got == want).all()
    assert (want != a).any() == (rounding != "none")


def test_the_hif8_switch_changes_the_meaning_of_8_bit_operands(launch, emu):
    case = Case("hif8", "hif8", 16, 32, 16)
    pair = PAIRS[("e4m3", "e4m3")]
    launch(case.image, case.args(modes=16), np.int32(pair))
    assert (model.c_matrix(emu.read(Space.L0C), 16, 16, np.float32) == case.product()).all()
    launch(case.image, case.args(modes=16 | 32), np.int32(pair))
    assert (model.c_matrix(emu.read(Space.L0C), 16, 16, np.float32) != case.product()).any()


@pytest.mark.parametrize("size", [(0, 16, 16), (16, 0, 16), (16, 16, 0)], ids=str)
def test_an_empty_product_leaves_c(launch, emu, size):
    case = Case("f16", "f16", 16, 16, 16)
    case.m, case.k, case.n = size
    launch(case.image, case.args(), np.int32(0))
    assert not emu.read(Space.L0C).any()


def test_padding_of_c_is_left_alone(launch, emu):
    case = Case("f16", "f16", 5, 16, 3)
    launch(case.image, case.args(), np.int32(0))
    values = emu.read(Space.L0C).view(np.float32)
    inside = np.zeros_like(values, bool)
    rows, cols = np.meshgrid(np.arange(5), np.arange(3), indexing="ij")
    inside[rows * 16 + cols] = True
    assert not values[~inside].any()


BAD = [
    ({"m": 4096}, 0, "m got 4096, allowed 0 .. 4095"),
    ({"k": 4096}, 0, "k got 4096, allowed 0 .. 4095"),
    ({"n": 4096}, 0, "n got 4096, allowed 0 .. 4095"),
    ({"k": 2064, "m": 16, "n": 16}, 0, "reads L0A bytes"),
    ({"m": 1024, "k": 16, "n": 128}, 0, "writes L0C bytes"),
    ({"at": 256}, 0, "L0A address 256 must be a multiple of 512"),
    ({"k": 96}, 9, "k of asc_mmad_mx got 96, allowed are multiples of 64"),
    ({"k": 64, "at": 512}, 9, "L0A address 512 must be a multiple of 1024"),
    ({"c": 512}, 0, "L0C address 512 must be a multiple of 1024"),
    ({"init": 3, "bt": 32}, 0, "BT address 32 must be a multiple of 64"),
]


@pytest.mark.parametrize(("change", "pair", "text"), BAD, ids=lambda v: str(v))
def test_bad_parameters_are_reported(launch, emu, change, pair, text):
    case = Case("f16", "f16", 16, 16, 16)
    case.m, case.k, case.n = (change.get(d, 16) for d in "mkn")
    case.at = change.get("at", 0)
    with pytest.raises(LaunchError, match=text):
        launch(
            case.image,
            case.args(init=change.get("init", 0), bt=change.get("bt", 0), c=change.get("c", 0)),
            np.int32(pair),
        )
    assert not emu.read(Space.L0C).any()
