// Numbers for the contents of L0A and L0B, so that the matrix unit can keep an operand it has
// unpacked. Each granule of memory remembers its last write; the newest of a range is the number of its
// content, larger than any number the range had before.
#pragma once

#include <algorithm>

#include "core.hpp"

namespace asc_emu {

// A write of [offset, offset + bytes) of L0A or L0B.
// NOTE: drawn per thread and not per core: memories of an ended launch can come back at the same
// address.
inline void new_l0_version(Core& core, bool l0b, uint64_t offset, uint64_t bytes) {
    static thread_local uint64_t last = 1ull << 32;
    ++last;
    auto& versions = core.l0_versions[l0b ? 1 : 0];
    const uint64_t first = offset / kL0Granule, end = (offset + bytes + kL0Granule - 1) / kL0Granule;
    for (uint64_t g = first; g < std::min(end, kNumL0Granules); ++g) versions[g] = last;
}

// All of it.
inline void new_l0_version(Core& core, bool l0b) {
    new_l0_version(core, l0b, 0, kNumL0Granules * kL0Granule);
}

// The number of a range's content; 0 when nobody has written it in this launch.
inline uint64_t l0_version(const Core& core, bool l0b, uint64_t offset, uint64_t bytes) {
    const auto& versions = core.l0_versions[l0b ? 1 : 0];
    const uint64_t first = offset / kL0Granule, end = (offset + bytes + kL0Granule - 1) / kL0Granule;
    uint64_t newest = 0;
    for (uint64_t g = first; g < std::min(end, kNumL0Granules); ++g) newest = std::max(newest, versions[g]);
    return newest;
}

}  // namespace asc_emu
