// Who touched the on-chip memories of a block last: the race checker's shadow (emulator.md section 4).
// A granule of 512 bytes (L0C: 1024) keeps its last writes and reads; 16 mask bits say which of its units of
// 32 (L0C: 64) bytes each one touched, so that neighbours inside a granule are told apart.
#pragma once

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
    uint32_t time;
    int32_t site;      // distance to the kernel's entry
    uint16_t mask;     // 0 = unused
    uint8_t agent;
    uint8_t op;
};

struct Granule {
    Cell writes[2];
    Cell reads[3];
};

struct GranuleSize {
    uint32_t granule, unit;
};
constexpr GranuleSize granule_size(Region region) {
    return region == Region::l0c ? GranuleSize{1024, 64} : GranuleSize{512, 32};
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
        for (uint64_t at = low; at < high;) {
            const uint64_t index = at / size.granule, start = index * size.granule;
            const uint64_t end = high < start + size.granule ? high : start + size.granule;
            const auto from = static_cast<uint32_t>((at - start) / size.unit);
            const auto to = static_cast<uint32_t>((end - start + size.unit - 1) / size.unit);
            const uint32_t mask = ((1u << to) - 1) & ~((1u << from) - 1);
            visit(granules[index], static_cast<uint16_t>(mask), start + from * size.unit);
            at = end;
        }
    }

private:
    std::vector<Granule> granules_;
    size_t first_[kNumRegions];
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
