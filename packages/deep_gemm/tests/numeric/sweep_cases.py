"""Cases of the GEMM sweep: many problems on few kernels.

A kernel is compiled per block shape, so cases are drawn in families: inside a family sizes vary,
but only within bands where the search keeps its choice. Few cores (`num_sms`) make small problems
run in several waves of large blocks. The list is the same in every process.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import NamedTuple

from deep_gemm.testing import GemmCase

SUFFIXES = ("nt", "nn", "tn", "tt")
MAJORS = tuple(itertools.product(("K", "MN"), repeat=2))
CASES_PER_KERNEL = 8


class Family(NamedTuple):
    """Bands of sizes with one block shape.

    `k_fixed` families compile K in. `unit` is the granularity of M and N.
    """

    name: str
    num_sms: int
    m: tuple[int, int]
    n: tuple[int, int]
    k: tuple[int, ...]
    compiled_dims: str = ""


# Any K below 256: one block_k, with and without tail
ANY_K = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 100, 127, 128, 129, 200, 255)
# Enough work per tile that the choice of the tile does not depend on K
BUSY_K = (65, 100, 127, 128, 129, 200, 255)
LONG_K = (257, 300, 383, 385, 511, 513, 600)
EVEN_K = (256, 512)

FAMILIES = {
    family.name: family
    for family in (
        Family("grid", 32, (33, 64), (33, 112), ANY_K + LONG_K),
        Family("wide", 32, (1, 16), (33, 512), ANY_K + LONG_K),
        Family("tall", 32, (33, 512), (1, 16), ANY_K + LONG_K),
        Family("double_k", 32, (33, 64), (33, 112), EVEN_K),
        Family("one_block", 1, (241, 256), (241, 256), ANY_K),
        Family("waves", 1, (497, 512), (497, 512), BUSY_K),
        Family("ragged_waves", 3, (545, 560), (529, 544), BUSY_K),
        Family("split_m", 1, (241, 256), (161, 176), ANY_K),
        Family("long_k", 2, (65, 80), (97, 112), LONG_K),
        Family("resident_a", 2, (1, 16), (2033, 2048), (200,), "k"),
        Family("resident_b", 1, (1009, 1024), (1, 16), (100,), "k"),
    )
}


class Combo(NamedTuple):
    """What selects a kernel beside the block: layouts, output, epilogue, way out."""

    major_a: str
    major_b: str
    fp32: bool
    accumulate: bool
    alpha: bool
    direct: bool


def combos(direct: bool) -> list[Combo]:
    """All combinations with, or without, direct store."""
    flags = itertools.product((False, True), repeat=3)
    return [
        Combo(*majors, fp32, accumulate, alpha, direct)
        for (fp32, accumulate, alpha), majors in itertools.product(flags, MAJORS)
        if not direct or not (alpha or (accumulate and not fp32))
    ]


@dataclass(frozen=True)
class SweepCase:
    """A case with the number of AI cores it runs on."""

    case: GemmCase
    num_sms: int
    family: str

    def __str__(self) -> str:
        return f"{self.family}-{self.case}"


def _pick(rng: random.Random, band: tuple[int, int], unit: int) -> int:
    low, high = -(-band[0] // unit), band[1] // unit
    return rng.randint(low, high) * unit


def _draw(rng: random.Random, family: Family, combo: Combo, index: int) -> SweepCase:
    unit_n = 16 if combo.direct else 1
    unit_m = 16 if combo.direct and combo.major_a == "MN" else 1
    m, n = _pick(rng, family.m, unit_m), _pick(rng, family.n, unit_n)
    if combo.direct:
        # Rows of D stay 32-byte aligned
        pad, offset = rng.choice([(0, 0), (16, 0), (32, 16), (0, 32)])
    else:
        # An odd start keeps D unaligned even where the sizes are multiples of 16
        pad, offset = rng.choice([(0, 1), (1, 3), (8, 5), (5, 7)])
    c = rng.choice(["in_place", "other"]) if combo.accumulate else "none"
    case = GemmCase(
        m,
        n,
        family.k[index % len(family.k)] if len(family.k) > 1 else family.k[0],
        suffix=SUFFIXES[index % 4],
        major_a=combo.major_a,
        major_b=combo.major_b,
        fp32=combo.fp32,
        c=c,
        alpha=rng.choice([-1.0, -0.37, 0.0, 0.5, 3.25]) if combo.alpha else None,
        pad=pad,
        offset=offset,
        compiled_dims=family.compiled_dims,
    )
    return SweepCase(case, family.num_sms, family.name)


# Every combination in at least one family, every family with at least two combinations
def _assignments() -> list[tuple[str, Combo]]:
    mixed, direct = combos(direct=False), combos(direct=True)
    rotation = ["grid", "one_block", "wide", "waves", "tall", "split_m", "ragged_waves", "long_k"]
    chosen = [(rotation[(i + i // 8) % 8], combo) for i, combo in enumerate(mixed)]
    rotation = ["grid", "one_block", "wide", "tall", "double_k", "split_m"]
    chosen += [(rotation[(i + i // 6) % 6], combo) for i, combo in enumerate(direct)]
    plain = Combo("K", "K", fp32=False, accumulate=False, alpha=False, direct=False)
    for family in ("double_k", "resident_a", "resident_b"):
        chosen.append((family, plain))
        chosen.append((family, plain._replace(major_a="MN", major_b="MN", fp32=True, alpha=True)))
    chosen.append(("waves", plain._replace(accumulate=True, fp32=True, major_b="MN")))
    chosen.append(("ragged_waves", plain._replace(accumulate=True, major_a="MN")))
    chosen.append(("long_k", plain))
    return list(dict.fromkeys(chosen))


def sweep_cases() -> list[SweepCase]:
    """All cases, the same list in every process."""
    cases: list[SweepCase] = []
    for number, (name, combo) in enumerate(_assignments()):
        rng = random.Random(f"{name}/{combo}")
        cases += [
            _draw(rng, FAMILIES[name], combo, number + index) for index in range(CASES_PER_KERNEL)
        ]
    return cases
