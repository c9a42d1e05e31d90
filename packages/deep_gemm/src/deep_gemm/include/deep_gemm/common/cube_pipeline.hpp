// From L1 to the result: the part of a GEMM's cube core that all operand types share (deep_gemm.md section 4.2).
// L0 is double buffered; results leave L0C block by block behind the last mad(), guarded by the unit flag.
#ifndef DEEP_GEMM_COMMON_CUBE_PIPELINE_HPP_
#define DEEP_GEMM_COMMON_CUBE_PIPELINE_HPP_

#include "deep_gemm/common/types.hpp"
#include "deep_gemm/epilogue/tile_ring.hpp"
#include "deep_gemm/scheduler/tile_scheduler.hpp"

namespace deep_gemm {

// A piece of an operand: `mn` rows from `mn_off` and `k` columns from `k_off` of the tile in L1.
struct OperandPart {
    uint32_t mn_off, k_off;
    uint32_t mn, k;
};

// Where a K block stands in its tile.
struct KBlock {
    uint32_t size;          // columns
    bool first, last;
};

template <class ab_t, uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t MAD_M, uint32_t MAD_N, uint32_t MAD_K,
          bool kDirectStore, class TileRing, class gm_d>
class CubePipeline {
public:
    static constexpr uint32_t kNumL0Stages = 2;
    static constexpr uint32_t kMadsM = BLOCK_M / MAD_M, kMadsN = BLOCK_N / MAD_N, kNumMads = kMadsM * kMadsN;
    static constexpr uint32_t kSlotBytesA = MAD_M * MAD_K / mad::kPack<ab_t> * sizeof(ab_t);
    static constexpr uint32_t kSlotBytesB = MAD_N * MAD_K / mad::kPack<ab_t> * sizeof(ab_t);
    static_assert(BLOCK_M % MAD_M == 0 && BLOCK_N % MAD_N == 0 && kNumMads <= 2,
                  "a block is one MAD tile, or two of them; choose MAD sizes that divide it");
    static_assert(BLOCK_M * BLOCK_N * sizeof(float) <= ASC_L0C_SIZE, "the block's accumulators exceed L0C");
    static_assert(kSlotBytesA * kNumL0Stages <= ASC_L0A_SIZE, "A tiles exceed L0A; lower MAD_M or MAD_K");
    static_assert(kSlotBytesB * kNumL0Stages <= ASC_L0B_SIZE, "B tiles exceed L0B; lower MAD_N or MAD_K");

    __aicore__ void begin() { mad::notify_all<kNumL0Stages>(l0_empty); }
    __aicore__ void end() {
        mad::wait_all<kNumL0Stages>(l0_empty);
        if constexpr (!kDirectStore) ring_.collect();
    }

    // Accumulates one K block of `tile`; with its last one, writes the results to `d` (the matrix).
    // load_a(l0, part), load_b(l0, part) move operands, load_scales(l0_a, l0_b, part_a, part_b) what belongs to
    // them; they are called where L0 lacks them.
    template <class LoadA, class LoadB, class LoadScales>
    __aicore__ void multiply(const Tile& tile, KBlock block, gm_d d, asc_store_l2_cache_mode hint,
                             const LoadA& load_a, const LoadB& load_b, const LoadScales& load_scales) {
        const uint32_t num_mads_k = mad::ceil_div(block.size, MAD_K);
        const uint32_t first_slot = slot_;
        for (uint32_t mad_idx = 0; mad_idx < kNumMads; ++mad_idx) {
            const uint32_t m_off = mad_idx / kMadsN * MAD_M, n_off = mad_idx % kMadsN * MAD_N;
            if (m_off >= tile.m_size || n_off >= tile.n_size) continue;
            const uint32_t m = mad::min_of(tile.m_size - m_off, MAD_M);
            const uint32_t n = mad::min_of(tile.n_size - n_off, MAD_N);
            const auto l0c = mad::l0c_ptr<float>{0, MAD_M, MAD_N}[mad_idx].with_rows(m);
            if constexpr (!kDirectStore)
                if (block.first) ring_.wait_empty(mad_idx);

            // NOTE: with two MADs along K, each L0 slot holds the same K slice for both result tiles, so the
            // operand they share stays in L0.
            const bool shared = mad_idx > 0 && num_mads_k == kNumL0Stages;
            for (uint32_t km = 0; km < num_mads_k; ++km) {
                const uint32_t k_off = km * MAD_K, k = mad::min_of(block.size - k_off, MAD_K);
                const uint32_t slot = shared ? (first_slot + km) % kNumL0Stages : slot_;
                const mad::l0a_ptr<ab_t> l0_a{slot * kSlotBytesA, mad::align_up(m, 16), MAD_K};
                const mad::l0b_ptr<ab_t> l0_b{slot * kSlotBytesB, mad::align_up(n, 16), MAD_K};
                const OperandPart part_a{m_off, k_off, m, k}, part_b{n_off, k_off, n, k};

                // Load L0
                mad::wait(l0_empty, slot);
                const bool new_a = !(shared && kMadsN == 2), new_b = !(shared && kMadsM == 2);
                if (new_a) load_a(l0_a, part_a);
                if (new_b) load_b(l0_b, part_b);
                load_scales(l0_a, l0_b, part_a, part_b, new_a, new_b);
                mad::notify(l0_full, slot);

                // Multiply
                mad::wait(l0_full, slot);
                const auto init = block.first && km == 0 ? mad::Init::zero : mad::Init::accumulate;
                const uint32_t n_padded = kDirectStore ? n : mad::align_up(n, 16);
                if (block.last && km + 1 == num_mads_k)
                    mad::mad<asc_unit_flag_mode::ENABLE_UPDATE>(l0c, l0_a, l0_b, m, n_padded, k, init);
                else
                    mad::mad<asc_unit_flag_mode::ENABLE_KEEP>(l0c, l0_a, l0_b, m, n_padded, k, init);
                mad::notify(l0_empty, slot);
                slot_ = (slot + 1) % kNumL0Stages;
            }

            // Drain
            if (!block.last) continue;
            if constexpr (kDirectStore)
                mad::copy_l0c_to_gm<asc_unit_flag_mode::ENABLE_UPDATE>(
                    d.index(tile.m_idx + m_off, tile.n_idx + n_off), l0c, m, n, hint);
            else
                ring_.fill(mad_idx, l0c, m, n);
        }
        if constexpr (!kDirectStore)
            if (block.last) ring_.advance(num_result_tiles(tile));
    }

private:
    static constexpr mad::PipeEvent<PIPE_M, PIPE_MTE1> l0_empty{0};
    static constexpr mad::PipeEvent<PIPE_MTE1, PIPE_M> l0_full{0};

    static __aicore__ uint32_t num_result_tiles(const Tile& tile) {
        return mad::ceil_div(tile.m_size, MAD_M) * mad::ceil_div(tile.n_size, MAD_N);
    }

    uint32_t slot_ = 0;    // L0 slots in turn
    TileRing ring_;        // result tiles in the UB of vector core 1
};

}  // namespace deep_gemm

#endif  // DEEP_GEMM_COMMON_CUBE_PIPELINE_HPP_
