// D[M, N] (+)= A[M, K] * B[N, K]^T in bf16 with fp32 accumulation (deep_gemm.md sections 3.9, 4.2, 4.3).
// One persistent kernel over the AI cores. Cube cores load, multiply and drain; without direct store, vector core 1
// finishes each tile in UB and writes it.
#ifndef DEEP_GEMM_IMPLS_BF16_GEMM_HPP_
#define DEEP_GEMM_IMPLS_BF16_GEMM_HPP_

#include "deep_gemm/common/types.hpp"
#include "deep_gemm/epilogue/operators.hpp"
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
    using ub_t = typename Epilogue::template ub_t<cd_t>;
    using gm_a = mad::gm_ptr<ab_t, kMajorA>;
    using gm_b = mad::gm_ptr<ab_t, kMajorB>;
    using gm_d = mad::gm_ptr<cd_t>;
    using Scheduler = TileScheduler<BLOCK_M, BLOCK_N, kNumCores>;

    // Static checks
    static constexpr uint32_t kMadsM = BLOCK_M / MAD_M, kMadsN = BLOCK_N / MAD_N, kMadsK = BLOCK_K / MAD_K;
    static constexpr uint32_t kNumMads = kMadsM * kMadsN;
    static_assert(kGemmType == GemmType::Normal, "this kernel computes one dense GEMM; grouped forms have others");
    static_assert(BLOCK_M % MAD_M == 0 && BLOCK_N % MAD_N == 0 && BLOCK_K % MAD_K == 0,
                  "a block is cut into whole MADs; choose MAD sizes that divide it");
    static_assert(MAD_M % 16 == 0 && MAD_N % 16 == 0 && MAD_K % 16 == 0, "bf16 fractals are 16 x 16");
    static_assert(BLOCK_M * BLOCK_N * sizeof(float) <= ASC_L0C_SIZE, "the block's accumulators exceed L0C");
    static_assert(kNumL0Stages == 2, "L0 is double buffered");
    static_assert(MAD_M * MAD_K * sizeof(ab_t) * kNumL0Stages <= ASC_L0A_SIZE, "A tiles exceed L0A");
    static_assert(MAD_N * MAD_K * sizeof(ab_t) * kNumL0Stages <= ASC_L0B_SIZE, "B tiles exceed L0B");
    static_assert(kNumL1Stages >= 2 && kNumL1Stages <= 8, "L1 stages are event ids 0..7");
    static_assert(kDirectStore || (kNumEpilogueStages >= 1 && kNumEpilogueStages <= 16),
                  "epilogue stages are intra-block ids 0..15");
    static_assert(!kDirectStore || !Epilogue::kTransforms, "a direct store passes no vector core");
    static_assert(!kDirectStore || !kAccumulate || std::is_same_v<cd_t, float>,
                  "the way out of L0C adds in fp32 only");
    static_assert(!kResidentA || SHAPE_K != 0, "the resident panel of A needs K at compile time");
    static_assert(!kResidentB || (kMadsN == 1 && SHAPE_K != 0 && SHAPE_K <= kNumL0Stages * MAD_K),
                  "the resident B must fit into the L0B stages");
    static_assert(BLOCK_M * BLOCK_N == 0 || kNumMads <= 2, "a block has one or two result tiles");

    // L1 map: A stages (or the resident panel of A), then B stages
    static constexpr uint32_t kTileBytesA = BLOCK_M * BLOCK_K * sizeof(ab_t);
    static constexpr uint32_t kTileBytesB = BLOCK_N * BLOCK_K * sizeof(ab_t);
    static constexpr uint32_t kResidentK = kResidentA ? (SHAPE_K + BLOCK_K - 1) / BLOCK_K * BLOCK_K : 0;
    static constexpr uint32_t kBytesA =
        kResidentA ? BLOCK_M * ((SHAPE_K + 15) / 16 * 16) * sizeof(ab_t) : kNumL1Stages * kTileBytesA;
    static constexpr mad::l1_ptr<ab_t, kMajorA> l1_a{0, BLOCK_M, BLOCK_K};
    static constexpr mad::l1_ptr<ab_t, kMajorB> l1_b{kBytesA, BLOCK_N, BLOCK_K};
    static_assert(kBytesA + kNumL1Stages * kTileBytesB <= ASC_L1_SIZE, "operand stages exceed L1");

    // UB map: result tiles
    static constexpr mad::ub_ptr<ub_t> ub_d{0, MAD_M, MAD_N};
    static_assert(kDirectStore || kNumEpilogueStages * MAD_M * MAD_N * sizeof(ub_t) <= 256 * 1024,
                  "epilogue stages exceed UB");

    // Events
    static constexpr mad::PipeEvent<PIPE_MTE1, PIPE_MTE2> l1_empty{0};
    static constexpr mad::PipeEvent<PIPE_MTE2, PIPE_MTE1> l1_full{0};
    static constexpr mad::PipeEvent<PIPE_M, PIPE_MTE1> l0_empty{0};
    static constexpr mad::PipeEvent<PIPE_MTE1, PIPE_M> l0_full{0};
    static constexpr mad::PipeEvent<PIPE_V, PIPE_MTE3> transformed{0};
    static constexpr mad::IntraBlockEvent<1> ub_full{0}, ub_empty{0};

    gm_a a;
    gm_b b;
    gm_d d;
    uint32_t shape_m, shape_n, shape_k;
    EpilogueArgs epilogue;

    __aicore__ uint32_t num_k_blocks() const { return mad::ceil_div(shape_k, BLOCK_K); }

    // ------------------------------------------------------------------------------------------------
    // Cube core
    // ------------------------------------------------------------------------------------------------
    struct CubeState {
        uint32_t l1_stage = 0;        // ring of L1 slots
        uint32_t l0_stage = 0;        // L0 slots in turn
        uint32_t ub_stage = 0;        // ring of UB tiles of the vector core
        bool a_resident = false;      // the panel of A is in L1
        bool b_resident = false;      // B is in L0B
    };

    __aicore__ void run_cube() const {
        // Post every slot as empty
        mad::notify_all<kNumL1Stages>(l1_empty);
        mad::notify_all<kNumL0Stages>(l0_empty);
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_add_float();

        CubeState state;
        Scheduler scheduler(shape_m, shape_n, block_idx);
        for (Tile tile; scheduler.next(tile);)
            for (uint32_t kb = 0; kb < num_k_blocks(); ++kb) compute_k_block(state, tile, kb);

        // Collect the credits, so that no flag is left set
        mad::wait_all<kNumL1Stages>(l1_empty);
        mad::wait_all<kNumL0Stages>(l0_empty);
        if constexpr (!kDirectStore)
            for (uint32_t i = 0; i < kNumEpilogueStages; ++i) mad::wait_intra_block<PIPE_FIX>(ub_empty, i);
        if constexpr (kDirectStore && kAccumulate) asc_set_atomic_none();
    }

    // One K block of one tile: GM -> L1 -> L0 -> accumulate; after the last one, drain the result.
    __aicore__ void compute_k_block(CubeState& state, const Tile& tile, uint32_t kb) const {
        const uint32_t k_idx = kb * BLOCK_K;
        const uint32_t k_size = mad::min_of(shape_k - k_idx, BLOCK_K);
        const bool last_k_block = kb + 1 == num_k_blocks();
        const uint32_t stage = state.l1_stage;

        // Load A and B into this slot
        mad::wait(l1_empty, stage);
        const bool load_b = !(kResidentB && state.b_resident);
        if constexpr (!kResidentA) mad::copy_gm_to_l1(l1_a[stage], a.index(tile.m_idx, k_idx), tile.m_size, k_size, kLoadHintA);
        else if (!state.a_resident) mad::copy_gm_to_l1(panel_a(kb), a.index(0, k_idx), tile.m_size, k_size, kLoadHintA);
        if (load_b) mad::copy_gm_to_l1(l1_b[stage], b.index(tile.n_idx, k_idx), tile.n_size, k_size, kLoadHintB);
        mad::notify(l1_full, stage);

        // Multiply the block's MAD tiles
        mad::wait(l1_full, stage);
        const uint32_t num_mads_k = mad::ceil_div(k_size, MAD_K);
        const uint32_t first_l0_stage = state.l0_stage;
        uint32_t num_mads = 0;
        for (uint32_t mad_idx = 0; mad_idx < kNumMads; ++mad_idx) {
            const uint32_t m_off = mad_idx / kMadsN * MAD_M, n_off = mad_idx % kMadsN * MAD_N;
            if (m_off >= tile.m_size || n_off >= tile.n_size) continue;
            const uint32_t m = mad::min_of(tile.m_size - m_off, MAD_M);
            const uint32_t n = mad::min_of(tile.n_size - n_off, MAD_N);
            if (!kDirectStore && kb == 0) mad::wait_intra_block<PIPE_FIX>(ub_empty, ub_stage_of(state, mad_idx));
            // NOTE: with two MADs along K, each L0 slot holds the same K slice for both result tiles, so the operand
            // they share stays in L0.
            const bool shared = mad_idx > 0 && num_mads_k == kNumL0Stages;
            for (uint32_t km = 0; km < num_mads_k; ++km) {
                const uint32_t k_off = km * MAD_K;
                const uint32_t k = mad::min_of(k_size - k_off, MAD_K);
                const uint32_t slot = shared ? (first_l0_stage + km) % kNumL0Stages : state.l0_stage;
                const mad::l0a_ptr<ab_t> l0_a{slot * MAD_M * MAD_K * uint32_t(sizeof(ab_t)), mad::align_up(m, 16), MAD_K};
                const mad::l0b_ptr<ab_t> l0_b{slot * MAD_N * MAD_K * uint32_t(sizeof(ab_t)), mad::align_up(n, 16), MAD_K};

                mad::wait(l0_empty, slot);
                if (!(shared && kMadsN == 2)) {
                    if constexpr (kResidentA) mad::copy_l1_to_l0a(l0_a, panel_a(kb), m_off, k_off, m, k);
                    else mad::copy_l1_to_l0a(l0_a, l1_a[stage], m_off, k_off, m, k);
                }
                if (!(shared && kMadsM == 2) && load_b) mad::copy_l1_to_l0b(l0_b, l1_b[stage], n_off, k_off, n, k);
                mad::notify(l0_full, slot);

                mad::wait(l0_full, slot);
                const auto init = kb == 0 && km == 0 ? mad::Init::zero : mad::Init::accumulate;
                const auto l0c = l0c_tile(mad_idx).with_rows(m);
                const uint32_t n_padded = kDirectStore ? n : mad::align_up(n, 16);
                if (last_k_block && km + 1 == num_mads_k)
                    mad::mad<asc_unit_flag_mode::ENABLE_UPDATE>(l0c, l0_a, l0_b, m, n_padded, k, init);
                else
                    mad::mad<asc_unit_flag_mode::ENABLE_KEEP>(l0c, l0_a, l0_b, m, n_padded, k, init);
                mad::notify(l0_empty, slot);
                state.l0_stage = (slot + 1) % kNumL0Stages;
            }
            if (last_k_block) drain(state, tile, mad_idx, m_off, n_off, m, n);
            ++num_mads;
        }

        // Hand the slot back
        mad::notify(l1_empty, stage);
        state.l1_stage = (stage + 1) % kNumL1Stages;
        if (last_k_block) {
            if constexpr (!kDirectStore) state.ub_stage = (state.ub_stage + num_mads) % kNumEpilogueStages;
            state.a_resident = kResidentA;
            state.b_resident = kResidentB;
        }
    }

    // The result tile leaves L0C; the unit flag orders it behind the last mad(), block by block.
    __aicore__ void drain(const CubeState& state, const Tile& tile, uint32_t mad_idx, uint32_t m_off, uint32_t n_off,
                          uint32_t m, uint32_t n) const {
        const auto l0c = l0c_tile(mad_idx).with_rows(m);
        if constexpr (kDirectStore) {
            mad::copy_l0c_to_gm<asc_unit_flag_mode::ENABLE_UPDATE>(
                d.index(tile.m_idx + m_off, tile.n_idx + n_off), l0c, m, n, kStoreHint);
        } else {
            const uint32_t ub_stage = ub_stage_of(state, mad_idx);
            mad::copy_l0c_to_ub<asc_unit_flag_mode::ENABLE_UPDATE>(ub_d[ub_stage], l0c, m, n, 1);
            mad::notify_intra_block<PIPE_FIX>(ub_full, ub_stage);
        }
    }

    static __aicore__ mad::l0c_ptr<float> l0c_tile(uint32_t mad_idx) {
        return mad::l0c_ptr<float>{0, MAD_M, MAD_N}[mad_idx];
    }
    // UB tile of MAD i of the current block: they are taken in turn.
    static __aicore__ uint32_t ub_stage_of(const CubeState& state, uint32_t mad_idx) {
        return (state.ub_stage + mad_idx) % kNumEpilogueStages;
    }
    // K block `kb` of the resident panel of A: tiles as wide as what is left of K.
    static __aicore__ mad::l1_ptr<ab_t, kMajorA> panel_a(uint32_t kb) {
        const uint32_t k_left = (SHAPE_K + 15) / 16 * 16 - kb * BLOCK_K;
        return {kb * kTileBytesA, BLOCK_M, mad::min_of(k_left, BLOCK_K)};
    }

    // ------------------------------------------------------------------------------------------------
    // Vector core 1: the epilogue
    // ------------------------------------------------------------------------------------------------
    __aicore__ void run_epilogue() const {
        // Post every UB tile as empty
        for (uint32_t i = 0; i < kNumEpilogueStages; ++i) mad::notify_intra_block<PIPE_MTE3>(ub_empty, i);
        if constexpr (kAccumulate) {
            if constexpr (std::is_same_v<cd_t, float>) asc_set_atomic_add_float();
            else asc_set_atomic_add_bfloat();
        }

        uint32_t ub_stage = 0;
        Scheduler scheduler(shape_m, shape_n, block_idx);
        for (Tile tile; scheduler.next(tile);)
            for (uint32_t mad_idx = 0; mad_idx < kNumMads; ++mad_idx) {
                const uint32_t m_off = mad_idx / kMadsN * MAD_M, n_off = mad_idx % kMadsN * MAD_N;
                if (m_off >= tile.m_size || n_off >= tile.n_size) continue;
                const uint32_t m = mad::min_of(tile.m_size - m_off, MAD_M);
                const uint32_t n = mad::min_of(tile.n_size - n_off, MAD_N);
                finish_tile(ub_stage, d.index(tile.m_idx + m_off, tile.n_idx + n_off), m, n);
                ub_stage = (ub_stage + 1) % kNumEpilogueStages;
            }
        if constexpr (kAccumulate) asc_set_atomic_none();
    }

    // Transform one tile in UB and write it to D.
    __aicore__ void finish_tile(uint32_t ub_stage, gm_d out, uint32_t m, uint32_t n) const {
        if constexpr (Epilogue::kTransforms) {
            mad::wait_intra_block<PIPE_V>(ub_full, ub_stage);
            const auto tile = Epilogue::template apply<cd_t>(ub_d[ub_stage], m, epilogue);
            mad::notify(transformed, ub_stage % 8);
            mad::wait(transformed, ub_stage % 8);
            mad::copy_ub_to_gm(out, tile, m, n, kStoreHint);
        } else {
            mad::wait_intra_block<PIPE_MTE3>(ub_full, ub_stage);
            mad::copy_ub_to_gm(out, ub_d[ub_stage], m, n, kStoreHint);
        }
        mad::notify_intra_block<PIPE_MTE3>(ub_empty, ub_stage);
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
        if (asc_get_sub_block_id() == 1) gemm.run_epilogue();
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
