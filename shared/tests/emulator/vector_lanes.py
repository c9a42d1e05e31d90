"""Cases of instructions on whole registers: a statement of the kernel and its meaning in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from .conftest import Emulator

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    "int8_t": np.dtype(np.int8),
    "uint8_t": np.dtype(np.uint8),
    "int16_t": np.dtype(np.int16),
    "uint16_t": np.dtype(np.uint16),
    "int32_t": np.dtype(np.int32),
    "uint32_t": np.dtype(np.uint32),
    "half": np.dtype(np.float16),
    "bfloat16_t": BF16,
    "float": np.dtype(np.float32),
}
MAX_ROWS = 128  # registers of one block


@dataclass(frozen=True)
class Case:
    """One statement.

    Attributes:
        text: C++ on a, b, c, m, d, e, p.
        types: element types of a, b, d and e.
        model: (a, b, c, m) to the wanted results; rows are registers, `m` is a boolean array of
            rows x 256 mask bits. Returns a dict with d, e (typed rows) or p (rows x 256 bits).
    """

    text: str
    types: tuple[str, str, str, str]
    model: Callable[..., dict[str, np.ndarray]]


def kernel_text(cases: Sequence[Case]) -> str:
    """A kernel that runs case `index` over each block's registers."""
    lines, switch = [], []
    for index, case in enumerate(cases):
        types = ", ".join(case.types)
        lines.append(
            f"template <> void lane_case<{index}>(uint16_t n) {{\n"
            f"    each_register<{types}>(n, [](auto& a, auto& b, auto& c, auto& m, auto& d,\n"
            f"                           auto& e, auto& p) {{ {case.text}; }});\n}}\n"
        )
        switch.append(f"        case {index}: asc_vf_call<lane_case<{index}>>(n); break;\n")
    return "".join(lines) + (
        'extern "C" __global__ __vector__ void lanes(__gm__ uint8_t* a, __gm__ uint8_t* b,\n'
        "        __gm__ uint8_t* c, __gm__ uint8_t* masks, __gm__ uint8_t* out, int32_t index,\n"
        "        int32_t count, uint64_t ctrl) {\n"
        "    asc_init();\n    asc_set_ctrl(ctrl);\n"
        "    const uint32_t bytes = count * 256, mask_bytes = count * 32;\n"
        "    asc_copy_gm2ub(at<void>(kA), a + block_idx * bytes, bytes);\n"
        "    asc_copy_gm2ub(at<void>(kB), b + block_idx * bytes, bytes);\n"
        "    asc_copy_gm2ub(at<void>(kC), c + block_idx * bytes, bytes);\n"
        "    asc_copy_gm2ub(at<void>(kMasks), masks + block_idx * mask_bytes, mask_bytes);\n"
        "    asc_sync();\n    const auto n = static_cast<uint16_t>(count);\n    switch (index) {\n"
        + "".join(switch)
        + "    }\n    asc_sync();\n"
        "    asc_copy_ub2gm(out + block_idx * count * kRow, at<void>(kOut),\n"
        "                   static_cast<uint32_t>(count * kRow));\n    asc_sync();\n}\n"
    )


class LaneKernel:
    """The compiled cases of one test module."""

    def __init__(self, emu: Emulator, name: str, cases: Sequence[Case], **options: str) -> None:
        # NOTE: without line numbers these kernels compile in two thirds of the time.
        options = {"source_map": "off", **options}
        self._launch = emu.kernel("vector_lanes", kernel_text(cases), f"_{name}", **options)
        self._cases = cases

    def check(self, index: int, a, b, c, masks: np.ndarray, ctrl: int = 1 << 48, **options) -> None:
        """Runs a case on rows of 256 bytes and compares all results.

        Args:
            index: the case.
            a, b, c: rows of bytes.
            masks: rows x 32 bytes.
            ctrl: the CTRL register.
            options: of the emulator.
        """
        case = self._cases[index]
        count = len(a)
        blocks = -(-count // MAX_ROWS)
        rows = count // blocks
        assert rows * blocks == count
        out = np.zeros(count * 544, np.uint8)
        arrays = [np.ascontiguousarray(x).view(np.uint8).ravel() for x in (a, b, c, masks)]
        self._launch(
            *arrays, out, np.int32(index), np.int32(rows), np.uint64(ctrl), blocks=blocks, **options
        )
        got = out.reshape(count, 544)
        bits = np.unpackbits(masks.reshape(count, 32), axis=1, bitorder="little").astype(bool)
        typed = [typed_rows(x, t) for x, t in zip((a, b, c), case.types, strict=False)]
        wanted = case.model(*typed, bits)
        parts = {"d": got[:, :256], "e": got[:, 256:512], "p": got[:, 512:]}
        for name, want in wanted.items():
            compare(case, name, parts[name], want, typed)


def typed_rows(rows: np.ndarray, name: str) -> np.ndarray:
    """Rows of bytes as elements."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), 256).view(DTYPES[name])


def compare(case: Case, name: str, got: np.ndarray, want: np.ndarray, inputs) -> None:
    """Asserts equal bits; NaN results are canonical."""
    if name == "p":
        wanted = np.packbits(want, axis=1, bitorder="little")
    else:
        wanted = canonical(want).view(np.uint8).reshape(len(want), -1)
    got = np.ascontiguousarray(got)
    wrong = np.argwhere(got != wanted)
    if not len(wrong):
        return
    row, byte = wrong[0]
    lane = byte // want.dtype.itemsize if name != "p" else byte * 8
    found = got[row].view(want.dtype)[lane] if name != "p" else got[row, byte]
    wanted_value = want[row][lane] if name != "p" else wanted[row, byte]
    operands = [x[row][min(lane, x.shape[1] - 1)] for x in inputs]
    raise AssertionError(
        f"{case.text} on {case.types}: {len(wrong)} bytes differ; {name} row {row} lane {lane}: "
        f"got {found!r}, want {wanted_value!r}, a b c = {operands}"
    )


def canonical(x: np.ndarray) -> np.ndarray:
    """The same values, every NaN the canonical one."""
    x = np.ascontiguousarray(x)
    nans = {np.dtype(np.float32): 0x7FC00000, np.dtype(np.float16): 0x7E00, BF16: 0x7FC0}
    if x.dtype not in nans:
        return x
    codes = x.view(f"u{x.dtype.itemsize}").copy()
    codes[np.isnan(x.astype(np.float32))] = nans[x.dtype]
    return codes.view(x.dtype)


def lane_mask(bits: np.ndarray, width: int) -> np.ndarray:
    """Which lanes of `width` bytes are active: the lowest bit of every `width`."""
    return bits[:, ::width]


def zeroed(result: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """Inactive lanes zero."""
    return np.where(lane_mask(bits, result.dtype.itemsize), result, result.dtype.type(0)).astype(
        result.dtype
    )


# Data -------------------------------------------------------------------------------------------
SPECIAL = {
    np.dtype(np.float32): [
        0x0, 0x80000000, 0x1, 0x80000001, 0x7FFFFF, 0x800000, 0x80800000, 0x3F800000, 0xBF800000,
        0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001,
        0x42B17218, 0xC2AEAC50, 0x42B17219, 0x4B000000, 0x4B000001, 0x3F000000, 0x40200000,
    ],
    np.dtype(np.float16): [
        0x0, 0x8000, 0x1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
        0x7E00, 0xFE01, 0x7C01, 0x6400, 0x3800, 0x4100,
    ],
    BF16: [
        0x0, 0x8000, 0x1, 0x8001, 0x7F, 0x80, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
        0x7FC0, 0xFFC1, 0x7F81, 0x4B00,
    ],
}  # fmt: skip


def random_rows(name: str, count: int, seed: int) -> np.ndarray:
    """Rows of elements: special values in every combination of two seeds, and random ones."""
    dtype = DTYPES[name]
    lanes = 256 // dtype.itemsize
    rng = np.random.default_rng(seed)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = np.array([0, 1, 2, info.max, info.min, info.max - 1, info.min + 1, info.max // 2])
        special = special.astype(dtype)
        x = rng.integers(info.min, info.max, count * lanes, dtype, endpoint=True)
        x >>= rng.integers(0, info.bits, count * lanes).astype(dtype)
    else:
        codes = np.array(SPECIAL[dtype], f"u{dtype.itemsize}")
        special = codes.view(dtype)
        near = rng.standard_normal(count * lanes) * 2.0 ** rng.integers(-20, 20, count * lanes)
        with np.errstate(over="ignore"):
            x = near.astype(np.float32).astype(dtype)
        wild = rng.integers(0, 1 << (8 * dtype.itemsize), count * lanes).astype(codes.dtype)
        x = np.where(rng.random(count * lanes) < 0.3, wild.view(dtype), x)
    pick = rng.random(count * lanes) < 0.25
    return np.where(pick, rng.choice(special, count * lanes), x).reshape(count, lanes)


def masks(count: int, seed: int = 1, full: bool = False) -> np.ndarray:
    """Mask bytes: all, none, prefixes and random bits; also bits that consumers ignore."""
    rng = np.random.default_rng(seed)
    if full:
        return np.full((count, 32), 255, np.uint8)
    bits = rng.random((count, 256)) < rng.random((count, 1))
    bits[0::4] = True
    bits[1::8] = np.arange(256) < rng.integers(0, 257, (len(bits[1::8]), 1))
    if count > 2:
        bits[2] = False
    return np.packbits(bits, axis=1, bitorder="little")
