// Unit flags: one bit for 512 bytes of L0C, by which the matrix unit and Fixpipe hand blocks to
// each other (ascend_c_cube.md section 9.5).
#pragma once

#include <algorithm>

#include "core.hpp"

namespace asc_emu {

constexpr uint8_t kUnitFlagKeep = 2, kUnitFlagUpdate = 3;
constexpr uint32_t kFractalCBytes = 1024;  // 16 x 16 elements of 4 bytes

// Column blocks of 16: rows [0, bytes) of each, `stride` bytes apart.
// NOTE: both sides count whole fractals, so that a Fixpipe copy of m rows releases what an mmad of
// m (or of m rounded up to 16) rows has set.
struct UnitRegion {
    uint32_t start;  // L0C offset
    uint32_t columns;
    uint32_t stride;
    uint32_t bytes;

    template <class Visit>
    bool all(Visit visit) const {
        constexpr uint32_t kFlags = kSpaceBytes[static_cast<size_t>(Space::l0c)] / kUnitFlagBytes;
        for (uint32_t c = 0; c < columns; ++c) {
            const uint32_t from = start + c * stride;
            const uint32_t end =
                (from + bytes + kFractalCBytes - 1) / kFractalCBytes * kFractalCBytes;
            for (uint32_t f = from / kUnitFlagBytes; f < end / kUnitFlagBytes && f < kFlags; ++f)
                if (!visit(f)) return false;
        }
        return true;
    }
};

// One for every flag of a region.
inline UnitFlags unit_flag_mask(const UnitRegion& region) {
    UnitFlags mask;
    if (region.columns != 1) {
        region.all([&](uint32_t f) { return mask.set(f), true; });
        return mask;
    }
    // NOTE: an mmad has up to 256 flags in a row and asks for them all, so words of flags are made at once.
    const uint32_t end = (region.start + region.bytes + kFractalCBytes - 1) / kFractalCBytes * kFractalCBytes;
    const size_t first = std::min<size_t>(region.start / kUnitFlagBytes, mask.size());
    const size_t last = std::min<size_t>(end / kUnitFlagBytes, mask.size());
    if (first >= last) return mask;
    return (mask.set() >> (mask.size() - (last - first))) << first;
}

inline bool unit_flags_equal(const Core& core, const UnitRegion& region, bool value) {
    const UnitFlags mask = unit_flag_mask(region);
    return (core.unit_flags & mask) == (value ? mask : UnitFlags{});
}
inline void set_unit_flags(Core& core, const UnitRegion& region, bool value) {
    const UnitFlags mask = unit_flag_mask(region);
    if (value) core.unit_flags |= mask;
    else core.unit_flags &= ~mask;
}

}  // namespace asc_emu
