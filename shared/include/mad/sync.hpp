// Synchronisation with the direction in the type (deep_gemm.md section 5.1; ascend_c_cube.md section 13).
#ifndef MAD_SYNC_HPP_
#define MAD_SYNC_HPP_

#include "c_api/asc_simd.h"

namespace mad {

// Flags from pipe kSource to pipe kDestination of one core; ids base, base + 1, ... are its stages.
//     PipeEvent<PIPE_MTE2, PIPE_MTE1> full{0};
//     ... copy_gm_to_l1(...); notify(full, stage);      // when the copy is done
//     wait(full, stage); copy_l1_to_l0a(...);           // MTE1 goes on then
template <pipe_t kSource, pipe_t kDestination>
struct PipeEvent {
    static_assert(kSource != kDestination, "one pipe works in order; name two pipes");
    uint32_t base;
};

template <pipe_t kSource, pipe_t kDestination>
inline __aicore__ void notify(PipeEvent<kSource, kDestination> event, uint32_t stage = 0) {
    asc_sync_notify(kSource, kDestination, static_cast<event_t>(event.base + stage));
}
template <pipe_t kSource, pipe_t kDestination>
inline __aicore__ void wait(PipeEvent<kSource, kDestination> event, uint32_t stage = 0) {
    asc_sync_wait(kSource, kDestination, static_cast<event_t>(event.base + stage));
}
// All stages at once: credits posted before a pipeline starts, and collected after it ends.
template <uint32_t kNumStages, pipe_t kSource, pipe_t kDestination>
inline __aicore__ void notify_all(PipeEvent<kSource, kDestination> event) {
    for (uint32_t i = 0; i < kNumStages; ++i) notify(event, i);
}
template <uint32_t kNumStages, pipe_t kSource, pipe_t kDestination>
inline __aicore__ void wait_all(PipeEvent<kSource, kDestination> event) {
    for (uint32_t i = 0; i < kNumStages; ++i) wait(event, i);
}

// Counters between the cube core and vector core kSubBlock of one AI Core; ids base + stage, below 16.
// Both sides name the same event; who calls decides the direction.
template <uint32_t kSubBlock>
struct IntraBlockEvent {
    static_assert(kSubBlock < 2, "an AI Core has vector cores 0 and 1");
    uint32_t base;
    __aicore__ uint32_t id(uint32_t stage) const {
        // NOTE: the cube core addresses vector core 1 by ids 16..31; the vector cores use 0..15.
        if ASC_IS_AIC return kSubBlock * 16 + base + stage;
        return base + stage;
    }
};

// kPipe: the pipe whose earlier work must be done (arrive), or that goes on later (wait).
template <pipe_t kPipe, uint32_t kSubBlock>
inline __aicore__ void notify_intra_block(IntraBlockEvent<kSubBlock> event, uint32_t stage = 0) {
    asc_sync_intra_arrive(kPipe, event.id(stage));
}
template <pipe_t kPipe, uint32_t kSubBlock>
inline __aicore__ void wait_intra_block(IntraBlockEvent<kSubBlock> event, uint32_t stage = 0) {
    asc_sync_intra_wait(kPipe, event.id(stage));
}

}  // namespace mad

#endif  // MAD_SYNC_HPP_
