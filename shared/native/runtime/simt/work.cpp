#include "simt/work.hpp"

#include <algorithm>
#include <span>

#include "core.hpp"
#include "simt/block.hpp"
#include "timing/constants.hpp"

__thread asc_emu_simt_work_count* asc_emu_simt_work __attribute__((visibility("default")));
__thread asc_emu_simt_work_count* asc_emu_simt_works __attribute__((visibility("default")));

namespace asc_emu {
namespace {

// Places that are kept until lanes are compared. NOTE: a function that touches more of them between two barriers is
// compared in pieces; at their seams lanes that are behind others count as divergent.
constexpr size_t kMostTouches = 1 << 20;

}  // namespace

void SimtWork::start(uint32_t threads, const void* ub) {
    counts_.resize(threads);
    touches_.resize(threads);
    ub_time_.resize((threads + kWarpLanes - 1) / kWarpLanes);
    ub_ = reinterpret_cast<uintptr_t>(ub);
}

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

void SimtWork::touch(const volatile void* place, uint32_t bytes, const void* site) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(place) - ub_;
    if (offset >= kSpaceBytes[static_cast<size_t>(Space::ub)] || bytes == 0) return;
    const auto thread = static_cast<size_t>(asc_emu_simt_work - counts_.data());
    auto& own = touches_[thread];
    // The first lane of a warp begins a stretch of code.
    if (num_touches_ >= kMostTouches && own.empty() && thread % kWarpLanes == 0) flush();
    own.push_back({static_cast<uint32_t>(reinterpret_cast<uintptr_t>(site)), static_cast<uint32_t>(offset), bytes});
    ++num_touches_;
}

void SimtWork::flush() {
    for (uint32_t first = 0; first < touches_.size(); first += kWarpLanes) flush_warp(first);
    num_touches_ = 0;
}

// Lanes at the same instruction touch UB together. The one with the lowest address comes first, as on devices that
// bring lanes together again behind branches and loops.
void SimtWork::flush_warp(uint32_t first) {
    const auto lanes =
        std::span(touches_).subspan(first, std::min<size_t>(kWarpLanes, touches_.size() - first));
    const double gap = timing::Constants().simt_gap;
    WarpUb& time = ub_time_[first / kWarpLanes];
    size_t at[kWarpLanes] = {};
    for (;;) {
        uint32_t site = UINT32_MAX;
        bool any = false;
        for (size_t i = 0; i < lanes.size(); ++i)
            if (at[i] < lanes[i].size()) any = true, site = std::min(site, lanes[i][at[i]].site);
        if (!any) break;
        for (size_t i = 0; i < lanes.size(); ++i) {
            if (at[i] == lanes[i].size() || lanes[i][at[i]].site != site) continue;
            words_.add(lanes[i][at[i]].offset, lanes[i][at[i]].bytes);
            ++at[i];
        }
        const double cycles = words_.take_cycles();
        time.accesses += 1;
        time.cycles += cycles;
        time.held += std::max(cycles - gap, 0.0);
    }
    for (auto& lane : lanes) lane.clear();
}

timing::VectorTime SimtWork::time() {
    flush();
    const timing::Constants k;   // NOTE: a replay with other constants keeps these
    double issued = 0, accesses = 0, conflicts = 0, bytes = 0, longest = 0;
    for (size_t first = 0; first < counts_.size(); first += kWarpLanes) {
        asc_emu_simt_work_count warp = {};
        for (size_t i = first; i < std::min(counts_.size(), first + kWarpLanes); ++i) {
            warp.instructions = std::max(warp.instructions, counts_[i].instructions);
            warp.ub = std::max(warp.ub, counts_[i].ub);
            warp.gm_loads = std::max(warp.gm_loads, counts_[i].gm_loads);
            bytes += counts_[i].gm_bytes;
        }
        const WarpUb& ub = ub_time_[first / kWarpLanes];
        issued += warp.instructions;
        accesses += warp.ub + ub.cycles;
        conflicts += ub.cycles - ub.accesses;
        // A warp waits for the words of its lanes; meanwhile others go on.
        longest = std::max(longest, warp.instructions * k.simt_gap + ub.held + warp.gm_loads * k.simt_gm_latency);
    }
    const double cycles =
        std::max({issued / k.simt_schedulers, accesses / k.simt_ub_rate, longest, bytes / k.simt_gm_rate});
    return {.cycles = static_cast<uint32_t>(cycles), .conflicts = static_cast<uint32_t>(2 * conflicts / k.simt_ub_rate)};
}

}  // namespace asc_emu

extern "C" __attribute__((visibility("default"))) void asc_emu_simt_place(const volatile void* place, uint32_t bytes) {
    if (asc_emu::SimtBlock* block = asc_emu::running_simt())
        block->work().touch(place, bytes, __builtin_return_address(0));
}
