// Modelled time of a SIMT vector function from what its threads did (ascend_c_vector.md section 16.5).
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
    void start(uint32_t threads) { counts_.resize(threads); }
    // Kernel code counts between these two, for the thread that was selected last.
    void enter();
    void leave();
    void select(uint32_t thread) {
        if (!counts_.empty()) asc_emu_simt_work = &counts_[thread];
    }
    timing::VectorTime time() const;
    // Whether kernel code counts at this address.
    bool owns(uint64_t address) const;

private:
    std::vector<asc_emu_simt_work_count> counts_;
    asc_emu_simt_work_count* selected_ = nullptr;   // while another function runs
};

}  // namespace asc_emu
