// What synchronisation must not leave behind, and what a stuck launch waits for (ascend_c_cube.md sections
// 13 and 19: synccheck).
#pragma once

#include "checkers/report.hpp"
#include "checkers/sync_state.hpp"

namespace asc_emu {

// Lines of the last lock of each mutex.
struct LockSites {
    const void* site[3][kNumMutexes] = {};
};

// Flags, counters, mutexes, unit flags and atomic modes that are still set when a block ends.
struct BlockState;
void report_leftovers(Block& block, BlockState& state, Reporter& reporter);
// Blocked instructions of all blocks, and the flags that were raised for nobody.
void report_deadlock(const std::vector<Block*>& blocks, Reporter& reporter);
// A pipe that this type of core does not have.
void report_missing_pipe(const Core& core, const Command& c, Pipe pipe, Reporter& reporter);

Place place_of(const Core& core, Pipe pipe, const char* role, const char* instruction, const void* site);

}  // namespace asc_emu
