// Allocations a launch may touch: the memory checker's view of global memory (emulator.md section 4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "asc_emu/core_api.h"

namespace asc_emu {

struct GmRange {
    uint64_t begin, end;
    bool read_only;
    std::string name;
};

class GmRanges {
public:
    GmRanges(const asc_emu_gm_range* ranges, uint32_t count);
    bool known() const { return !ranges_.empty(); }
    // The range that holds all of [low, high); null when none does.
    const GmRange* find(uint64_t low, uint64_t high) const;
    // "3 bytes behind the end of 'b' (4096 bytes)", of the nearest range.
    std::string relation(uint64_t low, uint64_t high) const;

private:
    std::vector<GmRange> ranges_;   // ascending, writable before read-only at equal addresses
};

}  // namespace asc_emu
