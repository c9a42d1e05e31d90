"""Modelled time of a configuration, in whole nanoseconds (deep_gemm.md section 3.6)."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from deep_gemm.heuristics.candidates import (
    K_PER_SF_PAIR,
    SF_PAIR_BYTES,
    SUPER_ROW,
    alignment_of,
)
from deep_gemm.heuristics.records import (
    GemmConfig,
    GemmDesc,
    LoadHint,
    Major,
    align_up,
    ceil_div,
)

if TYPE_CHECKING:
    from deep_gemm.heuristics.hardware import HardwareModel

SUPER_GROUP = 32  # tiles of one group of a super-row


class Cost(NamedTuple):
    """Where the modelled time goes; `total` is what the search compares."""

    compute: int
    memory: int
    l0: int
    first_fill: int
    total: int


class Grid(NamedTuple):
    """The blocks of a problem and how many rounds the busiest core works."""

    m_blocks: int
    n_blocks: int
    k_blocks: int
    waves: int

    @property
    def blocks(self) -> int:
        """Output tiles."""
        return self.m_blocks * self.n_blocks


def grid_of(desc: GemmDesc, block: tuple[int, int, int]) -> Grid:
    """Blocks of `desc` under a tile."""
    m_blocks = ceil_div(desc.m, block[0])
    n_blocks = ceil_div(desc.n, block[1])
    waves = ceil_div(m_blocks * n_blocks, desc.num_cores)
    return Grid(m_blocks, n_blocks, ceil_div(desc.k, block[2]), waves)


def covered_bytes(row: int, pitch: int, block: int, blocks: int, sector: int) -> int:
    """Bytes of L2 sectors read when one row is read in `blocks` pieces of `block` bytes.

    Averaged over the phases at which rows start inside a sector.
    """
    step = gcd(pitch, sector)
    period = step // gcd(block, step)
    return align_up(row, step) + blocks * sector - step * (1 + (blocks - 1) // period)


class _Operand(NamedTuple):
    """One operand during one pass over all its blocks."""

    bytes_once: int  # every block of the operand loaded once, data and scale factors
    rows: int  # logical rows (M or N)
    keep: bool


def _operand(
    rows: int,
    block: int,
    blocks: int,
    align: int,
    k: tuple[int, int],
    major: Major,
    pitch: int,
    keep: bool,
    desc: GemmDesc,
    sector: int,
) -> _Operand:
    k_size, block_k = k
    bits = desc.bits
    padded = blocks * align_up(min(rows, block), align)
    if major is Major.K:
        row_bytes = covered_bytes(
            k_size * bits // 8,
            pitch,
            block_k * bits // 8,
            ceil_div(k_size, block_k),
            sector,
        )
        total = padded * row_bytes
    else:
        total = k_size * covered_bytes(rows * bits // 8, pitch, block * bits // 8, blocks, sector)
    if desc.has_sf:
        pairs = ceil_div(k_size, K_PER_SF_PAIR)
        sf_row = rows * SF_PAIR_BYTES
        total += pairs * covered_bytes(sf_row, sf_row, block * SF_PAIR_BYTES, blocks, sector)
    return _Operand(total, rows, keep)


def _cold_loads(
    desc: GemmDesc,
    hw: HardwareModel,
    grid: Grid,
    block: tuple[int, int],
    a: _Operand,
    b: _Operand,
) -> tuple[int, int]:
    """How often each operand as a whole comes from memory instead of L2."""
    super_m = min(grid.m_blocks, SUPER_ROW)
    super_n = min(grid.n_blocks, SUPER_GROUP // super_m)
    window_a = 0 if a.keep else a.bytes_once * min(desc.m, super_m * block[0]) // desc.m
    window_b = 0 if b.keep else b.bytes_once * min(desc.n, super_n * block[1]) // desc.n
    all_b = 0 if b.keep else b.bytes_once
    loads_a = ceil_div(grid.n_blocks, super_n) if window_a + window_b > hw.l2_bytes else 1
    loads_b = ceil_div(grid.m_blocks, super_m) if window_a + all_b > hw.l2_bytes else 1
    return (
        grid.n_blocks if a.keep else loads_a,
        grid.m_blocks if b.keep else loads_b,
    )


def _load_ns(
    desc: GemmDesc,
    hw: HardwareModel,
    grid: Grid,
    operand_bytes: int,
    cold: int,
    loads: int,
) -> int:
    """Time of `loads` passes over an operand, `cold` of them from memory."""
    cold = min(cold, loads)
    gm_bytes = operand_bytes * cold
    l2_bytes = operand_bytes * (loads - cold)
    ns = gm_bytes / hw.hbm_gbps + l2_bytes / hw.l2_gbps
    # Idle cores leave their share of the bandwidth unused
    return int(ns * grid.waves * hw.num_cores / grid.blocks)


def _l0_ns(
    desc: GemmDesc, hw: HardwareModel, grid: Grid, config: GemmConfig, block: tuple[int, int]
) -> int:
    """L1 -> L0 copies of the busiest core."""
    cm, cn = block
    splits_m = config.block_m // config.mad_m
    splits_n = config.block_n // config.mad_n
    fits = config.block_k <= 2 * config.mad_k
    repeats_a = 1 if fits else splits_n
    repeats_b = 1 if fits and splits_n == 1 else splits_m
    per_k = (cm * repeats_a + cn * repeats_b) * desc.bits // 8
    data = align_up(per_k * desc.k, 256) * grid.waves
    cycles = data // hw.l1_to_l0_bytes_per_cycle
    if desc.has_sf:
        pairs = ceil_div(desc.k, K_PER_SF_PAIR)
        sf = (cm * repeats_a + cn * repeats_b) * pairs * SF_PAIR_BYTES * grid.waves
        cycles += sf // hw.l1_to_l0_sf_bytes_per_cycle
    return hw.cycles_to_ns(cycles)


def _tail_blocks(desc: GemmDesc, grid: Grid) -> int:
    """Short last-row blocks that even the busiest core gets under the swizzle."""
    stride = 1 if grid.m_blocks % SUPER_ROW else SUPER_ROW
    if gcd(stride, desc.num_cores) != 1:
        return 0
    return grid.n_blocks // desc.num_cores


def block_cost(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> Cost:
    """Modelled time without the output, as the search compares it."""
    grid = grid_of(desc, (config.block_m, config.block_n, config.block_k))
    align = alignment_of(desc, hw)
    cm = align_up(min(desc.m, config.block_m), align.m)
    cn = align_up(min(desc.n, config.block_n), align.n)

    # Compute of the busiest core
    last_m = align_up(desc.m - (grid.m_blocks - 1) * config.block_m, align.m)
    area = grid.waves * cm * cn - _tail_blocks(desc, grid) * max(0, cm - last_m) * cn
    compute = area * 2 * desc.k * 1000 // (hw.flops_per_cycle(desc.bits) * hw.clock_mhz)

    # Loads of all cores
    k = (desc.k, config.block_k)
    sector = hw.l2_sector_bytes
    a = _operand(
        desc.m, config.block_m, grid.m_blocks, align.m, k, desc.major_a, desc.pitch_a_bytes,
        config.hint_a is LoadHint.NOTALLOC_KEEP, desc, sector,
    )  # fmt: skip
    b = _operand(
        desc.n, config.block_n, grid.n_blocks, align.n, k, desc.major_b, desc.pitch_b_bytes,
        config.hint_b is LoadHint.NOTALLOC_KEEP, desc, sector,
    )  # fmt: skip
    block = (config.block_m, config.block_n)
    cold_a, cold_b = _cold_loads(desc, hw, grid, block, a, b)
    loads_a = ceil_div(grid.n_blocks, grid.waves) if config.resident_a else grid.n_blocks
    loads_b = ceil_div(grid.m_blocks, grid.waves) if config.resident_b else grid.m_blocks
    load_a = _load_ns(desc, hw, grid, a.bytes_once, cold_a, loads_a)
    load_b = _load_ns(desc, hw, grid, b.bytes_once, cold_b, loads_b)
    memory = load_a + load_b

    # Combination
    l0 = _l0_ns(desc, hw, grid, config, (cm, cn))
    k_share = grid.k_blocks or 1
    first_fill = (load_a if config.resident_a else load_a // k_share) + load_b // k_share
    total = max(first_fill + max(l0, compute), memory + compute // (k_share * grid.waves))
    return Cost(compute, memory, l0, first_fill, total)


def output_cost(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> int:
    """Time to bring the accumulators out, charged after the last K block."""
    grid = grid_of(desc, (config.block_m, config.block_n, config.block_k))
    rows = min(desc.m, config.block_m)
    cols = min(desc.n, config.block_n)
    out_bytes = rows * cols * desc.cd_dtype.bits // 8
    ub_bytes = rows * cols * desc.epilogue_bits // 8
    gm = out_bytes * (2 if desc.acc else 1) * hw.num_cores // hw.hbm_gbps
    fix = hw.cycles_to_ns(ub_bytes // hw.l0c_out_bytes_per_cycle)
    return grid.waves * (max(fix, gm) if config.direct_store else fix + gm)
