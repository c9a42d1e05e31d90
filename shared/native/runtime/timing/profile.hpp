// What a simulation found out (emulator.md section 5).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core.hpp"
#include "timing/memory_system.hpp"
#include "timing/trace.hpp"

namespace asc_emu::timing {

// One instruction on the time axis; times in core cycles after the start of the launch's first block.
struct Span {
    uint32_t core;       // index into LaunchTrace::cores
    uint32_t record;     // index into CoreTrace::records
    double start, end;
};
static_assert(sizeof(Span) == 24);

struct Profile {
    std::string kernel, object, mode;
    uint32_t num_blocks = 0, num_aic = 0, num_aiv = 0, num_cores = 0;
    bool complete = true;                        // false: some instruction waits for what never comes
    double cycles = 0;                           // from the start of the first block to the end of the last
    double launch_us = 0, duration_us = 0;
    double clock_mhz = 0;
    double flops = 0;
    double gm_read = 0, gm_write = 0;            // bytes, as instructions ask for them
    double busy[2][kNumPipes] = {};              // cycles, summed over cube cores and over vector cores
    double most_busy[2][kNumPipes] = {};         // of one core
    std::map<uint32_t, double> bank_conflicts;   // cycles that vector functions lost, by Record::site
    uint32_t cores_used[2] = {};                 // cube and vector cores that did anything
    MemoryTotals memory;

    std::string json() const;
};

}  // namespace asc_emu::timing
