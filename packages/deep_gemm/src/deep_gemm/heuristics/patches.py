"""Refinements of the tile the search found (deep_gemm.md section 3.7, the bf16 rows)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deep_gemm.heuristics.candidates import (
    MAX_L1_STAGES,
    MIN_L1_STAGES,
    NUM_L0_STAGES,
    MadTile,
    alignment_of,
    build_config,
    elements_per_c0,
    mad_k_of,
)
from deep_gemm.heuristics.cost import block_cost, grid_of, output_cost
from deep_gemm.heuristics.records import (
    DType,
    EpilogueType,
    GemmConfig,
    GemmDesc,
    Major,
    StoreHint,
    align_up,
    ceil_div,
)

if TYPE_CHECKING:
    from deep_gemm.heuristics.cost import Grid
    from deep_gemm.heuristics.hardware import HardwareModel

# D is read back by later waves only when they are many and each runs long
MIN_WAVES_TO_KEEP_D = 4
MIN_K_BLOCKS_TO_KEEP_D = 16
FIX_BURST_BYTES = 128


def _grid(desc: GemmDesc, config: GemmConfig) -> Grid:
    return grid_of(desc, (config.block_m, config.block_n, config.block_k))


def refined_cost(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> int:
    """Modelled time of the whole kernel: blocks, output, and GM issue of a one-fractal M."""
    cost = block_cost(desc, hw, config).total + output_cost(desc, hw, config)
    if desc.dtype is DType.BF16 and desc.m <= hw.fractal_mn:
        grid = _grid(desc, config)
        loads = grid.waves * grid.k_blocks * (1 if config.resident_a else 2)
        cost += hw.cycles_to_ns(loads * hw.gm_load_issue_cycles)
    return cost


def k_tile_cost(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> int:
    """`refined_cost` plus what depends on block_k: MAD issue and L0 turnover."""
    grid = _grid(desc, config)
    splits = (config.block_m // config.mad_m) * (config.block_n // config.mad_n)
    mads_per_block = config.block_k // config.mad_k
    blocks = grid.waves * grid.k_blocks * splits
    issue = blocks * mads_per_block * hw.mad_issue_cycles(desc.bits)
    l0_bytes = (config.mad_m + config.mad_n) * config.mad_k * desc.bits // 8
    load = l0_bytes // hw.l1_to_l0_bytes_per_cycle
    flops = 2 * config.mad_m * config.mad_n * config.mad_k
    mad = flops // hw.flops_per_cycle(desc.bits)
    stalls = blocks * max(0, mads_per_block - NUM_L0_STAGES) * max(0, load - mad)
    return refined_cost(desc, hw, config) + hw.cycles_to_ns(issue + stalls)


def can_store_directly(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> bool:
    """Whether L0C -> GM may write D without the vector cores."""
    unit = elements_per_c0(desc.bits, hw)
    grid = _grid(desc, config)
    if desc.epilogue is not EpilogueType.IDENTITY:
        return False
    if desc.acc and desc.cd_dtype is not DType.FP32:
        return False
    if desc.major_a is Major.MN and desc.m % unit:
        return False
    if desc.n % (unit if desc.major_b is Major.MN else hw.fractal_mn):
        return False
    if desc.d_alignment < hw.store_alignment_bytes:
        return False
    if desc.pitch_d_bytes % hw.store_alignment_bytes:
        return False
    if grid.blocks <= desc.num_cores:
        return True
    return grid.m_blocks == 1 and config.mad_n * desc.epilogue_bits // 8 % FIX_BURST_BYTES == 0


def patch_direct_store(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """The AIC-only kernel, when legal and its output is not slower."""
    if not can_store_directly(desc, hw, config):
        return config
    direct = replace(config, direct_store=True)
    better = output_cost(desc, hw, direct) <= output_cost(desc, hw, config)
    return direct if better else config


def patch_block_k(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """Other powers of two for block_k, block_m and block_n staying as they are."""
    align = alignment_of(desc, hw)
    if "k" not in desc.compiled_dims or desc.k % align.k:
        return config
    best, best_cost = config, k_tile_cost(desc, hw, config)
    block_k = 2048 // desc.bits
    while True:
        mad_k = mad_k_of(desc, hw, (config.mad_m, config.mad_n, block_k), align)
        mad = MadTile(config.mad_m, config.mad_n, mad_k)
        block = (config.block_m, config.block_n, block_k)
        other = build_config(desc, hw, block, align, mad) if mad_k else None
        if other is None:
            return best
        other = replace(other, direct_store=config.direct_store)
        cost = k_tile_cost(desc, hw, other)
        if cost < best_cost:
            best, best_cost = other, cost
        block_k *= 2


def patch_resident_a(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """All of A (one M block, every K block) stays in L1; the stages hold only B."""
    if desc.dtype is not DType.BF16 or "k" not in desc.compiled_dims:
        return config
    grid = _grid(desc, config)
    if grid.m_blocks > 1 or grid.waves == 1:
        return config
    size = desc.bits // 8
    panel = config.block_m * align_up(desc.k, hw.fractal_mn) * size
    stages = (hw.l1_bytes - panel) // (config.block_n * config.block_k * size)
    if stages <= MIN_L1_STAGES:
        return config
    other = replace(config, resident_a=True, num_l1_stages=min(MAX_L1_STAGES, stages))
    better = refined_cost(desc, hw, other) <= refined_cost(desc, hw, config)
    return other if better else config


def patch_resident_b(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """All of B (one N block, at most two MAD depths of K) stays in L0B."""
    grid = _grid(desc, config)
    legal = (
        desc.dtype is DType.BF16
        and "k" in desc.compiled_dims
        and grid.n_blocks == 1
        and grid.waves > 1
        and config.block_n == config.mad_n
        and desc.k <= NUM_L0_STAGES * config.mad_k
    )
    if not legal:
        return config
    other = replace(config, resident_b=True)
    better = refined_cost(desc, hw, other) <= refined_cost(desc, hw, config)
    return other if better else config


def patch_store_hint(desc: GemmDesc, _hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """D stays in L2 when accumulating long enough for it to be evicted otherwise."""
    grid = _grid(desc, config)
    keep = (
        desc.acc
        and grid.waves >= MIN_WAVES_TO_KEEP_D
        and ceil_div(desc.k, config.block_k) >= MIN_K_BLOCKS_TO_KEEP_D
    )
    return replace(config, hint_store=StoreHint.NORMAL_FIRST_VICTIM) if keep else config


PATCHES = (
    patch_direct_store,
    patch_block_k,
    patch_resident_a,
    patch_resident_b,
    patch_store_hint,
)


def apply_patches(desc: GemmDesc, hw: HardwareModel, config: GemmConfig) -> GemmConfig:
    """All patches in order."""
    for patch in PATCHES:
        config = patch(desc, hw, config)
    return config
