#include "simt/work.hpp"

#include <algorithm>

#include "core.hpp"
#include "simt/block.hpp"
#include "timing/constants.hpp"

__thread asc_emu_simt_work_count* asc_emu_simt_work __attribute__((visibility("default")));
__thread asc_emu_simt_work_count* asc_emu_simt_works __attribute__((visibility("default")));

namespace asc_emu {
namespace {

// Places of a lane that are kept until its warp's lanes are compared. NOTE: what it touches beyond them before it
// waits for others counts as free of conflicts.
constexpr size_t kMostTouches = 1 << 16;
constexpr uint32_t kOffsetBits = 18;
constexpr uint32_t kUbBytes = kSpaceBytes[static_cast<size_t>(Space::ub)];
static_assert(kUbBytes == 1u << kOffsetBits);

thread_local SimtWork* tl_counting = nullptr;

}  // namespace

void SimtWork::start(uint32_t threads, const void* ub) {
    counts_.resize(threads);
    ub_time_.resize((threads + kWarpLanes - 1) / kWarpLanes);
    ub_ = reinterpret_cast<uintptr_t>(ub);
}

void SimtWork::enter() {
    asc_emu_simt_works = counts_.empty() ? nullptr : counts_.data();
    asc_emu_simt_work = selected_;
    tl_counting = this;
}

void SimtWork::leave() {
    selected_ = asc_emu_simt_work;
    asc_emu_simt_work = asc_emu_simt_works = nullptr;
    tl_counting = nullptr;
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
    if (offset >= kUbBytes || bytes == 0) return;
    const auto thread = static_cast<size_t>(asc_emu_simt_work - counts_.data());
    // Another warp runs when the lanes of the one before have ended, or all wait.
    if (thread / kWarpLanes != warp_) {
        flush_warp();
        warp_ = thread / kWarpLanes;
    }
    auto& own = touches_[thread % kWarpLanes];
    if (own.size() < kMostTouches)
        own.push_back({static_cast<uint32_t>(reinterpret_cast<uintptr_t>(site)),
                       static_cast<uint32_t>(offset) | bytes << kOffsetBits});
    else
        ++asc_emu_simt_work->ub;
}

// Lanes at the same instruction touch UB together. The one with the lowest address comes first, as on devices that
// bring lanes together again behind branches and loops.
void SimtWork::flush_warp() {
    const double gap = timing::Constants().simt_gap;
    WarpUb& time = ub_time_[warp_];
    const Touch *at[kWarpLanes], *end[kWarpLanes];
    uint32_t left = 0;   // lanes with something left
    for (auto& lane : touches_) {
        if (lane.empty()) continue;
        at[left] = lane.data();
        end[left++] = lane.data() + lane.size();
    }
    while (left) {
        uint32_t site = at[0]->site, next = 0;
        for (uint32_t i = 1; i < left; ++i) site = std::min(site, at[i]->site);
        for (uint32_t i = 0; i < left; ++i) {
            if (at[i]->site == site) {
                words_.add(at[i]->place & (kUbBytes - 1), at[i]->place >> kOffsetBits);
                ++at[i];
            }
            if (at[i] != end[i]) at[next] = at[i], end[next++] = end[i];
        }
        left = next;
        const double cycles = words_.take_cycles();
        time.accesses += 1;
        time.cycles += cycles;
        time.held += std::max(cycles - gap, 0.0);
    }
    for (auto& lane : touches_) lane.clear();
}

timing::VectorTime SimtWork::time() {
    if (!ub_time_.empty()) flush_warp();
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
    if (asc_emu::tl_counting) asc_emu::tl_counting->touch(place, bytes, __builtin_return_address(0));
}
