"""Cases of loads and stores: a statement of the kernel and its meaning on an image of UB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .conftest import Emulator, random_bytes

A, B, MASK, SOURCE, TARGET, SIZE = 0, 256, 512, 4096, 32768, 65536
WIDTH = {"uint8_t": 1, "int8_t": 1, "half": 2, "uint16_t": 2, "bfloat16_t": 2, "float": 4,
         "uint32_t": 4, "int32_t": 4, "int64_t": 8}  # fmt: skip


@dataclass
class State:
    """What a model changes.

    Attributes:
        image: UB.
        width: bytes of an element.
        s, t: addresses; they may move.
        d, e: result registers, 256 bytes each.
        p: result mask, 256 bits.
    """

    image: np.ndarray
    width: int
    s: int
    t: int
    d: np.ndarray = field(init=False)
    e: np.ndarray = field(init=False)
    p: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.d = self.image[A : A + 256].copy()
        self.e = self.d.copy()
        self.p = self.mask.copy()

    @property
    def mask(self) -> np.ndarray:
        """256 mask bits."""
        return bits(self.image[MASK : MASK + 32])

    @property
    def lanes(self) -> int:
        """Lanes of a register."""
        return 256 // self.width

    def elements(self, start: int, count: int, width: int | None = None) -> np.ndarray:
        """`count` elements of the image, as unsigned integers."""
        w = width or self.width
        return self.image[start : start + count * w].copy().view(f"u{w}")

    def register(self, start: int) -> np.ndarray:
        """A register's elements."""
        return self.elements(start, self.lanes)

    def active(self, width: int | None = None) -> np.ndarray:
        """Active lanes."""
        return self.mask[:: width or self.width]

    def put(self, address: int, data: np.ndarray) -> None:
        """Bytes into the image."""
        raw = np.ascontiguousarray(data).view(np.uint8).ravel()
        self.image[address : address + raw.size] = raw

    def put_lanes(self, address: int, data: np.ndarray, on: np.ndarray) -> None:
        """Active elements into the image."""
        for i in np.flatnonzero(on):
            self.put(address + int(i) * data.dtype.itemsize, data[i : i + 1])


@dataclass(frozen=True)
class Case:
    """One statement.

    Attributes:
        text: C++ on a, b, m, s, t, d, e, p, load_state, store_state.
        type: element type.
        model: changes a State.
        source, target: shifts of s and t in bytes.
        error: part of the report, when the statement must fail.
    """

    text: str
    type: str
    model: Callable[[State], None] | None
    source: int = 0
    target: int = 0
    error: str = ""


def bits(raw: np.ndarray) -> np.ndarray:
    """Bits of bytes, lowest first."""
    return np.unpackbits(raw, bitorder="little").astype(bool)


def kernel_text(cases: Sequence[Case]) -> str:
    """A kernel that runs case `index`."""
    lines, switch = [], []
    for index, case in enumerate(cases):
        lines.append(
            f"template <> void place_case<{index}>(int32_t source, int32_t target) {{\n"
            f"    run_places<{case.type}>(source, target, [](auto& a, auto& b, auto& m, auto& s,\n"
            f"            auto& t, auto& d, auto& e, auto& p, auto& load_state, auto& store_state) "
            f"{{\n        (void)a; (void)b; (void)m; (void)s; (void)t; (void)d; (void)e; (void)p;\n"
            f"        {case.text};\n    }});\n}}\n"
        )
        switch.append(
            f"        case {index}: asc_vf_call<place_case<{index}>>(source, target); break;\n"
        )
    return "".join(lines) + (
        'extern "C" __global__ __vector__ void places(__gm__ uint8_t* image,\n'
        "        __gm__ uint8_t* results, int32_t index, int32_t source, int32_t target) {\n"
        "    asc_init();\n    asc_copy_gm2ub(at<void>(0), image, uint32_t{kImage});\n"
        "    asc_sync();\n    switch (index) {\n" + "".join(switch) + "    }\n    asc_sync();\n"
        "    asc_copy_ub2gm(image, at<void>(0), uint32_t{kImage});\n"
        "    asc_copy_ub2gm(results, at<void>(kResults), uint32_t{576});\n    asc_sync();\n}\n"
    )


class PlaceKernel:
    """The compiled cases of one test module."""

    def __init__(self, emu: Emulator, name: str, cases: Sequence[Case]) -> None:
        self._launch = emu.kernel("vector_places", kernel_text(cases), f"_{name}")
        self._cases = cases

    def launch(self, index: int, image: np.ndarray, **options) -> np.ndarray:
        """Runs a case; the image is changed, the result is d, e, p and the moves."""
        case = self._cases[index]
        results = np.zeros(576, np.uint8)
        self._launch(
            image,
            results,
            np.int32(index),
            np.int32(case.source),
            np.int32(case.target),
            **options,
        )
        return results

    def check(self, index: int, mask: np.ndarray, seed: int = 0, **options) -> None:
        """Runs a case on a random image and compares everything."""
        case = self._cases[index]
        image = random_bytes(SIZE, seed)
        image[MASK : MASK + 32] = mask
        state = State(image.copy(), WIDTH[case.type], SOURCE + case.source, TARGET + case.target)
        assert case.model is not None
        case.model(state)
        got = self.launch(index, image, **options)
        same(image, state.image, f"{case.text}: UB")
        same(got[:256], state.d.view(np.uint8), f"{case.text}: d")
        same(got[256:512], state.e.view(np.uint8), f"{case.text}: e")
        same(got[512:544], np.packbits(state.p, bitorder="little"), f"{case.text}: p")
        moves = got[544:552].view(np.int32)
        assert moves[0] == state.s - SOURCE - case.source, f"{case.text}: s moved by {moves[0]}"
        assert moves[1] == state.t - TARGET - case.target, f"{case.text}: t moved by {moves[1]}"


def same(got: np.ndarray, want: np.ndarray, what: str) -> None:
    """Asserts equal bytes and names the first difference."""
    wrong = np.flatnonzero(got != want)
    assert wrong.size == 0, (
        f"{what}: {wrong.size} bytes differ, first at {wrong[0]}: got {got[wrong[0]]:#x}, "
        f"want {want[wrong[0]]:#x}"
    )


def steps(*_: None) -> None:
    """The steps of a model are its arguments."""


MASKS = {
    "all": np.full(32, 255, np.uint8),
    "none": np.zeros(32, np.uint8),
    "random": np.random.default_rng(7).integers(0, 256, 32, np.uint8),
    "tail": np.packbits(np.arange(256) < 93, bitorder="little"),
}
