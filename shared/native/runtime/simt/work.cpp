#include "simt/work.hpp"

#include <algorithm>

#include "simt/block.hpp"
#include "timing/constants.hpp"

__thread asc_emu_simt_work_count* asc_emu_simt_work __attribute__((visibility("default")));
__thread asc_emu_simt_work_count* asc_emu_simt_works __attribute__((visibility("default")));

namespace asc_emu {

void SimtWork::enter() {
    asc_emu_simt_works = counts_.empty() ? nullptr : counts_.data();
    asc_emu_simt_work = selected_;
}

void SimtWork::leave() {
    selected_ = asc_emu_simt_work;
    asc_emu_simt_work = asc_emu_simt_works = nullptr;
}

bool SimtWork::owns(uint64_t address) const {
    const auto inside = [address](const void* begin, size_t bytes) {
        return address - reinterpret_cast<uintptr_t>(begin) < bytes;
    };
    return inside(counts_.data(), counts_.size() * sizeof(counts_[0])) ||
           inside(&asc_emu_simt_work, sizeof(asc_emu_simt_work)) ||
           inside(&asc_emu_simt_works, sizeof(asc_emu_simt_works));
}

timing::VectorTime SimtWork::time() const {
    const timing::Constants k;   // NOTE: a replay with other constants keeps these
    double issued = 0, accesses = 0, bytes = 0, longest = 0;
    for (size_t first = 0; first < counts_.size(); first += kWarpLanes) {
        asc_emu_simt_work_count warp = {};
        for (size_t i = first; i < std::min(counts_.size(), first + kWarpLanes); ++i) {
            warp.instructions = std::max(warp.instructions, counts_[i].instructions);
            warp.ub = std::max(warp.ub, counts_[i].ub);
            warp.gm_loads = std::max(warp.gm_loads, counts_[i].gm_loads);
            bytes += counts_[i].gm_bytes;
        }
        issued += warp.instructions;
        accesses += warp.ub;
        longest = std::max(longest, warp.instructions * k.simt_gap + warp.gm_loads * k.simt_gm_latency);
    }
    const double cycles =
        std::max({issued / k.simt_schedulers, accesses / k.simt_ub_rate, longest, bytes / k.simt_gm_rate});
    return {.cycles = static_cast<uint32_t>(cycles)};
}

}  // namespace asc_emu
