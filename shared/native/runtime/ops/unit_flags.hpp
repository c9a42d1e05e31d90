// Unit flags: one bit for 512 bytes of L0C, by which the matrix unit and Fixpipe hand blocks to
// each other (ascend_c_cube.md section 9.5).
#pragma once

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

inline bool unit_flags_equal(const Core& core, const UnitRegion& region, bool value) {
    return region.all([&](uint32_t f) { return core.unit_flags[f] == value; });
}
inline void set_unit_flags(Core& core, const UnitRegion& region, bool value) {
    region.all([&](uint32_t f) {
        core.unit_flags[f] = value;
        return true;
    });
}

}  // namespace asc_emu
