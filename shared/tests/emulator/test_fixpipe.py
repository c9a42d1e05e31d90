"""Fixpipe copies against the formulas: layouts, conversions, targets, unit flags, checks
(ascend_c_cube.md section 9)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

from .conftest import SIZES, Emulator, Space, params, same_bytes
from .model import fixpipe as model
from .model.types import TYPES

FIELDS = (
    "target newer dst_type int_source dst src n m dst_stride src_stride quant relu split nd dn unit_flag "
    "sub_block dual num src_matrix dst_matrix write_loop3 pitch word quant_fb relu_fb relu_alpha ctrl atomic "
    "fill fill_unit_flag sync"
).split()
DEFAULTS = {name: 0 for name in FIELDS} | {
    "dst_type": TYPES["f32"].index, "num": 1, "write_loop3": 1, "pitch": 1, "ctrl": 1 << 48, "sync": 1,
}
RNG = np.random.default_rng(3)
FLOATS = (RNG.standard_normal(65536) * 50).astype(np.float32)
FLOATS[::7] = np.rint(FLOATS[::7]) + 0.5
LOW, HIGH = RNG.integers(-99, 100, (2, 65536))
INTEGERS = (LOW + 100 * HIGH).astype(np.int32)
WORDS = np.array([model.word(0.25 + 0.125 * (i % 9), i % 50 - 25, bool(i % 3)) for i in range(512)], np.uint64)
GM_BYTES = 1 << 20


def float_image() -> np.ndarray:
    identity = np.eye(16, dtype=np.float32)
    return np.concatenate([FLOATS.view(np.uint8), identity.view(np.uint8).ravel()])


def integer_image() -> np.ndarray:
    digits = np.stack([LOW, HIGH], axis=-1).astype(np.int8).reshape(4096, 32)
    weights = np.zeros((16, 32), np.int8)
    weights[np.arange(16), 2 * np.arange(16)] = 1
    weights[np.arange(16), 2 * np.arange(16) + 1] = 100
    image = np.zeros(262144 + 512, np.uint8)
    image[:131072] = digits.view(np.uint8).ravel()
    image[262144:] = weights.view(np.uint8).ravel()
    return image


IMAGES = {"f32": float_image(), "i32": integer_image()}


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernel = emu.kernel("fixpipe")

    def run(image: np.ndarray, gm: np.ndarray, fields: dict[str, int], **options) -> None:
        values = params(*(fields[name] for name in FIELDS))
        kernel(image, WORDS, gm, values, **options)

    return run


def source_of(fields: dict[str, int]) -> np.ndarray:
    return INTEGERS if fields["int_source"] else FLOATS


def expected(out: np.ndarray, fields: dict[str, int], mode: str, kind: str, part: dict[str, int]) -> None:
    """Adds what one copy (or the part of it for one core) writes to `out`."""
    f = fields | part
    bits = TYPES[kind].bits
    layout = "nd" if f["nd"] else "dn" if f["dn"] else "split" if f["split"] else "nz"
    for q in range(f["num"] if layout in ("nd", "dn") else 1):
        v = model.accumulator(
            source_of(f), f["src"] + q * f["src_matrix"] * 64, f["m"], f["n"], f["src_stride"],
            f["pitch"] if layout == "dn" else 1,
        )
        vector = model.MODES[mode][3]
        first = f["quant_fb"] * 16
        words = WORDS[first : first + f["n"]] if vector else np.full(f["n"], f["word"], np.uint64)
        relu_words = WORDS[f["relu_fb"] * 16 :][: f["n"]] if f["relu"] == 3 else np.full(
            f["n"], f["relu_alpha"], np.uint64
        )
        alpha = (relu_words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)
        codes = model.values(v, mode, words, relu=f["relu"], alpha=alpha, dst=kind, keep=bool(f["ctrl"] >> 48 & 1))
        index = model.element_index(f["m"], f["n"], layout=layout, bits=bits, dst_stride=f["dst_stride"])
        model.store(out, codes, index + q * f["dst_matrix"], bits, f["dst"])


def fields_of(mode: str, kind: str, **changes: int) -> dict[str, int]:
    source = model.MODES[mode][1] or kind
    integer = source == "i32"
    base = {"quant": model.MODES[mode][0], "dst_type": TYPES[kind].index, "int_source": integer, "fill": integer}
    return DEFAULTS | base | changes


def image_of(fields: dict[str, int]) -> np.ndarray:
    return IMAGES["i32" if fields["int_source"] else "f32"]


def check_gm(launch, mode: str, kind: str, **changes: int) -> None:
    for newer in (0, 1):
        f = fields_of(mode, kind, newer=newer, **changes)
        gm = np.full(GM_BYTES, 0x5A, np.uint8)
        want = gm.copy()
        launch(image_of(f), gm, f)
        expected(want, f, mode, kind, {})
        same_bytes(gm, want, f)


# n, m, dst stride, src stride, dst byte offset
ND = [(40, 30, 40, 32, 0), (128, 64, 131, 64, 64), (1, 1, 1, 16, 12), (250, 100, 256, 112, 128), (17, 5, 33, 20, 4)]


@pytest.mark.parametrize("case", ND, ids=str)
@pytest.mark.parametrize(
    ("mode", "dst"),
    [("NoQuant", "f32"), ("NoQuant", "i32"), ("F322BF16", "bf16"), ("F322F16", "f16"), ("QF322B8", "i8")],
)
def test_rows_to_gm(launch, case, mode, dst):
    n, m, dst_stride, src_stride, offset = case
    check_gm(
        launch, mode, dst, n=n, m=m, dst_stride=dst_stride, src_stride=src_stride, dst=offset, nd=1,
        src=1024, word=model.word(0.5, -3),
    )


def test_long_rows_of_large_tiles(launch):
    for dst, mode in (("f32", "NoQuant"), ("bf16", "F322BF16"), ("f16", "F322F16")):
        check_gm(launch, mode, dst, n=496, m=96, dst_stride=512, src_stride=96, dst=0, nd=1)


@pytest.mark.parametrize("mode", [m for m in model.MODES if m != "NoQuant"])
@pytest.mark.parametrize("relu", [0, 1, 2, 3])
def test_every_conversion(launch, mode, relu):
    targets = {"B8": ("i8", "u8"), "EQ8": ("i8", "u8"), "S4": ("i4",), "EQ4": ("i4",), "FP8": ("e4m3",),
               "HIF8": ("hif8",), "BF16": ("bf16",), "F16": ("f16",), "F32": ("f32",)}
    for suffix, types in targets.items():
        if not mode.endswith(suffix) or (suffix == "F16" and mode.endswith("BF16")):
            continue
        for dst in types:
            check_gm(
                launch, mode, dst, n=96, m=48, dst_stride=100, src_stride=64, nd=1, relu=relu, quant_fb=3,
                relu_fb=1, word=model.word(0.375, 17, dst != "u8"), relu_alpha=0x3E800000,
            )


@pytest.mark.parametrize("relu", [1, 2, 3])
def test_relu_without_conversion(launch, relu):
    check_gm(launch, "NoQuant", "f32", n=32, m=32, dst_stride=32, src_stride=32, nd=1, relu=relu,
             relu_alpha=0x3E800000)
    if relu == 1:
        check_gm(launch, "NoQuant", "i32", n=32, m=32, dst_stride=32, src_stride=32, nd=1, relu=relu)


@pytest.mark.parametrize(("mode", "dst", "n", "dst_stride"), [
    ("NoQuant", "f32", 48, 600), ("NoQuant", "i32", 32, 512), ("F322BF16", "bf16", 64, 528),
    ("F322F16", "f16", 16, 16), ("QF322B8", "i8", 64, 1024), ("REQ8", "u8", 80, 1100),
    ("QF322S4", "i4", 128, 2048), ("QF322FP8", "e4m3", 96, 1024),
])
def test_fractals_to_gm(launch, mode, dst, n, dst_stride):
    check_gm(launch, mode, dst, n=n, m=30, dst_stride=dst_stride, src_stride=32, dst=32, word=model.word(0.5))


def test_loop3_is_not_read_by_fractal_copies(launch):
    check_gm(launch, "NoQuant", "f32", n=32, m=16, dst_stride=256, src_stride=16, write_loop3=0)


def test_channel_split(launch):
    for n in (16, 24, 64):
        check_gm(launch, "NoQuant", "f32", n=n, m=20, dst_stride=200, src_stride=32, split=1)


@pytest.mark.parametrize(("mode", "dst", "m"), [
    ("NoQuant", "f32", 40), ("F322BF16", "bf16", 48), ("QF322B8", "i8", 32), ("NoQuant", "i32", 8),
])
@pytest.mark.parametrize("pitch", [1, 3])
def test_columns_to_gm(launch, mode, dst, m, pitch):
    check_gm(launch, mode, dst, n=37, m=m, dst_stride=m + 5, src_stride=160, dn=1, pitch=pitch,
             word=model.word(0.5))


@pytest.mark.parametrize("layout", ["nd", "dn"])
def test_several_matrices(launch, layout):
    check_gm(
        launch, "F322BF16", "bf16", n=20, m=16, dst_stride=24, src_stride=64, num=3, src_matrix=16,
        dst_matrix=1000, **{layout: 1},
    )
    check_gm(launch, "NoQuant", "f32", n=20, m=16, dst_stride=24, src_stride=64, num=0, **{layout: 1})


SPECIALS = np.array(
    [np.inf, -np.inf, np.nan, 1e-40, -1.5, 0.0, 65520.0, -65519.0, 3.4e38, 1e-45, 448.0, 464.0, 465.0, -480.0,
     1.0, 2.0**-10], np.float32,
)


@pytest.mark.parametrize("keep", [1, 0], ids=["inf_nan", "saturate"])
@pytest.mark.parametrize(("mode", "dst"), [
    ("F322BF16", "bf16"), ("F322F16", "f16"), ("QF322FP8", "e4m3"), ("QF322HIF8", "hif8"),
    ("QF322F32", "f32"),
])
def test_special_values(launch, keep, mode, dst):
    row = np.zeros(1024, np.float32)
    row[:16] = SPECIALS
    f = fields_of(mode, dst, n=16, m=4, dst_stride=16, src_stride=16, nd=1, fill=2, ctrl=keep << 48,
                  word=model.word(1.0))
    gm = np.zeros(4096, np.uint8)
    launch(row.view(np.uint8), gm, f)
    want = model.values(
        SPECIALS[None], mode, np.full(16, f["word"], np.uint64), relu=0, alpha=np.zeros(16), dst=dst,
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
        f = fields_of("QF322FP8", "e4m3", n=16, m=1, dst_stride=16, src_stride=16, nd=1, fill=2,
                      ctrl=bit << 50, word=model.word(1.0))
        gm = np.ones(64, np.uint8)
        launch(row.view(np.uint8), gm, f)
        assert (gm[:16] == want).all()


def ub_parts(f: dict[str, int]) -> list[tuple[int, dict[str, int]]]:
    m, n = f["m"], f["n"]
    if f["dual"] == 1:
        return [(0, {"m": m // 2}), (1, {"m": m // 2, "src": f["src"] + m // 2 * 64})]
    if f["dual"] == 2:
        return [(0, {"n": n // 2}), (1, {"n": n // 2, "src": f["src"] + n // 32 * f["src_stride"] * 64})]
    return [(f["sub_block"], {})]


@pytest.mark.parametrize(("mode", "dst", "changes"), [
    ("NoQuant", "f32", {"n": 40, "m": 33, "dst_stride": 48, "nd": 1}),
    ("NoQuant", "f32", {"n": 40, "m": 34, "dst_stride": 40, "nd": 1, "dual": 1}),
    ("NoQuant", "i32", {"n": 64, "m": 17, "dst_stride": 32, "nd": 1, "dual": 2}),
    ("NoQuant", "f32", {"n": 64, "m": 32, "dst_stride": 600, "dual": 1}),
    ("NoQuant", "f32", {"n": 96, "m": 32, "dst_stride": 600, "dual": 2}),
    ("NoQuant", "f32", {"n": 48, "m": 20, "dst_stride": 400, "sub_block": 1}),
    ("F322BF16", "bf16", {"n": 48, "m": 20, "dst_stride": 64, "nd": 1, "sub_block": 1}),
    ("QF322B8", "i8", {"n": 64, "m": 20, "dst_stride": 64, "nd": 1, "relu": 1, "word": model.word(0.5)}),
    ("F322F16", "f16", {"n": 21, "m": 32, "dst_stride": 40, "dn": 1}),
])
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
    f = fields_of("NoQuant", "f32", target=1, newer=1, n=224, m=256, dst_stride=224, src_stride=256, nd=1, dual=1)
    launch(image_of(f), np.zeros(32, np.uint8), f)
    rows, cols = np.meshgrid(np.arange(256), np.arange(224), indexing="ij")
    c = FLOATS[cols // 16 * 256 * 16 + rows * 16 + cols % 16]
    for core in range(2):
        got = emu.read(Space.UB, core + 1)
        assert (got[:114688].view(np.float32).reshape(128, 224) == c[core * 128 : core * 128 + 128]).all()
        assert not got[114688:].any()


def test_worked_quant_word_of_section_22():
    assert model.word(2.0) == 0x0000400040000000


@pytest.mark.parametrize(("mode", "dst", "changes"), [
    ("F322F16", "f16", {"n": 48, "m": 20, "dst_stride": 320}),
    ("QF322B8", "i8", {"n": 64, "m": 20, "dst_stride": 640, "word": model.word(0.5)}),
    ("NoQuant", "f32", {"n": 16, "m": 20, "dst_stride": 24, "nd": 1}),
])
def test_to_l1(launch, emu, mode, dst, changes):
    for newer in (0, 1):
        f = fields_of(mode, dst, target=2, newer=newer, dst=262144, src=0, src_stride=32, **changes)
        launch(image_of(f), np.zeros(32, np.uint8), f)
        want = emu.read(Space.L1)
        start = 262144 - 64
        want[start:] = 0
        expected(want, f, mode, dst, {})
        same_bytes(emu.read(Space.L1)[start:], want[start:], f)


ATOMICS = {1: ("f32", "NoQuant", np.add), 2: ("f32", "NoQuant", np.maximum), 3: ("f32", "NoQuant", np.minimum),
           4: ("bf16", "F322BF16", np.add), 5: ("f16", "F322F16", np.add), 6: ("i32", "NoQuant", np.add),
           7: ("i8", "QF322B8", np.maximum)}


@pytest.mark.parametrize("atomic", ATOMICS)
@pytest.mark.parametrize("layout", ["nd", "nz", "dn"])
def test_atomic_stores(launch, atomic, layout):
    dst, mode, op = ATOMICS[atomic]
    dtype = TYPES[dst].dtype
    m = 32
    f = fields_of(mode, dst, n=64, m=m, dst_stride=70 if layout != "nz" else 2048, src_stride=32, atomic=atomic,
                  word=model.word(0.5), **({layout: 1} if layout != "nz" else {}))
    start = (np.random.default_rng(1).integers(-50, 50, GM_BYTES // 16)).astype(dtype)
    gm = start.copy()
    launch(image_of(f), gm.view(np.uint8), f)
    stored = np.zeros(start.nbytes, np.uint8)
    expected(stored, f, mode, dst, {})
    index = model.element_index(m, 64, layout=layout, bits=TYPES[dst].bits, dst_stride=f["dst_stride"])
    want = start.copy()
    values = stored.view(dtype)[index]
    if dst in ("bf16", "f16"):
        want[index] = op(start[index].astype(np.float32), values.astype(np.float32)).astype(dtype)
    else:
        want[index] = op(start[index], values)
    same_bytes(gm.view(np.uint8), want.view(np.uint8), f)


@pytest.mark.parametrize("options", [{}, {"schedule": "deferred", "seed": 1}, {"schedule": "deferred", "seed": 2}],
                         ids=["immediate", "deferred1", "deferred2"])
def test_unit_flags_order_the_copy_behind_the_product(launch, options):
    f = fields_of("NoQuant", "f32", n=16, m=1024, dst_stride=16, src_stride=1024, nd=1, unit_flag=3,
                  fill_unit_flag=3, sync=0)
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
    ("F322F16", "f16", {"target": 1, "nd": 1, "dual": 1}, "a dual destination excludes quantisation"),
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
