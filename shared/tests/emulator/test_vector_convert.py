"""Conversions of registers against tables of the formats (ascend_c_vector.md section 9)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .conftest import Emulator
from .model import vector_convert as model
from .model.formats import formats

BLOCKS = 8
REGISTERS = 64  # of each block
CONVERSIONS = model.conversions()
# Pairs that only the raw intrinsic has: source, target, roundings, saturation, parts.
RAW = [
    model.Conversion(source, target, rounding, saturate, parts)
    for source, target, rounding, saturates, parts in [
        ("bfloat16", "e8m0", "", (False,), 2),
        ("e8m0", "bfloat16", "", (False,), 2),
        ("half", "e4m3", "rn", (False, True), 2),
        ("half", "e5m2", "rn", (False, True), 2),
        ("bfloat16", "e4m3", "rn", (False, True), 2),
        ("bfloat16", "e5m2", "rn", (False, True), 2),
    ]
    for saturate in saturates
]
ROUND = {"rn": "R", "rna": "A", "rd": "F", "ru": "C", "rz": "Z", "ro": "O", "rh": "H", "": "R"}
GROUPS = 2  # kernels, so that none takes long to compile


def cases() -> list[tuple[model.Conversion, int, bool]]:
    """(conversion, part, raw): every function at one place, the first of each pair at all."""
    rows: list[tuple[model.Conversion, int, bool]] = []
    pairs = set()
    for number, c in enumerate(CONVERSIONS):
        first = (c.source, c.target) not in pairs
        pairs.add((c.source, c.target))
        rows += [(c, p, False) for p in range(c.parts) if first or p == number % c.parts]
    return rows + [(c, p, True) for c in RAW for p in range(c.parts)]


CASES = cases()


def calls(c: model.Conversion, part: int, raw: bool) -> tuple[str, ...]:
    """One way to write a conversion, two for the first function of a pair of types."""
    controls = f"ROUND_{ROUND[c.rounding]}, RS_{'ENABLE' if c.saturate else 'DISABLE'}"
    intrinsic = f"vcvt(d, s, m, {controls}, PART_P{part}, MODE_ZEROING)"
    if raw:
        return intrinsic, f"vcvt(d, s, m, MODE_ZEROING, PART_P{part}, {controls})"
    suffix = f"_v{part + 1}" if part else ""
    first = f"{c.name}{suffix}(d, s, m)"
    number = CONVERSIONS.index(c)
    if number and CONVERSIONS[number - 1].target == c.target:
        return (first,)
    if c.parts == 1:
        return first, f"d = {c.name}(s, m)"
    names = {2: ["POSITION_EVEN", "POSITION_ODD"]}.get(
        c.parts, [f"DISPERSE_{q}_QUARTER" for q in ("FIRST", "SECOND", "THIRD", "FOURTH")]
    )
    ways = (
        intrinsic,
        f"d = {c.name}(s, m, ASC_{names[part]})",
        f"{c.name}(d, s, m, ASC_{names[part]})",
    )
    return first, ways[(number + part) % 3]


def kernel_text(group: int) -> str:
    """The kernel of every GROUPS-th case."""
    lines, switch = [], []
    for index in range(group, len(CASES), GROUPS):
        c, part, raw = CASES[index]
        source, target = model.TYPES[c.source][2], model.TYPES[c.target][2]
        ways = calls(c, part, raw)
        functions = ",\n        ".join(f"[](auto& d, auto& s, auto& m) {{ {w}; }}" for w in ways)
        lines.append(
            f"template <> void convert_case<{index}>(uint16_t n) {{\n"
            f"    convert_registers<{target}, {source}>(n,\n        {functions});\n}}\n"
        )
        switch.append(f"        case {index}: asc_vf_call<convert_case<{index}>>(n); break;\n")
    return "".join(lines) + (
        'extern "C" __global__ __vector__ void convert(__gm__ uint8_t* in, __gm__ uint8_t* out,\n'
        "        int32_t index, int32_t count, uint64_t ctrl) {\n"
        "    asc_init();\n    asc_set_ctrl(ctrl);\n"
        "    const uint32_t bytes = count * 256;\n"
        "    const auto n = static_cast<uint16_t>(count);\n"
        "    asc_copy_gm2ub(at<void>(0), in + block_idx * bytes, bytes);\n"
        "    asc_sync();\n    switch (index) {\n" + "".join(switch) + "    }\n    asc_sync();\n"
        "    asc_copy_ub2gm(out + block_idx * 2 * bytes, at<void>(kOut), 2 * bytes);\n"
        "    asc_sync();\n}\n"
    )


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernels = {}

    def run(index: int, data: np.ndarray, ctrl: int = 1 << 48, **options) -> list[np.ndarray]:
        """Rows of 256 result bytes, for each way to call."""
        group = index % GROUPS
        if group not in kernels:
            kernels[group] = emu.kernel(
                "vector_convert", kernel_text(group), f"_{group}", source_map="off"
            )
        count = len(data) // (256 * BLOCKS)
        out = np.zeros(2 * len(data), np.uint8)
        kernels[group](
            data, out, np.int32(index), np.int32(count), np.uint64(ctrl), blocks=BLOCKS, **options
        )
        rows = out.reshape(-1, 2, 256)
        c, part, raw = CASES[index]
        return [rows[:, i] for i in range(len(calls(c, part, raw)))]

    return run


def inputs(kind: str) -> np.ndarray:
    """All codes of types up to 16 bits, else special, tie and random values."""
    rng = np.random.default_rng(5)
    size = BLOCKS * REGISTERS * 256
    if kind in ("f32", "i32", "u32", "i64"):
        return (_floats(rng) if kind == "f32" else _integers(rng, kind)).view(np.uint8)[:size]
    if kind in ("f16", "bf16", "i16", "u16"):
        return np.arange(65536, dtype=np.uint16).view(np.uint8)
    # Every byte at every place of a wide lane.
    bytes_ = np.arange(256, dtype=np.uint8)
    rows = np.concatenate([np.roll(bytes_, s) for s in range(16)])
    return np.tile(rows, size // rows.size // 8)


def _floats(rng: np.random.Generator) -> np.ndarray:
    """fp32 codes: around every grid point and midpoint of the small formats, and random ones."""
    points = [np.array([0.0, np.inf, np.nan, 3.4028235e38, 1e-45, 1.1754942e-38])]
    for f in formats().values():
        grid = f.magnitudes[np.isfinite(f.magnitudes)]
        grid = grid if len(grid) < 300 else rng.choice(grid, 200)
        points += [grid, grid * 1.5, grid * 0.5, np.diff(np.sort(grid)) / 2 + np.sort(grid)[:-1]]
    points += [2.0 ** np.arange(-149, 128), np.arange(0, 300) / 2, [32767.5, 65535.5, 2.0**31]]
    points += [np.array([2.0**31, 2.0**32, 2.0**63, 2.0**64, 2147483520.0, 127.5, 448, 464, 480])]
    with np.errstate(over="ignore"):
        exact = np.concatenate([np.asarray(p, np.float64) for p in points]).astype(np.float32)
    codes = exact.view(np.uint32).astype(np.int64)
    near = np.concatenate([codes, codes + 1, codes - 1])
    codes = np.concatenate([near, near | 0x80000000])
    rest = BLOCKS * REGISTERS * 64 - len(codes)
    assert rest > 1000
    random = rng.integers(0, 1 << 32, rest)
    exponents = rng.integers(100, 162, rest // 2) << 23
    random[: rest // 2] = (random[: rest // 2] & 0x807FFFFF) | exponents
    return np.concatenate([codes, random]).astype(np.uint32)


def _integers(rng: np.random.Generator, kind: str) -> np.ndarray:
    bits = int(kind[1:])
    powers = 1 << np.arange(bits - 1, dtype=np.int64)
    near = np.concatenate([powers + d for d in range(-3, 4)] + [powers * 3 + 1])
    near = np.concatenate([near, -near])
    random = rng.integers(-(1 << 62), 1 << 62, BLOCKS * REGISTERS * 256 * 8 // bits - len(near))
    random >>= rng.integers(0, bits, len(random))
    return np.concatenate([near, random]).astype(f"i{bits // 8}")


IDS = [f"{c.name}-{part}" for c, part, _ in CASES]


@pytest.mark.parametrize("index", range(len(CASES)), ids=IDS)
def test_every_code_converts_as_the_tables_say(launch, index):
    c, part, _ = CASES[index]
    data = inputs(model.TYPES[c.source][1])
    want = c.registers(data.reshape(-1, 256), part)
    for got in launch(index, data):
        wrong = np.flatnonzero((got != want).any(1))
        assert wrong.size == 0, describe(c, part, data, got, want, wrong[0])


def describe(c, part, data, got, want, row) -> str:
    bits = model.TYPES[c.target][0]
    a = model.to_codes(np.ascontiguousarray(got[row : row + 1]), bits)[0]
    b = model.to_codes(np.ascontiguousarray(want[row : row + 1]), bits)[0]
    lane = np.flatnonzero(a != b)[0]
    source = model.to_codes(data.reshape(-1, 256)[row : row + 1], model.TYPES[c.source][0])[0]
    ratio = len(source) / len(a)
    first = int(lane * ratio)
    near = source[first : max(first + 1, int(lane * ratio + ratio))]
    return f"{c.name} part {part}: lane {lane}: got {a[lane]:#x}, want {b[lane]:#x}, source {near}"


def test_the_tables_agree_with_ml_dtypes():
    for name, dtype in {
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "e4m3": ml_dtypes.float8_e4m3fn,
        "e5m2": ml_dtypes.float8_e5m2,
        "e2m1": ml_dtypes.float4_e2m1fn,
    }.items():
        f = formats()[name]
        count = 1 << f.bits
        codes = np.arange(count, dtype=np.uint16 if f.bits == 16 else np.uint8).view(dtype)
        theirs = codes.astype(np.float32).astype(np.float64)
        assert np.array_equal(f.values(), theirs, equal_nan=True), name
        if f.bits == 4:
            continue
        x = np.random.default_rng(1).standard_normal(20000) * 2.0 ** np.linspace(-30, 20, 20000)
        x = x.astype(np.float32)
        with np.errstate(over="ignore"):
            want = x.astype(dtype).view(f"u{f.bits // 8}")
        got = f.encode(x.astype(np.float64), "rn", False)
        same = (got == want) | np.isnan(x.astype(dtype).astype(np.float32))
        assert same.all(), name


def index_of(name: str) -> int:
    return next(i for i, (c, _, raw) in enumerate(CASES) if c.name == name and not raw)


# CTRL: 60 makes saturation global: floats by 48, integers by 59; 50 keeps NaN in fp8.
@pytest.mark.parametrize(
    ("name", "ctrl", "saturate", "keep"),
    [
        ("asc_float2half_rn", 1 << 60, True, False),
        ("asc_float2half_rn_sat", 1 << 60 | 1 << 48, False, False),
        ("asc_float2int16_rna", 1 << 60, True, False),
        ("asc_float2int16_rna_sat", 1 << 60 | 1 << 59, False, False),
        ("asc_int322int16_sat", 1 << 60 | 1 << 59, False, False),
        ("asc_int322int16", 1 << 60, True, False),
        ("asc_float2e4m3_rn_sat", 1 << 50, True, True),
        ("asc_float2e5m2_rn_sat", 1 << 50, True, True),
        ("asc_float2e5m2_rn", 1 << 50, False, True),
    ],
)
def test_ctrl_decides_saturation(launch, name, ctrl, saturate, keep):
    index = index_of(name)
    c, part, _ = CASES[index]
    data = inputs(model.TYPES[c.source][1])
    wanted = model.Conversion(c.source, c.target, c.rounding, saturate, c.parts)
    got = launch(index, data, ctrl=ctrl)[0]
    want = wanted.registers(data.reshape(-1, 256), part, keep_nan=keep)
    assert (got == want).all()
