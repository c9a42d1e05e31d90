"""From a tile (block_m, block_n, block_k) to a configuration (deep_gemm.md section 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deep_gemm.heuristics.records import (
    DType,
    GemmConfig,
    GemmDesc,
    LaunchConfig,
    LoadHint,
    Major,
    align_up,
    ceil_div,
)

if TYPE_CHECKING:
    from deep_gemm.heuristics.hardware import HardwareModel

SUPER_ROW = 4  # m-blocks walked together by the tile scheduler (section 4.1)
K_PER_SF_PAIR = 64
SF_PAIR_BYTES = 2
NUM_SF_STAGES = 2
NUM_L0_STAGES = 2
MAX_L1_STAGES = 8  # one pipe event per stage and direction
MAX_L1_STAGES_SF = 4
MAX_EPILOGUE_STAGES = 16  # one intra-block event per stage
MIN_L1_STAGES = 2
MAD_SPLITS = ((1, 1), (1, 2), (2, 1))


class Alignment(NamedTuple):
    """Units in which blocks grow, in elements."""

    m: int
    n: int
    k: int


class MadTile(NamedTuple):
    """Tile of one MAD instruction."""

    m: int
    n: int
    k: int


def elements_per_c0(bits: int, hw: HardwareModel) -> int:
    """Elements of one fractal row (aK in the specification)."""
    return hw.fractal_row_bytes * 8 // bits


def alignment_of(desc: GemmDesc, hw: HardwareModel) -> Alignment:
    """Block units: a transposed operand is loaded into L0 in whole fractal rows along MN."""
    unit = elements_per_c0(desc.bits, hw)
    return Alignment(
        m=unit if desc.major_a is Major.MN else hw.fractal_mn,
        n=unit if desc.major_b is Major.MN else hw.fractal_mn,
        k=K_PER_SF_PAIR if desc.has_sf else hw.fractal_mn,
    )


def split_mad(
    desc: GemmDesc, hw: HardwareModel, block: tuple[int, int, int], align: Alignment
) -> MadTile | None:
    """The largest MAD tile that halves at most one axis and double buffers L0, or None."""
    block_m, block_n, block_k = block
    for split_m, split_n in MAD_SPLITS:
        if block_m % (split_m * align.m) or block_n % (split_n * align.n):
            continue
        mad_m, mad_n = block_m // split_m, block_n // split_n
        if mad_m * mad_n * 4 > hw.l0c_bytes // 2:
            continue
        mad_k = mad_k_of(desc, hw, (mad_m, mad_n, block_k), align)
        if mad_k:
            return MadTile(mad_m, mad_n, mad_k)
    return None


def mad_k_of(desc: GemmDesc, hw: HardwareModel, mad: tuple[int, int, int], align: Alignment) -> int:
    """Largest legal mad_k for (mad_m, mad_n, block_k); 0 when there is none worth using."""
    mad_m, mad_n, block_k = mad
    limit_a = hw.l0a_bytes * 8 // (NUM_L0_STAGES * mad_m * desc.bits)
    limit_b = hw.l0b_bytes * 8 // (NUM_L0_STAGES * mad_n * desc.bits)
    mad_k = min(limit_a, limit_b, max(align.k, block_k // 2)) // align.k * align.k
    while mad_k > 0 and block_k % mad_k:
        mad_k -= align.k
    return mad_k if mad_k * 2 >= min(block_k, 2048 // desc.bits) else 0


def l1_stages(desc: GemmDesc, hw: HardwareModel, block: tuple[int, int, int]) -> tuple[int, int]:
    """(L1 stages, K blocks per scale-factor chunk); (0, 0) when two stages do not fit."""
    block_m, block_n, block_k = block
    stage_bytes = (block_m + block_n) * block_k * desc.bits // 8
    if not desc.has_sf:
        stages = min(MAX_L1_STAGES, hw.l1_bytes // stage_bytes)
        return (stages, 0) if stages >= MIN_L1_STAGES else (0, 0)
    k_blocks = ceil_div(desc.k, block_k)
    pairs = block_k // K_PER_SF_PAIR
    chunk_bytes = (block_m + block_n) * pairs * SF_PAIR_BYTES * NUM_SF_STAGES
    sf_k_blocks = min(4, k_blocks)
    stages = min(MAX_L1_STAGES_SF, (hw.l1_bytes - chunk_bytes * sf_k_blocks) // stage_bytes)
    if stages < MIN_L1_STAGES:
        return 0, 0
    return stages, min(k_blocks, (hw.l1_bytes - stages * stage_bytes) // chunk_bytes)


def epilogue_stages(
    desc: GemmDesc, hw: HardwareModel, block: tuple[int, int], mad: tuple[int, int]
) -> int:
    """UB stages of the epilogue, one per MAD tile in flight; 0 when one block does not fit."""
    per_block = (block[0] // mad[0]) * (block[1] // mad[1])
    stage_bytes = mad[0] * mad[1] * desc.epilogue_bits // 8
    blocks = ceil_div(desc.m, block[0]) * ceil_div(desc.n, block[1])
    waves = ceil_div(blocks, desc.num_cores)
    stages = min(MAX_EPILOGUE_STAGES, hw.ub_bytes // stage_bytes, waves * per_block)
    return stages if stages >= per_block else 0


def load_hints(m_blocks: int, n_blocks: int) -> tuple[LoadHint, LoadHint]:
    """An operand that few blocks share passes L2 by, so that it does not evict the other one."""
    a = b = LoadHint.NORMAL_FIRST_VICTIM
    if n_blocks <= 2 and m_blocks > n_blocks:
        a = LoadHint.NOTALLOC_KEEP
    if m_blocks <= 2 and n_blocks > m_blocks:
        b = LoadHint.NOTALLOC_KEEP
    return a, b


def max_block(desc: GemmDesc) -> int:
    """Largest block_m and block_n the search tries."""
    return 256 if desc.dtype is DType.FP4 else 512


def build_config(
    desc: GemmDesc,
    hw: HardwareModel,
    block: tuple[int, int, int],
    align: Alignment | None = None,
    mad: MadTile | None = None,
) -> GemmConfig | None:
    """The configuration of this tile, or None when it breaks a rule of section 3.4.

    `mad` fixes the MAD tile; without it the largest legal one is taken.
    """
    block_m, block_n, block_k = block
    align = align or alignment_of(desc, hw)
    if block_m * block_n * 4 > hw.l0c_bytes or block_k % align.k:
        return None
    mad = mad or split_mad(desc, hw, block, align)
    if mad is None:
        return None
    stages, sf_k_blocks = l1_stages(desc, hw, block)
    epilogue = epilogue_stages(desc, hw, (block_m, block_n), (mad.m, mad.n))
    if not stages or not epilogue:
        return None
    m_blocks = ceil_div(desc.m, block_m)
    hint_a, hint_b = load_hints(m_blocks, ceil_div(desc.n, block_n))
    return GemmConfig(
        block_m=block_m,
        block_n=block_n,
        block_k=block_k,
        mad_m=mad.m,
        mad_n=mad.n,
        mad_k=mad.k,
        num_l1_stages=stages,
        num_l0_stages=NUM_L0_STAGES,
        num_epilogue_stages=epilogue,
        num_l1_sf_stages=NUM_SF_STAGES if desc.has_sf else 0,
        sf_k_blocks=sf_k_blocks,
        hint_a=hint_a,
        hint_b=hint_b,
        launch=LaunchConfig(
            num_blocks=desc.num_cores,
            block_stride=SUPER_ROW if m_blocks >= SUPER_ROW else 0,
        ),
    )


def top_block(extent: int, cap: int, unit: int) -> int:
    """Largest block of an axis: the whole axis if it fits under the cap."""
    return min(align_up(cap, unit), align_up(extent, unit))
