"""L1 -> L0 copies that wait (ops/l0_views.hpp) leave what copies at once would leave."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import SIZES, Emulator, Space, params, random_bytes, same_bytes
from .model import l1_to_l0 as model

SOURCE = random_bytes(SIZES[Space.L1], 3)
FRACTAL = 512
Step = tuple[int, ...]


@pytest.fixture(scope="module")
def launch(emu: Emulator):
    return emu.kernel("l0_views")


def random_steps(seed: int, count: int) -> list[Step]:
    """Copies to few places of L0, so that they replace and cut each other, and writes to L1."""
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    for kind in rng.choice(5, count, p=[0.35, 0.35, 0.05, 0.15, 0.1]):
        m, k = (int(v) for v in rng.integers(1, 5, 2))
        gap = int(rng.integers(0, 3))
        place = int(rng.integers(0, 8)) * 2 * FRACTAL
        source = int(rng.integers(0, 24)) * FRACTAL
        if kind == 3:
            steps.append((3, source, int(rng.integers(1, 64)), int(rng.integers(2**31)), 0, 0, 0))
        elif kind == 4:
            steps.append((4, source, int(rng.integers(0, 64)) * 4096, 48, 0, 0, 0))
        else:
            # Two in three are back to back in L0.
            dst_stride = (k if kind == 2 else m) + (int(rng.integers(0, 3)) // 2)
            steps.append((int(kind), place, source, m, k, m + gap, dst_stride))
    return steps


def transpose(l0: np.ndarray, l1: np.ndarray, step: Step) -> None:
    """Squares of 16 x 16 elements of 16 bits: fractal (m, k) becomes fractal (k, m)."""
    _, dst, src, m_step, k_step, src_stride, dst_stride = step
    for m in range(m_step):
        for k in range(k_step):
            at = src + (k * src_stride + m) * FRACTAL
            to = dst + (m * dst_stride + k) * FRACTAL
            square = l1[at : at + FRACTAL].view(np.uint16).reshape(16, 16)
            l0[to : to + FRACTAL] = np.ascontiguousarray(square.T).reshape(-1).view(np.uint8)


def expected(steps: list[Step]) -> tuple[np.ndarray, np.ndarray]:
    """L0A and L0B after the steps, one by one."""
    l1 = SOURCE.copy()
    l0a, l0b = (np.zeros(SIZES[space], np.uint8) for space in (Space.L0A, Space.L0B))
    for step in steps:
        kind, x, y, z = step[:4]
        if kind == 2:
            transpose(l0b, l1, step)
        elif kind == 3:
            l1[x : x + y * 32].view(np.uint32)[:] = z
        elif kind == 4:
            l1[x : x + z * 32] = SOURCE[y : y + z * 32]
        else:
            model.copy_2d(
                l0a if kind == 1 else l0b, l1, dst=x, src=y, m_start=0, k_start=0,
                m_step=z, k_step=step[4], src_stride=step[5], dst_stride=step[6],
            )  # fmt: skip
    return l0a, l0b


@pytest.mark.parametrize("seed", range(12))
def test_random_orders(launch, emu: Emulator, seed: int) -> None:
    steps = random_steps(seed, 40)
    launch(SOURCE, params(*(v for step in steps for v in step)), np.int32(len(steps)))
    for space, want in zip((Space.L0A, Space.L0B), expected(steps), strict=True):
        same_bytes(emu.read(space), want, (space.name, steps))


def test_source_is_overwritten_after_the_copy(launch, emu: Emulator) -> None:
    """The case that a view must not get wrong."""
    steps: list[Step] = [(0, 0, 4096, 4, 4, 4, 4), (3, 4096 + 512, 16, 0x7FC07FC0, 0, 0, 0)]
    launch(SOURCE, params(*(v for step in steps for v in step)), np.int32(len(steps)))
    want = SOURCE[4096 : 4096 + 16 * FRACTAL]
    same_bytes(emu.read(Space.L0B)[: 16 * FRACTAL], want, steps)
