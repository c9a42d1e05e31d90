// Modelled time of a SIMT vector function from what its threads did (ascend_c_vector.md sections 1.4 and 16.5).
#pragma once

#include <cstdint>
#include <vector>

#include "timing/vector_schedule.hpp"

#define ASC_EMU_TIMED 1
#include "asc_emu/simt/work.hpp"
#undef ASC_EMU_TIMED

namespace asc_emu {

// Counts by thread; the lanes of a warp run in lockstep, so a warp does what its busiest lane does.
class SimtWork {
public:
    // `ub`: host address of UB.
    void start(uint32_t threads, const void* ub);
    // Kernel code counts between these two, for the thread that was selected last.
    void enter();
    void leave();
    void select(uint32_t thread) {
        if (!counts_.empty()) asc_emu_simt_work = &counts_[thread];
    }
    // The running thread touches a place, from the instruction at `site`.
    void touch(const volatile void* place, uint32_t bytes, const void* site);
    timing::VectorTime time();
    // Whether kernel code counts at this address.
    bool owns(uint64_t address) const;

private:
    // An instruction of a lane and its place: an offset, and above its 18 bits the number of bytes.
    struct Touch {
        uint32_t site, place;
    };
    struct WarpUb {
        double accesses = 0;   // instructions of the warp
        double cycles = 0;     // of UB
        double held = 0;       // of the warp, beyond those of any instruction
    };
    void flush_warp();

    std::vector<asc_emu_simt_work_count> counts_;
    asc_emu_simt_work_count* selected_ = nullptr;   // while another function runs
    uintptr_t ub_ = 0;
    std::vector<Touch> touches_[32];                // of the warp that runs, by lane
    size_t warp_ = 0;
    std::vector<WarpUb> ub_time_;                   // by warp
    timing::WordConflicts words_;
};

}  // namespace asc_emu
