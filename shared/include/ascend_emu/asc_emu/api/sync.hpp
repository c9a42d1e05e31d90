// Public synchronisation functions (ascend_c_cube.md sections 13 and 14).
#pragma once

#include "asc_emu/insn/sync.hpp"
#include "asc_emu/keywords.hpp"
#include "asc_emu/on_use.hpp"

namespace asc_emu {
constexpr Pipe to_pipe(pipe_t pipe) { return static_cast<Pipe>(pipe); }
}  // namespace asc_emu

// Flags between two pipes of a core --------------------------------------------------------------
ASC_EMU_ON_USE inline void asc_sync_notify(pipe_t source, pipe_t destination, uint32_t id) {
    using namespace asc_emu;
    issue_on(to_pipe(source), SetFlag{to_pipe(source), to_pipe(destination), id});
}
ASC_EMU_ON_USE inline void asc_sync_wait(pipe_t source, pipe_t destination, uint32_t id) {
    using namespace asc_emu;
    issue_on(to_pipe(destination), WaitFlag{to_pipe(source), to_pipe(destination), id});
}
ASC_EMU_ON_USE inline void set_flag(pipe_t source, pipe_t destination, uint32_t id) {
    asc_sync_notify(source, destination, id);
}
ASC_EMU_ON_USE inline void wait_flag(pipe_t source, pipe_t destination, uint32_t id) {
    asc_sync_wait(source, destination, id);
}

// Barriers ---------------------------------------------------------------------------------------
ASC_EMU_ON_USE inline void asc_sync_pipe(pipe_t pipe) {
    using namespace asc_emu;
    issue_on(to_pipe(pipe), PipeBarrier{to_pipe(pipe)});
}
ASC_EMU_ON_USE inline void pipe_barrier(pipe_t pipe) { asc_sync_pipe(pipe); }
ASC_EMU_ON_USE inline void asc_sync() { asc_sync_pipe(PIPE_ALL); }
ASC_EMU_ON_USE inline void asc_sync_vec() { asc_sync_pipe(PIPE_ALL); }
ASC_EMU_ON_USE inline void asc_sync_mte2(uint32_t id) {
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, id);
    asc_sync_notify(PIPE_MTE2, PIPE_V, id);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, id);
    asc_sync_wait(PIPE_MTE2, PIPE_V, id);
    asc_sync_pipe(PIPE_MTE2);
}
ASC_EMU_ON_USE inline void asc_sync_mte3(uint32_t id) {
    asc_sync_notify(PIPE_MTE3, PIPE_MTE2, id);
    asc_sync_notify(PIPE_MTE3, PIPE_V, id);
    asc_sync_wait(PIPE_MTE3, PIPE_MTE2, id);
    asc_sync_wait(PIPE_MTE3, PIPE_V, id);
    asc_sync_pipe(PIPE_MTE3);
}

// Order of the scalar unit's own memory accesses: a fence on the host.
enum mem_dsb_t { DSB_ALL = 0, DSB_DDR = 1, DSB_UB = 2, DSB_SEQ = 3 };
inline void asc_sync_data_barrier(mem_dsb_t) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Mutexes ----------------------------------------------------------------------------------------
enum asc_mutex_execute_mode { ASC_LOCK_BLOCK = 0, ASC_LOCK_NON_BLOCK = 1 };
using ascMutexExecuteMode = asc_mutex_execute_mode;
ASC_EMU_ON_USE inline void asc_lock(pipe_t pipe, uint32_t id,
                                    asc_mutex_execute_mode mode = ASC_LOCK_BLOCK) {
    using namespace asc_emu;
    issue_on(to_pipe(pipe), Lock{to_pipe(pipe), mode == ASC_LOCK_NON_BLOCK, id, 0});
}
ASC_EMU_ON_USE inline void asc_unlock(pipe_t pipe, uint32_t id,
                                      asc_mutex_execute_mode mode = ASC_LOCK_BLOCK) {
    using namespace asc_emu;
    issue_on(to_pipe(pipe), Unlock{to_pipe(pipe), mode == ASC_LOCK_NON_BLOCK, id, 0});
}

// Inside one AI Core (mode 4) and between cores (modes 0, 1, 2)
// ------------------------------------
ASC_EMU_ON_USE inline void asc_sync_intra_arrive(pipe_t pipe, uint32_t id) {
    using namespace asc_emu;
    issue_on(to_pipe(pipe), IntraArrive{to_pipe(pipe), id});
}
ASC_EMU_ON_USE inline void asc_sync_intra_wait(pipe_t pipe, uint32_t id) {
    using namespace asc_emu;
    issue_on(to_pipe(pipe), CounterWait{to_pipe(pipe), 4, id});
}
#define ASC_EMU_CROSS_SYNC(name, mode)                                                  \
    inline void asc_sync_##name##_arrive(pipe_t pipe, uint32_t id) {                    \
        asc_emu::issue_on(asc_emu::to_pipe(pipe),                                       \
                          asc_emu::CrossArrive{asc_emu::to_pipe(pipe), mode, id & 15}); \
    }                                                                                   \
    inline void asc_sync_##name##_wait(pipe_t pipe, uint32_t id) {                      \
        asc_emu::issue_on(asc_emu::to_pipe(pipe),                                       \
                          asc_emu::CounterWait{asc_emu::to_pipe(pipe), mode, id & 15}); \
    }
ASC_EMU_CROSS_SYNC(inter, 0)
ASC_EMU_CROSS_SYNC(subblock, 1)
ASC_EMU_CROSS_SYNC(block, 2)
#undef ASC_EMU_CROSS_SYNC
