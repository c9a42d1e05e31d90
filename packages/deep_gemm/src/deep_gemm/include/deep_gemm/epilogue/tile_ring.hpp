// Result tiles on their way from L0C through the UB of vector core 1 to GM (deep_gemm.md section 4.3).
// A ring of UB tiles; tile i of both sides is guarded by the intra-block counters of id i.
#ifndef DEEP_GEMM_EPILOGUE_TILE_RING_HPP_
#define DEEP_GEMM_EPILOGUE_TILE_RING_HPP_

#include "deep_gemm/common/types.hpp"
#include "deep_gemm/epilogue/operators.hpp"
#include "deep_gemm/scheduler/tile_scheduler.hpp"

namespace deep_gemm {

template <uint32_t MAD_M, uint32_t MAD_N, uint32_t kNumStages, class ub_t>
struct TileRing {
    static_assert(kNumStages >= 1 && kNumStages <= 16, "epilogue stages are intra-block ids 0..15");
    static constexpr mad::ub_ptr<ub_t> tiles{0, MAD_M, MAD_N};
    static_assert(kNumStages * MAD_M * MAD_N * sizeof(ub_t) <= 256 * 1024, "epilogue stages exceed UB");
    static constexpr mad::IntraBlockEvent<1> full{0}, empty{0};

    uint32_t stage = 0;

    __aicore__ uint32_t at(uint32_t ahead) const { return (stage + ahead) % kNumStages; }
    __aicore__ void advance(uint32_t num) { stage = at(num); }

    // Cube core: the `ahead`-th tile of the current block
    __aicore__ void wait_empty(uint32_t ahead) const { mad::wait_intra_block<PIPE_FIX>(empty, at(ahead)); }
    __aicore__ void fill(uint32_t ahead, mad::l0c_ptr<float> l0c, uint32_t m, uint32_t n) const {
        mad::copy_l0c_to_ub<asc_unit_flag_mode::ENABLE_UPDATE>(tiles[at(ahead)], l0c, m, n, 1);
        mad::notify_intra_block<PIPE_FIX>(full, at(ahead));
    }
    // Takes the credits back, so that no counter is left raised.
    __aicore__ void collect() const {
        for (uint32_t i = 0; i < kNumStages; ++i) mad::wait_intra_block<PIPE_FIX>(empty, i);
    }
    // Vector core: posts every tile as empty
    __aicore__ void open() const {
        for (uint32_t i = 0; i < kNumStages; ++i) mad::notify_intra_block<PIPE_MTE3>(empty, i);
    }
};

// Vector core 1: finishes every result tile of its core's share of D, in the cube core's order.
template <uint32_t MAD_M, uint32_t MAD_N, bool kAccumulate, class cd_t,
          class Epilogue, class Ring, class Scheduler>
__aicore__ void run_epilogue(mad::gm_ptr<cd_t> d, Scheduler scheduler, const EpilogueArgs& args,
                             asc_store_l2_cache_mode hint) {
    constexpr mad::PipeEvent<PIPE_V, PIPE_MTE3> transformed{0};
    Ring ring;
    ring.open();
    // D += result: added by the store itself
    if constexpr (kAccumulate) {
        if constexpr (std::is_same_v<cd_t, float>) asc_set_atomic_add_float();
        else asc_set_atomic_add_bfloat();
    }
    for (Tile tile; scheduler.next(tile);)
        for (uint32_t m_off = 0; m_off < tile.m_size; m_off += MAD_M)
            for (uint32_t n_off = 0; n_off < tile.n_size; n_off += MAD_N) {
                const uint32_t m = mad::min_of(tile.m_size - m_off, MAD_M);
                const uint32_t n = mad::min_of(tile.n_size - n_off, MAD_N);
                const auto out = d.index(tile.m_idx + m_off, tile.n_idx + n_off);
                const auto source = Ring::tiles[ring.stage];
                if constexpr (Epilogue::kTransforms) {
                    mad::wait_intra_block<PIPE_V>(Ring::full, ring.stage);
                    const auto result = Epilogue::template apply<cd_t>(source, m, args);
                    mad::notify(transformed, ring.stage % 8);
                    mad::wait(transformed, ring.stage % 8);
                    mad::copy_ub_to_gm(out, result, m, n, hint);
                } else {
                    mad::wait_intra_block<PIPE_MTE3>(Ring::full, ring.stage);
                    mad::copy_ub_to_gm(out, source, m, n, hint);
                }
                mad::notify_intra_block<PIPE_MTE3>(Ring::empty, ring.stage);
                ring.advance(1);
            }
    if constexpr (kAccumulate) asc_set_atomic_none();
}

}  // namespace deep_gemm

#endif  // DEEP_GEMM_EPILOGUE_TILE_RING_HPP_
