"""Sorting, merging and transposing in UB, n-dimensional copies, and the fill behind short bursts
(ascend_c_vector.md sections 12.1, 12.4, 13 and 15)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit import LaunchError

from .conftest import Emulator, params, random_bytes

SCORES = {2: np.dtype(np.float16), 4: np.dtype(np.float32)}


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    kernel = emu.kernel("vector_sort")

    def run(scenario: int, *values: int, width: int = 4, image=None, gm=None) -> np.ndarray:
        image = random_bytes(65536, 3) if image is None else image.copy()
        padded = [*values, *([0] * (32 - len(values)))]
        gm = np.zeros(64, np.uint8) if gm is None else gm
        kernel(image, gm, params(*padded), np.int32(scenario), np.int32(width))
        return image

    return run


def records(scores: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """8 bytes each: the score, nothing behind a half, the number."""
    out = np.zeros((len(scores), 8), np.uint8)
    scores = np.ascontiguousarray(scores)
    out[:, : scores.dtype.itemsize] = scores.view(np.uint8).reshape(len(scores), -1)
    out[:, 4:] = numbers.astype(np.uint32).view(np.uint8).reshape(-1, 4)
    return out.ravel()


def put(image: np.ndarray, at: int, data: np.ndarray) -> None:
    raw = np.ascontiguousarray(data).view(np.uint8).ravel()
    image[at : at + raw.size] = raw


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("repeat", [0, 1, 5])
def test_bitsort_orders_each_32_scores(launch, width, repeat):
    rng = np.random.default_rng(width + repeat)
    n = 32 * repeat
    scores = (rng.integers(-9, 9, n) / 4).astype(SCORES[width])
    if n:
        scores[:3] = [np.inf, -np.inf, -0.0]
    numbers = rng.integers(0, 1 << 32, n, np.uint32)
    image = np.full(65536, 0x55, np.uint8)
    put(image, 0, scores)
    put(image, 8192, numbers)
    got = launch(0, 16384, 0, 8192, repeat, width=width, image=image)
    want = image.copy()
    for r in range(repeat):
        part = slice(32 * r, 32 * r + 32)
        order = np.argsort(-scores[part].astype(np.float32), kind="stable")
        put(want, 16384 + 256 * r, records(scores[part][order], numbers[part][order]))
    assert (got == want).all()


def merged(queues, stop: bool):
    """Takes the highest head, the first queue's on a tie; optionally until one queue is empty."""
    heads = [list(q) for q in queues]
    out = []
    while any(heads) and not (stop and not all(heads)):
        best = max((q[0][0], -i) for i, q in enumerate(heads) if q)
        out.append(heads[-best[1]].pop(0))
    return out


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize(
    ("lengths", "stop"),
    [((5, 9), False), ((40, 1, 17), False), ((7, 7, 7, 7), False), ((6, 30, 4, 12), True)],
    ids=str,
)
def test_mrgsort4_merges_queues(launch, width, lengths, stop):
    rng = np.random.default_rng(len(lengths))
    image = np.full(65536, 0x55, np.uint8)
    queues, places = [], [1024, 9216, 17408, 25600]
    for at, n in zip(places, lengths, strict=False):
        scores = np.sort((rng.integers(-20, 20, n) / 2).astype(SCORES[width]))[::-1]
        numbers = rng.integers(0, 1 << 32, n, np.uint32)
        put(image, at, records(scores, numbers))
        queues.append(list(zip(scores.tolist(), numbers.tolist(), strict=True)))
    padded = [*lengths, *([0] * (4 - len(lengths)))]
    valid = (1 << len(lengths)) - 1
    got = launch(1, 40960, *places, 1, *padded, int(stop), valid, width=width, image=image)
    out = merged(queues, stop)
    want = image.copy()
    scores = np.array([s for s, _ in out], SCORES[width])
    put(want, 40960, records(scores, np.array([n for _, n in out])))
    assert (got == want).all()


def test_mrgsort4_repeats_over_regular_queues(launch):
    rng = np.random.default_rng(2)
    n, repeat = 16, 3
    image = np.full(65536, 0x55, np.uint8)
    scores = np.sort(rng.standard_normal((4 * repeat, n)).astype(np.float32), 1)[:, ::-1]
    numbers = np.arange(4 * repeat * n, dtype=np.uint32).reshape(scores.shape)
    put(image, 0, records(scores.ravel(), numbers.ravel()))
    places = [8 * n * k for k in range(4)]
    got = launch(1, 40960, *places, repeat, n, n, n, n, 0, 15, image=image)
    want = image.copy()
    for r in range(repeat):
        part = slice(4 * r, 4 * r + 4)
        s, k = scores[part].ravel(), numbers[part].ravel()
        order = np.argsort(-s, kind="stable")
        put(want, 40960 + r * 32 * n, records(s[order], k[order]))
    assert (got == want).all()


def test_transpose_swaps_rows_and_columns(launch):
    image = random_bytes(65536, 8)
    got = launch(2, 4096, 512, image=image)
    want = image.copy()
    put(want, 4096, image[512:1024].view(np.uint16).reshape(16, 16).T)
    assert (got == want).all()


# N-dimensional copies: sizes, source strides, target strides, (left, right) pads, constant --------
CASES = {
    "constant pad": ([5, 3, 1, 1, 1], [1, 7, 0, 0, 0], [1, 16, 0, 0, 0], [(2, 1), (1, 2)], True),
    "nearest pad": ([5, 3, 1, 1, 1], [1, 7, 0, 0, 0], [1, 16, 0, 0, 0], [(2, 1), (1, 2)], False),
    "transpose": ([6, 4, 1, 1, 1], [4, 1, 0, 0, 0], [1, 8, 0, 0, 0], [], True),
    "broadcast": ([8, 4, 1, 1, 1], [0, 1, 0, 0, 0], [1, 8, 0, 0, 0], [], True),
    "slice": ([4, 3, 2, 1, 1], [2, 20, 70, 0, 0], [1, 8, 32, 0, 0], [], True),
    "all five": ([3, 2, 3, 2, 2], [1, 3, 7, 30, 64], [1, 8, 24, 100, 400],
                 [(1, 2), (1, 0), (0, 1), (1, 1), (0, 1)], False),
    "strided target": ([3, 2, 3, 2, 2], [5, 1, 16, 50, 120], [7, 1, 32, 170, 600],
                       [(0, 1), (1, 0), (2, 0), (0, 0), (1, 1)], True),
}  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("name", CASES)
def test_ndim_copies(launch, name, width):
    sizes, from_, to, pads, constant = CASES[name]
    pads = [*pads, *([(0, 0)] * (5 - len(pads)))]
    gm = random_bytes(8192, 1)
    kind = f"u{width}"
    source = gm[width * 8 :].view(kind)
    image = np.full(65536, 0x77, np.uint8)
    value = 0x01020384 & ((1 << (8 * width)) - 1)
    got = launch(
        3, 1024, width * 8, *from_, *to, *sizes, *pads[0],
        *itertools.chain(*pads[1:]), value, int(constant), width=width, image=image, gm=gm,
    )  # fmt: skip
    target = image[1024:].view(kind)
    ranges = [range(left + n + right) for n, (left, right) in zip(sizes, pads, strict=True)]
    for place in itertools.product(*ranges):
        q = [p - left for p, (left, _) in zip(place, pads, strict=True)]
        near = [min(max(v, 0), n - 1) for v, n in zip(q, sizes, strict=True)]
        at = sum(p * s for p, s in zip(place, to, strict=True))
        inside = q == near
        data = source[sum(v * s for v, s in zip(near, from_, strict=True))]
        target[at] = data if inside or not constant else value
    assert (got == image).all()


# Bursts, bytes, left, right, pad value (0: not set), constant, strides ----------------------------
FILLS = [
    (2, 40, 0, 0, 0x1234, 1, 40, 64),
    (2, 40, 0, 0, 0x1234, 0, 40, 64),
    (2, 40, 0, 0, 0x1234, 1, 50, 40),
    (3, 10, 2, 3, 0x4321, 0, 16, 32),
    (3, 10, 2, 3, 0, 0, 16, 32),
]


@pytest.mark.parametrize("case", FILLS, ids=str)
def test_short_bursts_are_filled_with_the_pad_value(launch, case):
    count, length, left, right, value, constant, src_stride, dst_stride = case
    gm = random_bytes(256, 6)
    image = np.full(65536, 0x11, np.uint8)
    # Without a pad value nobody may look at the bytes behind a burst, but this test does.
    with emulator(**({} if value else {"checks": "none"})):
        got = launch(
            4, 512, count, length, left, right, value, constant, src_stride, dst_stride,
            image=image, gm=gm,
        )  # fmt: skip
    packed = dst_stride == length
    pad = np.frombuffer(value.to_bytes(2, "little"), np.uint8)
    rows = []
    for b in range(count):
        data = gm[b * src_stride :][:length]
        element = pad if value else data[:2]
        row = [np.tile(element, left), data, np.tile(element, right)]
        rows.append(np.concatenate(row) if not packed else data)
    if packed:
        rows = [np.concatenate(rows)]
    for b, row in enumerate(rows):
        missing = -len(row) % 32
        tail = np.tile(pad, missing // 2) if value else np.full(missing, 0xFF, np.uint8)
        put(image, 512 + b * dst_stride, np.concatenate([row, tail]))
    assert (got == image).all()


def test_raw_names_move_the_same_bytes(launch):
    image, gm = random_bytes(65536, 5), np.full(256, 0x22, np.uint8)
    got = launch(5, 1024, 4096, image=image, gm=gm)
    want, stored = image.copy(), np.full(256, 0x22, np.uint8)
    for b in range(3):
        data = image[4096 + 128 * b :][:64]
        put(want, 1024 + 96 * b, data)
        put(stored, 70 * b, data)
    assert (got == want).all()
    assert (gm == stored).all()


BAD = [
    ((0, 16384, 0, 8192, 256), "repeat of asc_bitsort got 256, allowed 0 .. 255"),
    ((0, 16384, 8, 8192, 1), "UB address 8 must be a multiple of 32"),
    ((0, 262080, 0, 8192, 1), "writes UB bytes"),
    ((1, 32768, 0, 64, 0, 0, 1, 4, 4, 0, 0, 0, 5), "valid_bit of asc_mrgsort4 got 5"),
    ((1, 32768, 0, 64, 128, 192, 2, 4, 4, 4, 8, 0, 15), "four queues of one length"),
    ((3, 1024, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1), "loop size of .* got 0"),
    ((3, 1040, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 1, 1, 1, 1), "UB address 1040 must be"),
]


@pytest.mark.parametrize(("case", "text"), BAD, ids=lambda v: str(v))
def test_bad_parameters_are_reported(launch, case, text):
    with pytest.raises(LaunchError, match=text):
        launch(*case, gm=np.zeros(4096, np.uint8))
