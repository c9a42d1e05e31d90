// Layout of the shadow.
#include "checkers/shadow.hpp"

#include <cstring>

namespace asc_emu {

Region region_of(const Core& core, const Access& access) {
    switch (access.space) {
        case Space::l1: return Region::l1;
        case Space::l0a: return Region::l0a;
        case Space::l0b: return Region::l0b;
        case Space::l0a_mx: return Region::l0a_mx;
        case Space::l0b_mx: return Region::l0b_mx;
        case Space::l0c: return Region::l0c;
        case Space::bt: return Region::bt;
        case Space::fb: return Region::fb;
        case Space::ub: {
            const CoreSlot owner = access.core == CoreSlot::own ? core.slot : access.core;
            return owner == CoreSlot::aiv1 ? Region::ub1 : Region::ub0;
        }
        default: return Region::ssb;
    }
}

Space space_of(Region region) {
    static constexpr Space spaces[kNumRegions] = {
        Space::l1, Space::l0a, Space::l0b, Space::l0a_mx, Space::l0b_mx, Space::l0c,
        Space::bt, Space::fb,  Space::ub,  Space::ub,     Space::ssb};
    return spaces[static_cast<size_t>(region)];
}

Shadow::Shadow() {
    size_t total = 0;
    for (size_t r = 0; r < kNumRegions; ++r) {
        first_[r] = total;
        const uint32_t granule = granule_size(static_cast<Region>(r)).granule;
        total += (kSpaceBytes[static_cast<size_t>(space_of(static_cast<Region>(r)))] + granule - 1) / granule;
    }
    granules_.resize(total);
    std::memset(granules_.data(), 0, total * sizeof(Granule));
}

void Shadow::reset() {
    for (size_t r = 0; r < kNumRegions; ++r) {
        std::memset(granules_.data() + first_[r], 0, used_[r] * sizeof(Granule));
        used_[r] = 0;
    }
}

}  // namespace asc_emu
