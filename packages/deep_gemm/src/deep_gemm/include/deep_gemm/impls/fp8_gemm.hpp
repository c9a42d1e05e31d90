// D[M, N] (+)= A[M, K] * B[N, K]^T for MX operands (fp8 or packed fp4 with one UE8M0 scale per 32 K elements), fp32
// accumulation (deep_gemm.md sections 2.2, 2.3, 3.9, 4.2). One persistent kernel over the AI cores, as bf16_gemm.hpp;
// in addition scale factors travel in chunks of several K blocks.
#ifndef DEEP_GEMM_IMPLS_FP8_GEMM_HPP_
#define DEEP_GEMM_IMPLS_FP8_GEMM_HPP_

#include "deep_gemm/common/cube_pipeline.hpp"
#include "deep_gemm/common/types.hpp"
#include "deep_gemm/epilogue/operators.hpp"
#include "deep_gemm/epilogue/tile_ring.hpp"
#include "deep_gemm/scheduler/tile_scheduler.hpp"

namespace deep_gemm {

template <mad::Major kMajorA, mad::Major kMajorB,
          uint32_t SHAPE_M, uint32_t SHAPE_N, uint32_t SHAPE_K,
          uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K,
          uint32_t MAD_M, uint32_t MAD_N, uint32_t MAD_K,
          uint32_t kNumL1Stages, uint32_t kNumL0Stages,
          uint32_t kSfKBlocks, uint32_t kNumSfStages,
          uint32_t kNumEpilogueStages,
          uint32_t kNumCores,
          asc_load_l2_cache_mode kLoadHintA, asc_load_l2_cache_mode kLoadHintB,
          asc_store_l2_cache_mode kStoreHint,
          bool kAccumulate, GemmType kGemmType,
          class ab_t, class cd_t, class Epilogue,
          uint32_t kGroupAlignment,
          bool kDirectStore, bool kSingleMBlock>
struct Fp8Gemm {
    using gm_a = mad::gm_ptr<ab_t, kMajorA>;
    using gm_b = mad::gm_ptr<ab_t, kMajorB>;
    using gm_sf = mad::gm_ptr<int16_t, mad::Major::MN>;
    using gm_d = mad::gm_ptr<cd_t>;
    using Scheduler = TileScheduler<BLOCK_M, BLOCK_N, kNumCores>;
    using Ring = TileRing<MAD_M, MAD_N, kNumEpilogueStages, typename Epilogue::template ub_t<cd_t>>;
    using Pipeline = CubePipeline<ab_t, BLOCK_M, BLOCK_N, MAD_M, MAD_N, MAD_K, kDirectStore, Ring, gm_d>;

    // Static checks
    static constexpr uint32_t kPairK = 64;    // K elements behind one int16 of scales
    static_assert(kGemmType == GemmType::Normal, "this kernel computes one dense GEMM; grouped forms have others");
    static_assert(kMajorA == mad::Major::K && kMajorB == mad::Major::K,
                  "MX operands are K-major here; pass A as [M, K] and B as [N, K] with the last axis contiguous");
    static_assert(sizeof(ab_t) == 1, "ab_t is an fp8 type or a packed fp4 type");
    static_assert(BLOCK_K % MAD_K == 0 && MAD_K % kPairK == 0, "K is cut into whole MADs of whole scale pairs");
    static_assert(MAD_M % 16 == 0 && MAD_N % 16 == 0, "fractals have 16 rows");
    static_assert(kNumL0Stages == Pipeline::kNumL0Stages, "L0 is double buffered");
    static_assert(kNumL1Stages >= 2 && kNumL1Stages + kNumSfStages <= 8, "L1 and scale stages share event ids 0..7");
    static_assert(!kDirectStore || !Epilogue::kTransforms, "a direct store passes no vector core");
    static_assert(!kDirectStore || !kAccumulate || std::is_same_v<cd_t, float>,
                  "the way out of L0C adds in fp32 only");

    // L1 map: A stages, B stages, SFA stages, SFB stages
    static constexpr uint32_t kTileBytesA = BLOCK_M * BLOCK_K / mad::kPack<ab_t>;
    static constexpr uint32_t kTileBytesB = BLOCK_N * BLOCK_K / mad::kPack<ab_t>;
    static constexpr uint32_t kChunkPairs = kSfKBlocks * BLOCK_K / kPairK;
    static constexpr uint32_t kSfOffsetA = kNumL1Stages * (kTileBytesA + kTileBytesB);
    static constexpr uint32_t kSfOffsetB = kSfOffsetA + kNumSfStages * BLOCK_M * kChunkPairs * 2;
    static constexpr mad::l1_ptr<ab_t, kMajorA> l1_a{0, BLOCK_M, BLOCK_K};
    static constexpr mad::l1_ptr<ab_t, kMajorB> l1_b{kNumL1Stages * kTileBytesA, BLOCK_N, BLOCK_K};
    static constexpr mad::l1_sf_ptr l1_sfa{kSfOffsetA, BLOCK_M, kChunkPairs};
    static constexpr mad::l1_sf_ptr l1_sfb{kSfOffsetB, BLOCK_N, kChunkPairs};
    static_assert(kSfOffsetB + kNumSfStages * BLOCK_N * kChunkPairs * 2 <= ASC_L1_SIZE, "operand stages exceed L1");

    // Events
    static constexpr mad::PipeEvent<PIPE_MTE1, PIPE_MTE2> l1_empty{0}, sf_empty{kNumL1Stages};
    static constexpr mad::PipeEvent<PIPE_MTE2, PIPE_MTE1> l1_full{0}, sf_full{kNumL1Stages};

    gm_a a;
    gm_b b;
    gm_sf sfa, sfb;
    gm_d d;
    uint32_t shape_m, shape_n, shape_k;
    EpilogueArgs epilogue;

    // Cube core
    __aicore__ void run_cube() const {
        // Post every slot as empty
        Pipeline pipeline;
        asc_set_mmad_direction_n();
        mad::notify_all<kNumL1Stages>(l1_empty);
        mad::notify_all<kNumSfStages>(sf_empty);
        pipeline.begin();
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_add_float();

        uint32_t stage = 0, sf_stage = 0;
        const uint32_t num_k_blocks = mad::ceil_div(shape_k, BLOCK_K);
        Scheduler scheduler(shape_m, shape_n, block_idx);
        for (Tile tile; scheduler.next(tile);)
            for (uint32_t kb = 0; kb < num_k_blocks; ++kb) {
                const uint32_t k_idx = kb * BLOCK_K, k_size = mad::min_of(shape_k - k_idx, BLOCK_K);
                const uint32_t k_padded = mad::align_up(k_size, kPairK);
                const uint32_t chunk_kb = kb % kSfKBlocks;
                const bool last = kb + 1 == num_k_blocks;

                // Load A and B into this slot
                mad::wait(l1_empty, stage);
                load_operand(l1_a[stage], a.index(tile.m_idx, k_idx), tile.m_size, k_size, k_padded, kLoadHintA);
                load_operand(l1_b[stage], b.index(tile.n_idx, k_idx), tile.n_size, k_size, k_padded, kLoadHintB);
                mad::notify(l1_full, stage);

                // Load the scales of the next K blocks
                if (chunk_kb == 0) load_scales(sf_stage, tile, k_idx);

                // Multiply; after the last K block, drain
                mad::wait(l1_full, stage);
                if (chunk_kb == 0) mad::wait(sf_full, sf_stage);
                const uint32_t first_pair = chunk_kb * BLOCK_K / kPairK;
                pipeline.multiply(
                    tile, {k_padded, kb == 0, last}, d, kStoreHint,
                    [&](auto l0, OperandPart p) { mad::copy_l1_to_l0a(l0, l1_a[stage], p.mn_off, p.k_off, p.mn, p.k); },
                    [&](auto l0, OperandPart p) { mad::copy_l1_to_l0b(l0, l1_b[stage], p.mn_off, p.k_off, p.mn, p.k); },
                    [&](auto l0_a, auto l0_b, OperandPart pa, OperandPart pb, bool new_a, bool new_b) {
                        const uint32_t pair = first_pair + pa.k_off / kPairK, pairs = pa.k / kPairK;
                        if (new_a) mad::copy_l1_to_l0a_mx(l0_a.addr, l1_sfa[sf_stage], pa.mn_off, pair, pa.mn, pairs);
                        if (new_b) mad::copy_l1_to_l0b_mx(l0_b.addr, l1_sfb[sf_stage], pb.mn_off, pair, pb.mn, pairs);
                    });

                // Hand the slots back
                mad::notify(l1_empty, stage);
                stage = (stage + 1) % kNumL1Stages;
                if (chunk_kb + 1 == kSfKBlocks || last) {
                    mad::notify(sf_empty, sf_stage);
                    sf_stage = (sf_stage + 1) % kNumSfStages;
                }
            }

        // Collect the credits, so that no flag is left set
        mad::wait_all<kNumL1Stages>(l1_empty);
        mad::wait_all<kNumSfStages>(sf_empty);
        pipeline.end();
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_none();
    }

    // NOTE: MX instructions multiply whole scale pairs, so K is filled up with zeros to a multiple of 64.
    template <class L1, class Gm>
    static __aicore__ void load_operand(L1 dst, Gm src, uint32_t mn, uint32_t k, uint32_t k_padded,
                                        asc_load_l2_cache_mode hint) {
        if (k != k_padded) mad::fill_k_tail(dst, k, k_padded);
        mad::copy_gm_to_l1(dst, src, mn, k, hint);
    }

    // Scales of the kSfKBlocks K blocks from k_idx on.
    __aicore__ void load_scales(uint32_t sf_stage, const Tile& tile, uint32_t k_idx) const {
        const uint32_t pair = k_idx / kPairK;
        const uint32_t pairs = mad::min_of(mad::ceil_div(shape_k, kPairK) - pair, kChunkPairs);
        mad::wait(sf_empty, sf_stage);
        mad::copy_gm_to_l1_mx(l1_sfa[sf_stage], sfa.index(tile.m_idx, pair), tile.m_size, pairs,
                              asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM);
        mad::copy_gm_to_l1_mx(l1_sfb[sf_stage], sfb.index(tile.n_idx, pair), tile.n_size, pairs,
                              asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM);
        mad::notify(sf_full, sf_stage);
    }

    // Vector core 1
    __aicore__ void run_vector() const {
        run_epilogue<MAD_M, MAD_N, kAccumulate, cd_t, Epilogue, Ring>(d, Scheduler(shape_m, shape_n, block_idx),
                                                                      epilogue, kStoreHint);
    }
};

// Template list, launch arguments: the same order in kernels/fp8_gemm.py.
#define DEEP_GEMM_FP8_TEMPLATE                                                                  \
    template <mad::Major kMajorA, mad::Major kMajorB,                                           \
              uint32_t SHAPE_M, uint32_t SHAPE_N, uint32_t SHAPE_K,                             \
              uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K,                             \
              uint32_t MAD_M, uint32_t MAD_N, uint32_t MAD_K,                                   \
              uint32_t kNumL1Stages, uint32_t kNumL0Stages,                                     \
              uint32_t kSfKBlocks, uint32_t kNumSfStages,                                       \
              uint32_t kNumEpilogueStages,                                                      \
              uint32_t kNumCores,                                                               \
              asc_load_l2_cache_mode kLoadHintA, asc_load_l2_cache_mode kLoadHintB,             \
              asc_store_l2_cache_mode kStoreHint,                                               \
              bool kAccumulate, GemmType kGemmType,                                             \
              class ab_t, class cd_t, class Epilogue,                                           \
              uint32_t kGroupAlignment,                                                         \
              bool kDirectStore, bool kSingleMBlock>
#define DEEP_GEMM_FP8_GEMM                                                                      \
    Fp8Gemm<kMajorA, kMajorB, SHAPE_M, SHAPE_N, SHAPE_K, BLOCK_M, BLOCK_N, BLOCK_K,             \
            MAD_M, MAD_N, MAD_K, kNumL1Stages, kNumL0Stages, kSfKBlocks, kNumSfStages,          \
            kNumEpilogueStages, kNumCores, kLoadHintA, kLoadHintB, kStoreHint, kAccumulate,     \
            kGemmType, ab_t, cd_t, Epilogue, kGroupAlignment, kDirectStore, kSingleMBlock>
#define DEEP_GEMM_FP8_PARAMETERS                                                                \
    mad::gm_ptr<ab_t, kMajorA> a, mad::gm_ptr<ab_t, kMajorB> b,                                 \
        mad::gm_ptr<int16_t, mad::Major::MN> sfa, mad::gm_ptr<int16_t, mad::Major::MN> sfb,     \
        mad::gm_ptr<cd_t> d, uint32_t shape_m, uint32_t shape_n, uint32_t shape_k,              \
        [[maybe_unused]] __gm__ int32_t* grouped_layout, [[maybe_unused]] uint32_t num_groups,  \
        EpilogueArgs epilogue

// Cube cores and vector core 1.
DEEP_GEMM_FP8_TEMPLATE
__global__ __mix__(1, 2) void fp8_gemm_impl(DEEP_GEMM_FP8_PARAMETERS) {
    static_assert(!kDirectStore, "a direct store has no vector cores: instantiate fp8_gemm_impl_direct_store");
    asc_init();
    const DEEP_GEMM_FP8_GEMM gemm{a, b, sfa, sfb, d, SHAPE_M ? SHAPE_M : shape_m, SHAPE_N ? SHAPE_N : shape_n,
                                  SHAPE_K ? SHAPE_K : shape_k, epilogue};
    if ASC_IS_AIC {
        gemm.run_cube();
    }
    if ASC_IS_AIV {
        if (asc_get_sub_block_id() == 1) gemm.run_vector();
    }
}

// Cube cores alone: results go from L0C to GM.
DEEP_GEMM_FP8_TEMPLATE
__global__ __mix__(1, 0) void fp8_gemm_impl_direct_store(DEEP_GEMM_FP8_PARAMETERS) {
    static_assert(kDirectStore, "this form has no vector cores: instantiate fp8_gemm_impl for an epilogue");
    asc_init();
    const DEEP_GEMM_FP8_GEMM gemm{a, b, sfa, sfb, d, SHAPE_M ? SHAPE_M : shape_m, SHAPE_N ? SHAPE_N : shape_n,
                                  SHAPE_K ? SHAPE_K : shape_k, epilogue};
    if ASC_IS_AIC {
        gemm.run_cube();
    }
}

}  // namespace deep_gemm

#endif  // DEEP_GEMM_IMPLS_FP8_GEMM_HPP_
