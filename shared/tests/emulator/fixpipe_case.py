"""Inputs and expected results of the Fixpipe tests (ascend_c_cube.md section 9)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .conftest import Emulator, kernel_text, params, same_bytes
from .model import fixpipe as model
from .model.types import TYPES

Launch = Callable[..., None]

_COPY = re.search(r"struct Copy \{(.*?)\};", kernel_text("fixpipe"), re.DOTALL)
assert _COPY is not None
# Members of struct Copy, in its order.
FIELDS = re.findall(r"\w+(?=[,;])", _COPY[1])
DEFAULTS = dict.fromkeys(FIELDS, 0) | {
    "dst_type": TYPES["f32"].index,
    "num": 1,
    "write_loop3": 1,
    "pitch": 1,
    "ctrl": 1 << 48,
    "sync": 1,
}
RNG = np.random.default_rng(3)
FLOATS = (RNG.standard_normal(65536) * 50).astype(np.float32)
FLOATS[::7] = np.rint(FLOATS[::7]) + 0.5
LOW, HIGH = RNG.integers(-99, 100, (2, 65536))
INTEGERS = (LOW + 100 * HIGH).astype(np.int32)
WORDS = np.array(
    [model.word(0.25 + 0.125 * (i % 9), i % 50 - 25, bool(i % 3)) for i in range(512)], np.uint64
)
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


def launcher(emu: Emulator) -> Launch:
    """`launch(image, gm, fields, **emulator options)` of kernels/fixpipe.hpp."""
    kernel = emu.kernel("fixpipe")

    def run(image: np.ndarray, gm: np.ndarray, fields: dict[str, int], **options: Any) -> None:
        values = params(*(fields[name] for name in FIELDS))
        kernel(image, WORDS, gm, values, **options)

    return run


def source_of(fields: dict[str, int]) -> np.ndarray:
    return INTEGERS if fields["int_source"] else FLOATS


def expected(
    out: np.ndarray, fields: dict[str, int], mode: str, kind: str, part: dict[str, int]
) -> None:
    """Adds what one copy (or the part of it for one core) writes to `out`."""
    f = fields | part
    bits = TYPES[kind].bits
    layout = "nd" if f["nd"] else "dn" if f["dn"] else "split" if f["split"] else "nz"
    for q in range(f["num"] if layout in ("nd", "dn") else 1):
        v = model.accumulator(
            source_of(f),
            f["src"] + q * f["src_matrix"] * 64,
            f["m"],
            f["n"],
            f["src_stride"],
            f["pitch"] if layout == "dn" else 1,
        )
        vector = model.MODES[mode][3]
        first = f["quant_fb"] * 16
        words = WORDS[first : first + f["n"]] if vector else np.full(f["n"], f["word"], np.uint64)
        relu_words = (
            WORDS[f["relu_fb"] * 16 :][: f["n"]]
            if f["relu"] == 3
            else np.full(f["n"], f["relu_alpha"], np.uint64)
        )
        alpha = (relu_words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)
        codes = model.values(
            v, mode, words, relu=f["relu"], alpha=alpha, dst=kind, keep=bool(f["ctrl"] >> 48 & 1)
        )
        index = model.element_index(
            f["m"], f["n"], layout=layout, bits=bits, dst_stride=f["dst_stride"]
        )
        model.store(out, codes, index + q * f["dst_matrix"], bits, f["dst"])


def fields_of(mode: str, kind: str, **changes: int) -> dict[str, int]:
    source = model.MODES[mode][1] or kind
    integer = source == "i32"
    base = {
        "quant": model.MODES[mode][0],
        "dst_type": TYPES[kind].index,
        "int_source": integer,
        "fill": integer,
    }
    return DEFAULTS | base | changes


def image_of(fields: dict[str, int]) -> np.ndarray:
    return IMAGES["i32" if fields["int_source"] else "f32"]


def check_gm(launch: Launch, mode: str, kind: str, **changes: int) -> None:
    for newer in (0, 1):
        f = fields_of(mode, kind, newer=newer, **changes)
        gm = np.full(GM_BYTES, 0x5A, np.uint8)
        want = gm.copy()
        launch(image_of(f), gm, f)
        expected(want, f, mode, kind, {})
        same_bytes(gm, want, f)
