"""Legality of every configuration, for random problems (deep_gemm.md sections 3.4 and 3.7)."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from deep_gemm.heuristics import (
    ASCEND_950DT,
    DType,
    EpilogueType,
    GemmConfig,
    GemmDesc,
    LoadHint,
    Major,
    StoreHint,
    choose_config,
    modelled_ns,
)
from deep_gemm.heuristics.candidates import alignment_of, build_config, mad_k_of
from deep_gemm.heuristics.cost import block_cost, covered_bytes, grid_of, output_cost
from deep_gemm.heuristics.patches import can_store_directly, refined_cost
from deep_gemm.heuristics.search import best_block_k, lower_bound, search, tiles

HW = ASCEND_950DT
SIZES = st.one_of(
    st.integers(1, 40), st.integers(41, 700), st.sampled_from([2112, 4096, 7168, 9001])
)


@st.composite
def descriptions(draw: st.DrawFn, sizes: st.SearchStrategy[int] = SIZES) -> GemmDesc:
    m, n, k = draw(sizes), draw(sizes), draw(sizes)
    major = st.sampled_from(list(Major))
    major_a, major_b = draw(major), draw(major)
    pad = draw(st.sampled_from([0, 0, 1, 8, 24]))
    return GemmDesc(
        m=m,
        n=n,
        k=k,
        dtype=DType.BF16,
        cd_dtype=draw(st.sampled_from([DType.BF16, DType.FP32])),
        major_a=major_a,
        major_b=major_b,
        acc=draw(st.booleans()),
        epilogue=draw(st.sampled_from(list(EpilogueType))),
        compiled_dims=draw(st.sampled_from(["", "nk", "mn", "mnk", "k"])),
        num_cores=draw(st.sampled_from([32, 32, 1, 7, 24])),
        stride_a=(k if major_a is Major.K else m) + pad,
        stride_b=(k if major_b is Major.K else n) + pad,
        stride_d=n + pad,
        d_alignment=draw(st.sampled_from([2, 4, 16, 32])),
    )


def l1_bytes(desc: GemmDesc, config: GemmConfig) -> int:
    stage = config.block_n * config.block_k * 2
    if config.resident_a:
        panel = config.block_m * -(-desc.k // 16) * 16 * 2
        return panel + config.num_l1_stages * stage
    return config.num_l1_stages * (config.block_m * config.block_k * 2 + stage)


def assert_legal(desc: GemmDesc, config: GemmConfig) -> None:
    unit_m = 16
    unit_n = 16
    # Blocks and MAD tiles divide each other and are made of whole fractals
    assert config.block_m % config.mad_m == 0 == config.mad_m % unit_m
    assert config.block_n % config.mad_n == 0 == config.mad_n % unit_n
    assert config.block_k % config.mad_k == 0 == config.mad_k % 16
    # Memories
    assert config.block_m * config.block_n * 4 <= HW.l0c_bytes
    assert config.mad_m * config.mad_n * 4 <= HW.l0c_bytes // 2
    assert 2 * config.mad_m * config.mad_k * 2 <= HW.l0a_bytes
    assert 2 * config.mad_n * config.mad_k * 2 <= HW.l0b_bytes
    assert l1_bytes(desc, config) <= HW.l1_bytes
    stage = config.mad_m * config.mad_n * desc.epilogue_bits // 8
    assert config.num_epilogue_stages * stage <= HW.ub_bytes
    # Events
    assert 2 <= config.num_l1_stages <= HW.pipe_events
    assert config.num_l0_stages == 2
    per_block = (config.block_m // config.mad_m) * (config.block_n // config.mad_n)
    assert per_block <= config.num_epilogue_stages <= HW.intra_block_events
    # Launch
    assert config.launch.num_blocks == desc.num_cores


def assert_patches_legal(desc: GemmDesc, config: GemmConfig) -> None:
    blocks = -(-desc.m // config.block_m) * -(-desc.n // config.block_n)
    if config.direct_store:
        assert desc.epilogue is EpilogueType.IDENTITY
        assert not desc.acc or desc.cd_dtype is DType.FP32
        assert desc.n % 16 == 0
        assert desc.major_a is Major.K or desc.m % 16 == 0
        assert desc.d_alignment == 32
        assert desc.pitch_d_bytes % 32 == 0
        assert blocks <= desc.num_cores or desc.m <= config.block_m
    if config.resident_a:
        assert "k" in desc.compiled_dims
        assert desc.m <= config.block_m
        assert config.num_l1_stages > 2
    if config.resident_b:
        assert "k" in desc.compiled_dims
        assert desc.n <= config.block_n == config.mad_n
        assert desc.k <= 2 * config.mad_k
        assert blocks > desc.num_cores
    keeps_d = config.hint_store is StoreHint.NORMAL_FIRST_VICTIM
    assert not keeps_d or desc.acc


@settings(max_examples=150, deadline=None)
@given(descriptions())
def test_every_configuration_is_legal(desc: GemmDesc) -> None:
    config = choose_config(desc)
    assert_legal(desc, config)
    assert_patches_legal(desc, config)
    assert modelled_ns(desc) >= 0


@settings(max_examples=25, deadline=None)
@given(descriptions(st.integers(1, 300)))
def test_pruning_changes_nothing(desc: GemmDesc) -> None:
    align = alignment_of(desc, HW)
    best, best_total = None, None
    for block in tiles(desc, align, HW):
        config = best_block_k(desc, HW, block, align)
        if config is None:
            continue
        total = block_cost(desc, HW, config).total
        if best_total is None or total <= best_total:
            best, best_total = config, total
    found = search(desc, HW)
    assert found is not None
    assert block_cost(desc, HW, found).total == best_total
    assert found == best


@settings(max_examples=60, deadline=None)
@given(descriptions())
def test_lower_bound_is_one(desc: GemmDesc) -> None:
    align = alignment_of(desc, HW)
    for index, block in enumerate(tiles(desc, align, HW)):
        config = best_block_k(desc, HW, block, align)
        if config is None or index % 7:
            continue
        whole = (*block, config.block_k)
        # A unit of slack: the parts are rounded down one by one
        assert lower_bound(desc, HW, whole) <= block_cost(desc, HW, config).total + 2


@settings(max_examples=60, deadline=None)
@given(descriptions())
def test_direct_store_is_taken_when_legal(desc: GemmDesc) -> None:
    config = choose_config(desc)
    assert config.direct_store == can_store_directly(desc, HW, config)


def test_the_search_is_memoised_and_pure() -> None:
    desc = GemmDesc(130, 257, 2048, DType.BF16, DType.BF16)
    assert choose_config(desc) is choose_config(dataclasses.replace(desc))
    choose_config.cache_clear()
    first = choose_config(desc)
    choose_config.cache_clear()
    assert choose_config(desc) == first


def test_hints_follow_the_grid() -> None:
    wide = choose_config(GemmDesc(1, 7168, 2048, DType.BF16, DType.BF16))
    tall = choose_config(GemmDesc(7168, 16, 2048, DType.BF16, DType.BF16))
    assert (wide.hint_a, wide.hint_b) == (LoadHint.NORMAL_FIRST_VICTIM, LoadHint.NOTALLOC_KEEP)
    assert (tall.hint_a, tall.hint_b) == (LoadHint.NOTALLOC_KEEP, LoadHint.NORMAL_FIRST_VICTIM)


def test_accumulation_over_many_waves_keeps_d_in_l2() -> None:
    desc = GemmDesc(4096, 7168, 16384, DType.BF16, DType.FP32, acc=True)
    assert choose_config(desc).hint_store is StoreHint.NORMAL_FIRST_VICTIM
    assert (
        choose_config(dataclasses.replace(desc, acc=False)).hint_store is StoreHint.NOTALLOC_CLEAN
    )


def test_resident_a_for_a_wide_problem_with_small_k() -> None:
    desc = GemmDesc(64, 129280, 512, DType.BF16, DType.BF16)
    config = choose_config(desc)
    assert config.resident_a
    without = dataclasses.replace(desc, compiled_dims="n")
    assert not choose_config(without).resident_a
    assert modelled_ns(desc) <= modelled_ns(without)


def test_resident_b_for_a_tall_problem_with_small_k() -> None:
    config = choose_config(GemmDesc(40000, 64, 64, DType.BF16, DType.BF16))
    assert config.resident_b


def test_block_k_is_refined_only_for_a_compiled_k() -> None:
    desc = GemmDesc(1, 7168, 16384, DType.BF16, DType.BF16)
    assert choose_config(desc).block_k == 128
    assert choose_config(dataclasses.replace(desc, compiled_dims="n")).block_k == 256


def test_mad_k_fits_l0_and_divides_the_block() -> None:
    desc = GemmDesc(256, 256, 256, DType.BF16, DType.BF16)
    align = alignment_of(desc, HW)
    assert mad_k_of(desc, HW, (256, 128, 128), align) == 64
    assert mad_k_of(desc, HW, (16, 224, 128), align) == 64
    # 2 x 512 x 16 elements is half of L0A: 32 columns are too few to be worth a MAD
    assert mad_k_of(desc, HW, (512, 16, 128), align) == 0


def test_blocks_beyond_l0c_are_refused() -> None:
    desc = GemmDesc(512, 512, 512, DType.BF16, DType.BF16)
    assert build_config(desc, HW, (512, 256, 128)) is None
    assert build_config(desc, HW, (256, 256, 120)) is None


def test_covered_bytes_counts_sectors() -> None:
    # Aligned pieces of whole sectors cost what they hold
    assert covered_bytes(1024, 1024, 256, 4, 128) == 1024
    # 448-byte pieces of an aligned 14336-byte row: every second border splits a sector
    assert covered_bytes(14336, 14336, 448, 32, 128) == 14336 + 16 * 128
    # Rows at any 32-byte phase touch one sector more than they fill, on average
    assert covered_bytes(128, 160, 128, 1, 128) == 128 + 128 - 32


def test_covered_bytes_matches_a_count() -> None:
    for row, pitch, block in [(300, 300, 100), (512, 544, 128), (96, 96, 32), (640, 704, 160)]:
        blocks = -(-row // block)
        phases = 128
        total = 0
        for line in range(phases):
            begin = line * pitch
            for index in range(blocks):
                low = begin + index * block
                high = min(begin + row, low + block) - 1
                total += (high // 128 - low // 128 + 1) * 128
        mean = total / phases
        # The formula assumes whole blocks of `block` bytes; a short last one costs less
        assert mean <= covered_bytes(row, pitch, block, blocks, 128) <= mean + 128 * blocks


def test_short_last_row_blocks_cost_less() -> None:
    full = GemmDesc(512, 32 * 256, 4096, DType.BF16, DType.BF16)
    short = dataclasses.replace(full, m=257)
    config = build_config(full, HW, (256, 256, 128))
    assert config is not None
    assert grid_of(full, (256, 256, 128)).waves == grid_of(short, (256, 256, 128)).waves == 2
    assert block_cost(short, HW, config).compute < block_cost(full, HW, config).compute


def test_direct_store_overlaps_its_two_costs() -> None:
    desc = GemmDesc(128, 7168, 2048, DType.BF16, DType.BF16)
    config = choose_config(desc)
    assert config.direct_store
    staged = dataclasses.replace(config, direct_store=False)
    assert output_cost(desc, HW, config) < output_cost(desc, HW, staged)
    assert refined_cost(desc, HW, config) < refined_cost(desc, HW, staged)


def test_printed_forms() -> None:
    desc = GemmDesc(4096, 7168, 16384, DType.BF16, DType.BF16)
    assert str(desc) == (
        "GemmDesc(m=4096, n=7168, k=16384, cd_dtype=BFloat16, major_a=K, major_b=K, acc=false, "
        "epilogue_type=Identity, compiled_dims='nk', gemm_type=Normal)"
    )
    assert str(choose_config(desc)) == (
        "GemmConfig(block=256x256x128, mad=256x128x64, l1_stages=4, l0_stages=2, epi_stages=4, "
        "l1_sf_stages=0, sf_k_blocks=0, "
        "l2_ctrl=NORMAL_FIRST_VICTIM/NORMAL_FIRST_VICTIM/NOTALLOC_CLEAN, direct_store=false, "
        "resident=false/false/false, dual_aiv_dequant=false, "
        "launch_options=LaunchOptions(num_blocks=32, num_ubuf_bytes=0))"
    )
