// Who touched the on-chip memories of a block last: the race checker's shadow (emulator.md section 4).
// A granule keeps its last writes and reads; 64 mask bits say which of its units each one touched: 32 bytes,
// 256 in L0C and 512 in L0A and L0B, no more than what instructions there can tell apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checkers/clock.hpp"

namespace asc_emu {

// Memories of a block; UB is there twice.
enum class Region : uint8_t { l1, l0a, l0b, l0a_mx, l0b_mx, l0c, bt, fb, ub0, ub1, ssb, count };
constexpr size_t kNumRegions = static_cast<size_t>(Region::count);
Region region_of(const Core& core, const Access& access);
Space space_of(Region region);

// One access: instruction number `time` of `agent`, from the line of `site`.
struct Cell {
    uint64_t mask;     // 0 = unused
    uint32_t time;
    int32_t site;      // distance to the kernel's entry
    uint8_t agent;
    uint8_t op;
};

struct Granule {
    Cell writes[4];
    Cell reads[4];
};

struct GranuleSize {
    uint32_t granule, unit;
};
constexpr GranuleSize granule_size(Region region) {
    if (region == Region::l0c) return {16 * 1024, 256};
    if (region == Region::l0a || region == Region::l0b) return {32 * 1024, 512};
    return {2048, 32};
}

class Shadow {
public:
    Shadow();
    void reset();

    // Visits the granules of [low, high) with the mask of the touched units.
    template <class Visit>
    void for_each(Region region, uint64_t low, uint64_t high, Visit&& visit) {
        const GranuleSize size = granule_size(region);
        Granule* granules = granules_.data() + first_[static_cast<size_t>(region)];
        size_t& used = used_[static_cast<size_t>(region)];
        used = std::max<size_t>(used, (high + size.granule - 1) / size.granule);
        for (uint64_t at = low; at < high;) {
            const uint64_t index = at / size.granule, start = index * size.granule;
            const uint64_t end = high < start + size.granule ? high : start + size.granule;
            const auto from = static_cast<uint32_t>((at - start) / size.unit);
            const auto to = static_cast<uint32_t>((end - start + size.unit - 1) / size.unit);
            const uint64_t mask = (~0ull >> (64 - to)) & (~0ull << from);
            visit(granules[index], mask, start);
            at = end;
        }
    }

private:
    std::vector<Granule> granules_;
    size_t first_[kNumRegions];
    size_t used_[kNumRegions] = {};   // granules from the start that may hold cells
};

// Puts a cell where it takes the place of an older one of the same agent, else into a free or the next slot.
template <class CellT, size_t kSlots>
inline void remember(CellT (&cells)[kSlots], const CellT& cell) {
    size_t victim = kSlots;
    for (size_t i = 0; i < kSlots; ++i) {
        CellT& old = cells[i];
        if (old.mask == 0) {
            if (victim == kSlots) victim = i;
        } else if (old.agent == cell.agent && same_block(old, cell)) {
            if (old.time == cell.time && old.site == cell.site) {
                old.mask |= cell.mask;
                return;
            }
            if ((old.mask & ~cell.mask) == 0) victim = i;
        }
    }
    // NOTE: with all slots in use one access is forgotten: a race may be missed, none is invented.
    cells[victim < kSlots ? victim : cell.time % kSlots] = cell;
}
inline bool same_block(const Cell&, const Cell&) { return true; }

}  // namespace asc_emu
