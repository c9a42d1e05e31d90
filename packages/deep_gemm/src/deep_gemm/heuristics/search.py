"""The tile search: every legal tile, the cheapest wins (deep_gemm.md section 3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deep_gemm.heuristics.candidates import (
    Alignment,
    alignment_of,
    build_config,
    max_block,
    top_block,
)
from deep_gemm.heuristics.cost import block_cost, grid_of
from deep_gemm.heuristics.records import GemmConfig, GemmDesc, align_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deep_gemm.heuristics.hardware import HardwareModel

MIN_STAGES_FOR_DOUBLE_K = 3


def tiles(desc: GemmDesc, align: Alignment, hw: HardwareModel) -> Iterator[tuple[int, int]]:
    """(block_m, block_n) from large to small."""
    cap = max_block(desc)
    top_m = top_block(desc.m, cap, align.m)
    for block_m in range(top_m, 0, -align.m):
        cap_n = min(cap, hw.l0c_bytes // 4 // block_m)
        for block_n in range(align_up(cap_n, align.n), 0, -align.n):
            yield block_m, block_n


def lower_bound(desc: GemmDesc, hw: HardwareModel, block: tuple[int, int, int]) -> int:
    """Time no configuration of this tile can beat: logical bytes at L2 rate, or compute."""
    grid = grid_of(desc, block)
    cm, cn = min(desc.m, block[0]), min(desc.n, block[1])
    rows = desc.m * grid.n_blocks + desc.n * grid.m_blocks
    moved = rows * desc.k * desc.bits // 8
    memory = moved * grid.waves * hw.num_cores // (grid.blocks * hw.l2_gbps)
    # A core may own several short last-row blocks once a row of blocks feeds every core
    full = grid.n_blocks < desc.num_cores
    area = grid.waves * cm * cn if full else desc.m * desc.n // desc.num_cores
    compute = area * 2 * desc.k * 1000 // (hw.flops_per_cycle(desc.bits) * hw.clock_mhz)
    return max(memory, compute)


def best_block_k(
    desc: GemmDesc, hw: HardwareModel, block: tuple[int, int], align: Alignment
) -> GemmConfig | None:
    """The configuration with block_k doubled if that keeps enough L1 stages."""
    base_k = 2048 // desc.bits
    if desc.k % (2 * base_k) == 0:
        doubled = build_config(desc, hw, (*block, 2 * base_k), align)
        if doubled and doubled.num_l1_stages >= MIN_STAGES_FOR_DOUBLE_K:
            return doubled
    return build_config(desc, hw, (*block, base_k), align)


def search(desc: GemmDesc, hw: HardwareModel) -> GemmConfig | None:
    """Cheapest configuration before the patches of section 3.7; None when nothing is legal."""
    align = alignment_of(desc, hw)
    best: GemmConfig | None = None
    best_total = 0
    base_k = 2048 // desc.bits
    for block in tiles(desc, align, hw):
        if best is not None and lower_bound(desc, hw, (*block, base_k)) > best_total:
            continue
        config = best_block_k(desc, hw, block, align)
        if config is None:
            continue
        total = block_cost(desc, hw, config).total
        if best is None or total <= best_total:  # ties go to the smaller tile
            best, best_total = config, total
    return best
