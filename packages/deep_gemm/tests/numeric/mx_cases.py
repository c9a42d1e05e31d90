"""Cases of the FP8 and FP4 sweep: many problems on few kernels (deep_gemm.md 1.3 and 4.2).

As in `sweep_cases.py`: a family is a band of sizes in which the search keeps its choice. The list
is the same in every process.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from deep_gemm.testing import GemmCase, MxCase

SUFFIXES = ("nt", "nn", "tn", "tt")
CASES_PER_KERNEL = 7
CASES_OF_A_LARGE_FAMILY = 4
MAX_KERNELS = 20


class Family(NamedTuple):
    """Bands of m, n and k, and the number of AI cores."""

    num_sms: int
    m: tuple[int, int]
    n: tuple[int, int]
    k: tuple[int, int]


FAMILIES = {
    "grid": Family(32, (33, 64), (33, 112), (1, 255)),
    "wide": Family(32, (1, 16), (33, 512), (513, 700)),
    "one_block": Family(1, (241, 256), (241, 256), (1, 255)),
    "split_m": Family(1, (241, 256), (161, 176), (1, 255)),
    # Several tiles on a core: the rings of data and scales run on from tile to tile
    "waves": Family(1, (497, 512), (497, 512), (65, 255)),
    "long_waves": Family(1, (497, 512), (497, 512), (257, 511)),
    "ragged_waves": Family(3, (545, 560), (529, 544), (65, 255)),
    # One chunk of scales for several K blocks, and several chunks
    "long": Family(2, (65, 80), (97, 112), (1100, 1270)),
    "chunks": Family(1, (241, 256), (241, 256), (4097, 4350)),
}


class Kernel(NamedTuple):
    """What selects a kernel beside the block."""

    fp4: bool
    family: str
    fp32: bool = False
    accumulate: bool = False
    alpha: bool = False
    direct: bool = False


KERNELS = (
    Kernel(False, "grid"),
    Kernel(False, "waves", fp32=True, accumulate=True),
    Kernel(False, "chunks", alpha=True),
    Kernel(False, "split_m", fp32=True, alpha=True),
    Kernel(False, "wide", accumulate=True),
    Kernel(False, "long_waves", fp32=True, accumulate=True, alpha=True),
    Kernel(False, "ragged_waves", accumulate=True, alpha=True),
    Kernel(False, "grid", direct=True),
    Kernel(False, "long", fp32=True, accumulate=True, direct=True),
    Kernel(False, "one_block", fp32=True, direct=True),
    Kernel(True, "grid", fp32=True),
    Kernel(True, "waves", accumulate=True),
    Kernel(True, "chunks", fp32=True, accumulate=True),
    Kernel(True, "split_m", alpha=True),
    Kernel(True, "wide", fp32=True, alpha=True),
    Kernel(True, "long_waves"),
    Kernel(True, "ragged_waves", fp32=True, accumulate=True, alpha=True),
    Kernel(True, "grid", fp32=True, accumulate=True, direct=True),
    Kernel(True, "long", direct=True),
    Kernel(True, "one_block", direct=True),
)


@dataclass(frozen=True)
class MxSweepCase:
    """A case with the number of AI cores it runs on."""

    mx: MxCase
    num_sms: int
    kernel: Kernel

    def __str__(self) -> str:
        return f"{self.kernel.family}-{self.mx}"


def _pick(rng: random.Random, band: tuple[int, int], unit: int) -> int:
    return rng.randint(-(-band[0] // unit), band[1] // unit) * unit


def _draw(rng: random.Random, kernel: Kernel, index: int) -> MxSweepCase:
    family = FAMILIES[kernel.family]
    if kernel.direct:
        # Rows of D stay 32-byte aligned
        pad, offset = rng.choice([(0, 0), (16, 0), (32, 16), (0, 32)])
    else:
        # An odd start keeps D unaligned even where the sizes are multiples of 16
        pad, offset = rng.choice([(0, 1), (1, 3), (8, 5), (5, 7)])
    base = GemmCase(
        rng.randint(*family.m),
        _pick(rng, family.n, 16 if kernel.direct else 1),
        _pick(rng, family.k, 2 if kernel.fp4 else 1),
        suffix=SUFFIXES[index % 4],
        fp32=kernel.fp32,
        c=rng.choice(["in_place", "other"]) if kernel.accumulate else "none",
        alpha=rng.choice([-1.0, -0.37, 0.0, 0.5, 3.25]) if kernel.alpha else None,
        pad=pad,
        offset=offset,
        compiled_dims="",
    )
    mx = MxCase(base, kernel.fp4, sf_pad=rng.choice([0, 0, 1, 5]))
    return MxSweepCase(mx, family.num_sms, kernel)


def mx_sweep_cases() -> list[MxSweepCase]:
    """All cases, the same list in every process."""
    cases: list[MxSweepCase] = []
    for number, kernel in enumerate(KERNELS):
        rng = random.Random(repr(kernel))
        large = kernel.family == "chunks"
        count = CASES_OF_A_LARGE_FAMILY if large else CASES_PER_KERNEL
        cases += [_draw(rng, kernel, number + index) for index in range(count)]
    return cases
