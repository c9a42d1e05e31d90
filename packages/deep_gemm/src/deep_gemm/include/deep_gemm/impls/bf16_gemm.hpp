// D[M, N] (+)= A[M, K] * B[N, K]^T in bf16 with fp32 accumulation (deep_gemm.md sections 3.9, 4.2, 4.3).
// One persistent kernel over the AI cores. Cube cores load, multiply and drain; without direct store, vector core 1
// finishes each tile in UB and writes it.
#ifndef DEEP_GEMM_IMPLS_BF16_GEMM_HPP_
#define DEEP_GEMM_IMPLS_BF16_GEMM_HPP_

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
          uint32_t kNumL1Stages, uint32_t kNumL0Stages, uint32_t kNumEpilogueStages,
          uint32_t kNumCores,
          asc_load_l2_cache_mode kLoadHintA, asc_load_l2_cache_mode kLoadHintB,
          asc_store_l2_cache_mode kStoreHint,
          bool kAccumulate, GemmType kGemmType,
          class cd_t, class Epilogue,
          uint32_t kGroupAlignment,
          bool kDirectStore, bool kResidentA, bool kResidentB>
struct Bf16Gemm {
    using ab_t = bfloat16_t;
    using gm_a = mad::gm_ptr<ab_t, kMajorA>;
    using gm_b = mad::gm_ptr<ab_t, kMajorB>;
    using gm_d = mad::gm_ptr<cd_t>;
    using Scheduler = TileScheduler<BLOCK_M, BLOCK_N, kNumCores>;
    using Ring = TileRing<MAD_M, MAD_N, kNumEpilogueStages, typename Epilogue::template ub_t<cd_t>>;
    using Pipeline = CubePipeline<ab_t, BLOCK_M, BLOCK_N, MAD_M, MAD_N, MAD_K, kDirectStore, Ring, gm_d>;

    // Static checks
    static_assert(kGemmType == GemmType::Normal, "this kernel computes one dense GEMM; grouped forms have others");
    static_assert(BLOCK_K % MAD_K == 0, "a K block is cut into whole MADs; choose a MAD_K that divides it");
    static_assert(MAD_M % 16 == 0 && MAD_N % 16 == 0 && MAD_K % 16 == 0, "bf16 fractals are 16 x 16");
    static_assert(kNumL0Stages == Pipeline::kNumL0Stages, "L0 is double buffered");
    static_assert(kNumL1Stages >= 2 && kNumL1Stages <= 8, "L1 stages are event ids 0..7");
    static_assert(!kDirectStore || !Epilogue::kTransforms, "a direct store passes no vector core");
    static_assert(!kDirectStore || !kAccumulate || std::is_same_v<cd_t, float>,
                  "the way out of L0C adds in fp32 only");
    static_assert(!kResidentA || SHAPE_K != 0, "the resident panel of A needs K at compile time");
    static_assert(!kResidentB || (BLOCK_N == MAD_N && SHAPE_K != 0 && SHAPE_K <= kNumL0Stages * MAD_K),
                  "the resident B must fit into the L0B stages");

    // L1 map: A stages (or the resident panel of A), then B stages
    static constexpr uint32_t kTileBytesA = BLOCK_M * BLOCK_K * sizeof(ab_t);
    static constexpr uint32_t kTileBytesB = BLOCK_N * BLOCK_K * sizeof(ab_t);
    static constexpr uint32_t kPanelBytesA = BLOCK_M * ((SHAPE_K + 15) / 16 * 16) * sizeof(ab_t);
    static constexpr uint32_t kBytesA = kResidentA ? kPanelBytesA : kNumL1Stages * kTileBytesA;
    static constexpr mad::l1_ptr<ab_t, kMajorA> l1_a{0, BLOCK_M, BLOCK_K};
    static constexpr mad::l1_ptr<ab_t, kMajorB> l1_b{kBytesA, BLOCK_N, BLOCK_K};
    static_assert(kBytesA + kNumL1Stages * kTileBytesB <= ASC_L1_SIZE, "operand stages exceed L1");

    // Events
    static constexpr mad::PipeEvent<PIPE_MTE1, PIPE_MTE2> l1_empty{0};
    static constexpr mad::PipeEvent<PIPE_MTE2, PIPE_MTE1> l1_full{0};

    gm_a a;
    gm_b b;
    gm_d d;
    uint32_t shape_m, shape_n, shape_k;
    EpilogueArgs epilogue;

    // Cube core
    __aicore__ void run_cube() const {
        // Post every slot as empty
        Pipeline pipeline;
        mad::notify_all<kNumL1Stages>(l1_empty);
        pipeline.begin();
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_add_float();

        uint32_t stage = 0;
        bool resident = false;    // what kResidentA and kResidentB keep has been loaded
        const uint32_t num_k_blocks = mad::ceil_div(shape_k, BLOCK_K);
        Scheduler scheduler(shape_m, shape_n, block_idx);
        for (Tile tile; scheduler.next(tile); resident = true)
            for (uint32_t kb = 0; kb < num_k_blocks; ++kb) {
                const uint32_t k_idx = kb * BLOCK_K, k_size = mad::min_of(shape_k - k_idx, BLOCK_K);
                const auto tile_a = kResidentA ? panel_a(kb) : l1_a[stage];
                const auto tile_b = l1_b[stage];
                const bool load_a = !(kResidentA && resident), load_b = !(kResidentB && resident);

                // Load A and B into this slot
                mad::wait(l1_empty, stage);
                if (load_a) mad::copy_gm_to_l1(tile_a, a.index(tile.m_idx, k_idx), tile.m_size, k_size, kLoadHintA);
                if (load_b) mad::copy_gm_to_l1(tile_b, b.index(tile.n_idx, k_idx), tile.n_size, k_size, kLoadHintB);
                mad::notify(l1_full, stage);

                // Multiply; after the last K block, drain
                mad::wait(l1_full, stage);
                pipeline.multiply(
                    tile, {k_size, kb == 0, kb + 1 == num_k_blocks}, d, kStoreHint,
                    [&](auto l0, OperandPart p) { mad::copy_l1_to_l0a(l0, tile_a, p.mn_off, p.k_off, p.mn, p.k); },
                    [&](auto l0, OperandPart p) {
                        if (load_b) mad::copy_l1_to_l0b(l0, tile_b, p.mn_off, p.k_off, p.mn, p.k);
                    },
                    [](auto...) {});

                // Hand the slot back
                mad::notify(l1_empty, stage);
                stage = (stage + 1) % kNumL1Stages;
            }

        // Collect the credits, so that no flag is left set
        mad::wait_all<kNumL1Stages>(l1_empty);
        pipeline.end();
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_none();
    }

    // K block `kb` of the resident panel of A: as wide as what is left of K.
    static __aicore__ mad::l1_ptr<ab_t, kMajorA> panel_a(uint32_t kb) {
        const uint32_t k_left = mad::align_up(SHAPE_K, 16) - kb * BLOCK_K;
        return {kb * kTileBytesA, BLOCK_M, mad::min_of(k_left, BLOCK_K)};
    }

    // Vector core 1
    __aicore__ void run_vector() const {
        run_epilogue<MAD_M, MAD_N, kAccumulate, cd_t, Epilogue, Ring>(
            d, Scheduler(shape_m, shape_n, block_idx), epilogue, kStoreHint);
    }
};

// Template list, launch arguments: the same order in kernels/bf16_gemm.py.
#define DEEP_GEMM_BF16_TEMPLATE                                                                 \
    template <mad::Major kMajorA, mad::Major kMajorB,                                           \
              uint32_t SHAPE_M, uint32_t SHAPE_N, uint32_t SHAPE_K,                             \
              uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K,                             \
              uint32_t MAD_M, uint32_t MAD_N, uint32_t MAD_K,                                   \
              uint32_t kNumL1Stages, uint32_t kNumL0Stages, uint32_t kNumEpilogueStages,        \
              uint32_t kNumCores,                                                               \
              asc_load_l2_cache_mode kLoadHintA, asc_load_l2_cache_mode kLoadHintB,             \
              asc_store_l2_cache_mode kStoreHint,                                               \
              bool kAccumulate, GemmType kGemmType,                                             \
              class cd_t, class Epilogue,                                                       \
              uint32_t kGroupAlignment,                                                         \
              bool kDirectStore, bool kResidentA, bool kResidentB>
#define DEEP_GEMM_BF16_GEMM                                                                     \
    Bf16Gemm<kMajorA, kMajorB, SHAPE_M, SHAPE_N, SHAPE_K, BLOCK_M, BLOCK_N, BLOCK_K,            \
             MAD_M, MAD_N, MAD_K, kNumL1Stages, kNumL0Stages, kNumEpilogueStages, kNumCores,    \
             kLoadHintA, kLoadHintB, kStoreHint, kAccumulate, kGemmType, cd_t, Epilogue,        \
             kGroupAlignment, kDirectStore, kResidentA, kResidentB>

// Cube cores and vector core 1.
DEEP_GEMM_BF16_TEMPLATE
__global__ __mix__(1, 2) void bf16_gemm_impl(mad::gm_ptr<bfloat16_t, kMajorA> a,
                                             mad::gm_ptr<bfloat16_t, kMajorB> b, mad::gm_ptr<cd_t> d,
                                             uint32_t shape_m, uint32_t shape_n, uint32_t shape_k,
                                             [[maybe_unused]] __gm__ int32_t* grouped_layout,
                                             [[maybe_unused]] uint32_t num_groups,
                                             EpilogueArgs epilogue) {
    static_assert(!kDirectStore, "a direct store has no vector cores: instantiate bf16_gemm_impl_direct_store");
    asc_init();
    const DEEP_GEMM_BF16_GEMM gemm{a, b, d, SHAPE_M ? SHAPE_M : shape_m, SHAPE_N ? SHAPE_N : shape_n,
                                   SHAPE_K ? SHAPE_K : shape_k, epilogue};
    if ASC_IS_AIC {
        gemm.run_cube();
    }
    if ASC_IS_AIV {
        if (asc_get_sub_block_id() == 1) gemm.run_vector();
    }
}

// Cube cores alone: results go from L0C to GM.
DEEP_GEMM_BF16_TEMPLATE
__global__ __mix__(1, 0) void bf16_gemm_impl_direct_store(mad::gm_ptr<bfloat16_t, kMajorA> a,
                                                          mad::gm_ptr<bfloat16_t, kMajorB> b,
                                                          mad::gm_ptr<cd_t> d,
                                                          uint32_t shape_m, uint32_t shape_n, uint32_t shape_k,
                                                          [[maybe_unused]] __gm__ int32_t* grouped_layout,
                                                          [[maybe_unused]] uint32_t num_groups,
                                                          EpilogueArgs epilogue) {
    static_assert(kDirectStore, "this form has no vector cores: instantiate bf16_gemm_impl for an epilogue");
    asc_init();
    const DEEP_GEMM_BF16_GEMM gemm{a, b, d, SHAPE_M ? SHAPE_M : shape_m, SHAPE_N ? SHAPE_N : shape_n,
                                   SHAPE_K ? SHAPE_K : shape_k, epilogue};
    if ASC_IS_AIC {
        gemm.run_cube();
    }
}

}  // namespace deep_gemm

#endif  // DEEP_GEMM_IMPLS_BF16_GEMM_HPP_
