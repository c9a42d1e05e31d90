// Happens-before check of memory accesses (emulator.md section 4, ascend_c_cube.md section 3): two accesses
// to the same bytes, one of them a write, must be ordered by what the kernel synchronises.
#pragma once

#include "checkers/gm_shadow.hpp"
#include "checkers/report.hpp"
#include "checkers/sync_state.hpp"

namespace asc_emu {

// The instruction whose accesses are checked.
struct Accessor {
    const Core& core;
    Pipe pipe;
    uint16_t op;
    const void* site;
    Agent& agent;
    uint8_t id;               // of the agent
    bool unit_flag = false;   // of mmad or Fixpipe: blocks of L0C are handed over by unit flags
};

class RaceCheck {
public:
    RaceCheck(const void* entry, Reporter& reporter) : entry_(entry), reporter_(reporter) {}

    void on_chip(Shadow& shadow, SyncState& sync, const Accessor& who, Region region, bool write, uint64_t low,
                 uint64_t high);
    // The data cache of a core writes back the granules of [low, high): its stores count as the scalar unit's of now.
    void clean(GmShadow::Cache& cache, const Accessor& who, uint64_t low, uint64_t high);
    void global(GmShadow::Cache& cache, const Accessor& who, bool write, bool atomic, uint64_t low,
                uint64_t high);

private:
    struct Other {            // the earlier access
        uint32_t block;
        uint8_t agent;
        uint8_t op;
        int32_t site;
        bool write;
        bool in_cache = false;   // a store that was ordered, had it been written back
    };
    int32_t relative(const void* site) const;
    void report(const Accessor& who, bool write, const Other& other, const char* memory, uint32_t subject,
                uint64_t address, uint64_t bytes);

    const void* entry_;
    Reporter& reporter_;
    GmShadow gm_;
};

}  // namespace asc_emu
