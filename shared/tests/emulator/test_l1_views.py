"""nd2nz copies that wait (ops/l1_views.hpp) leave what copies at once leave.

A source that the launch may write is copied at once, and test_gm_to_l1.py holds that against the
formulas; here the same steps run with a source that nobody writes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deep_jit._shared.emulator import gm_range
from deep_jit._shared.jit import LaunchError

from .conftest import SIZES, Emulator, Space, params, random_bytes, same_bytes

FRACTAL = 512
WINDOW = 128 << 10  # bytes of L1 that the steps use; UB holds as much twice
Step = tuple[int, ...]
Run = Callable[..., dict[Space, np.ndarray]]

# bf16 of moderate size, so that products are numbers; [rows, columns] of 1024 bytes
SOURCE = random_bytes(1 << 20, 7)
SOURCE.view(np.uint16)[:] = SOURCE.view(np.uint16) & 0xBFFF | 0x3000


@pytest.fixture(scope="module")
def run(emu: Emulator) -> Run:
    launch = emu.kernel("l1_views")

    def run(steps: list[Step], *, constant: bool, **options: object) -> dict[Space, np.ndarray]:
        """On-chip memories after the steps."""
        flat = params(*(v for step in steps for v in (*step, *(0,) * (7 - len(step)))))
        memory = [gm_range(SOURCE, "src", read_only=constant), gm_range(flat, "steps")]
        launch(SOURCE, flat, np.int32(len(steps)), memory=memory, **options)
        spaces = (Space.L1, Space.L0A, Space.L0B, Space.L0C)
        found = {space: emu.read(space) for space in spaces}
        return {**found, Space.UB: emu.read(Space.UB, core=1)}

    return run


def look() -> Step:
    """Reads all that the steps use."""
    return (7, 0, 0, WINDOW // 32)


def both(run: Run, steps: list[Step], schedule: str = "immediate", **options: object) -> None:
    """Compares the two ways, in every memory; `schedule` is that of the copies that wait."""
    steps = [*steps, look()]
    want = run(steps, constant=False, **options)
    got = run(steps, constant=True, schedule=schedule, **options)
    for space, memory in want.items():
        same_bytes(got[space], memory, (space.name, steps))


def copy(
    dst: int, *, src: int = 0, n: int = 32, d: int = 64, c0: int = 0, line: int = 1024
) -> Step:
    """nd2nz of `n` rows by `d` columns of bf16."""
    return (0, dst, src, line, n, d, c0 or -(-n // 16) * 16)


def test_a_copy_that_nobody_reads_is_never_made(run: Run) -> None:
    """Shows that copies wait at all, and when they must not."""
    steps = [copy(0)]
    assert run(steps, constant=False)[Space.L1].any()
    assert not run(steps, constant=True, checks="none")[Space.L1].any()
    assert run(steps, constant=True, checks="memcheck")[Space.L1].any()
    assert not run(steps, constant=True, checks="none", numerics="fast")[Space.L1].any()


def test_memory_that_overlaps_a_writable_tensor_is_copied_at_once(emu: Emulator) -> None:
    launch = emu.kernel("l1_views")
    flat = params(*copy(0))
    alias = gm_range(SOURCE[4096:8192], "alias")
    memory = [gm_range(SOURCE, "src", read_only=True), alias, gm_range(flat, "steps")]
    launch(SOURCE, flat, np.int32(1), memory=memory)
    assert emu.read(Space.L1).any()


@pytest.mark.parametrize(
    "outside",
    [copy(0, n=17), copy(0, d=63), copy(0, c0=16), (1, 0, 0, 1024, 32, 64, 32)],
    ids=["row tail", "column tail", "overlapping columns", "dn2nz"],
)
def test_tails_are_copied_at_once(run: Run, outside: Step) -> None:
    assert run([outside], constant=True)[Space.L1].any()
    both(run, [copy(2048, src=64), outside])


def test_memory_is_readable_after_a_fault(run: Run, emu: Emulator) -> None:
    want = run([copy(0), look()], constant=False)[Space.L1]
    with pytest.raises(LaunchError):
        run([copy(0), (7, 0, SIZES[Space.L1], 1)], constant=True)
    same_bytes(emu.read(Space.L1), want, "after the fault")


@pytest.mark.parametrize(
    "between",
    [
        [],
        [(2, 512, 3, 0x40004000)],
        [(3, 1024, 4096, 40)],
        [copy(0, src=8192)],
        [copy(1024, src=8192)],
        [copy(0, src=8192, n=16)],
        [copy(0, src=8192, n=16, c0=32)],
        [copy(0, src=8192, n=64, d=128)],
        [(7, WINDOW, 256, 4)],
        [copy(64 * i, src=64 * i) for i in range(20)],
        [copy(8192 + 4096 * i, src=64 * i) for i in range(20)],
    ],
    ids=[
        *("nothing", "fill", "plain copy", "the same place", "the middle", "half", "every second"),
        *("all of it", "part read", "many that overlap", "many"),
    ],
)
@pytest.mark.parametrize("source", [0, 512, 2048 + 512], ids=str)
def test_an_operand_is_what_it_was_when_loaded(run: Run, source: int, between: list[Step]) -> None:
    """`between` changes L1 behind a loaded operand, and before the next one is loaded."""
    steps = [copy(0), (4, 0, source, 1, 2, 2, 1), (5, 0, 0, 2, 2, 2, 2), *between]
    product = (6, 0, 0, 16, 32, 32, 0)
    again = [(4, 1024, source, 1, 2, 2, 1), (6, 1024, 0, 16, 32, 32, 4096)]
    both(run, [*steps, product, *again])


def random_steps(seed: int, count: int) -> list[Step]:
    """Copies to few places of L1 and L0, so that they replace and cut each other."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(8, count, p=[0.34, 0.04, 0.06, 0.06, 0.16, 0.16, 0.14, 0.04])
    steps: list[Step] = []
    for kind in (int(k) for k in kinds):
        m, k = (int(v) for v in rng.integers(1, 4, 2))
        place, gap = int(rng.integers(0, 12)) * FRACTAL, int(rng.integers(0, 2))
        src = int(rng.integers(0, 256)) * 32
        if kind < 2:
            n = m * 16 - int(rng.integers(0, 8) == 0)
            steps.append((kind, place, src, 1024, n, k * 32, (m + gap) * 16))
        elif kind == 2:
            steps.append((2, place, int(rng.integers(1, 64)), 0x40004040))
        elif kind == 3:
            steps.append((3, place, src, int(rng.integers(1, 64))))
        elif kind < 6:
            steps.append((kind, int(rng.integers(0, 3)) * 2048, place, m, k, m + gap, m))
        elif kind == 6:
            a, b = (int(v) * 2048 for v in rng.integers(0, 3, 2))
            steps.append((6, a, b, m * 16, k * 16, m * 16, int(rng.integers(0, 3)) * 16384))
        else:
            steps.append((7, WINDOW + int(rng.integers(0, 8)) * 4096, place, 64))
    return steps


@pytest.mark.parametrize("schedule", ["immediate", "deferred"])
@pytest.mark.parametrize("seed", range(10))
def test_random_orders(run: Run, seed: int, schedule: str) -> None:
    both(run, random_steps(seed, 60), schedule=schedule, seed=seed)


def test_blocks_one_after_another(run: Run) -> None:
    """A block starts without the copies of the one before it."""
    steps = [*random_steps(99, 40), (6, 0, 0, 16, 16, 16, 0)]
    both(run, steps, blocks=5, threads=1)
