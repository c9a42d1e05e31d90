#include "timing/vector_schedule.hpp"

#include <algorithm>

#include "asc_emu/vector/state.hpp"
#include "asc_emu/vector/timed.hpp"
#include "core.hpp"
#include "thread_object.hpp"

namespace asc_emu::timing {
namespace {

struct ClassCost {
    uint32_t latency, interval;
    bool alone;
};
constexpr ClassCost kCosts[] = {
#define ASC_EMU_VECTOR_CLASS(name, latency, interval, alone, source, meaning) {latency, interval, alone != 0},
#include "asc_emu/vector/classes.inc"
#undef ASC_EMU_VECTOR_CLASS
};

bool moves_data(VectorClass c) {
    return c >= VectorClass::load && c <= VectorClass::scatter;
}
bool stores_data(VectorClass c) {
    return c == VectorClass::store || c == VectorClass::store_blocks || c == VectorClass::scatter;
}
// A plain access leaves half of UB to another one.
bool is_plain(VectorClass c) { return c == VectorClass::load || c == VectorClass::store; }

uint32_t ub_offset(const volatile void* address) {
    // Small numbers are offsets.
    const uintptr_t given = reinterpret_cast<uintptr_t>(address), offset = given - asc_emu_vector.ub;
    return static_cast<uint32_t>((offset < kSpaceBytes[static_cast<size_t>(Space::ub)] ? offset : given) & 0x3ffff);
}

}  // namespace

void VectorSchedule::start() {
    base_ += time_.cycles + kRing;
    if (base_ >> 31) {
        for (Slot& s : ring_) s = {};
        base_ = 1;
    }
    count_ = floor_ = 0;
    time_ = {};
}

VectorSchedule::Slot& VectorSchedule::at(uint32_t cycle) {
    Slot& s = ring_[cycle % kRing];
    if (s.tag != base_ + cycle) s = {base_ + cycle, 0, 0, 0, 0, 0, 0, false};
    return s;
}

bool VectorSchedule::fits(uint32_t cycle, const Needs& n) {
    if (at(cycle).issued + n.issued > 2) return false;
    for (uint32_t k = 0; k < n.interval; ++k) {
        const Slot& s = at(cycle + k);
        if (s.units + n.units > 2 || s.accesses + n.accesses > 2 || s.stores + n.stores > 1) return false;
    }
    return !n.ub.banks || banks_fit(at(cycle), n);
}

bool VectorSchedule::banks_fit(Slot& s, const Needs& n) {
    if (!(s.banks & n.ub.banks)) return true;
    const bool both_load = s.stores == 0 && n.stores == 0;
    if (both_load && s.start == n.ub.offset) return true;
    if (!s.waited) ++time_.conflicts;
    s.waited = true;
    return false;
}

void VectorSchedule::take(uint32_t cycle, const Needs& n) {
    at(cycle).issued += static_cast<uint8_t>(n.issued);
    for (uint32_t k = 0; k < n.interval; ++k) {
        Slot& s = at(cycle + k);
        s.units += static_cast<uint8_t>(n.units);
        s.accesses += static_cast<uint8_t>(n.accesses);
        s.stores += static_cast<uint8_t>(n.stores);
        s.banks |= static_cast<uint16_t>(n.ub.banks);
        if (n.ub.banks && !n.stores) s.start = n.ub.offset;
        // Another access makes full use of the cycle after all.
        if (s.waited && s.accesses == 2) {
            s.waited = false;
            --time_.conflicts;
        }
    }
}

uint32_t VectorSchedule::issue(uint32_t vector_class, uint32_t ready, const UbAccess& access) {
    const ClassCost cost = kCosts[vector_class];
    const auto kind = static_cast<VectorClass>(vector_class);
    Needs n = {std::max(cost.interval, access.cycles), 0, 0, 0, 0, access};
    if (moves_data(kind)) {
        n.accesses = is_plain(kind) ? 1 : 2;
        n.stores = stores_data(kind);
        if (!is_plain(kind)) n.ub.banks = 0;
        (n.stores ? time_.stores : time_.loads) += kind == VectorClass::load_alone ? 2 : 1;
    } else {
        n.issued = cost.alone ? 2 : 1, n.units = 1;
    }
    if (count_ >= kWindow) floor_ = std::max(floor_, starts_[count_ % kWindow]);
    uint32_t cycle = std::max(ready, floor_);
    while (!fits(cycle, n)) ++cycle;
    take(cycle, n);
    starts_[count_++ % kWindow] = cycle;
    const uint32_t lost = n.interval - cost.interval, end = cycle + cost.latency + lost;
    time_.conflicts += lost;
    time_.cycles = std::max(time_.cycles, end);
    return end;
}

VectorSchedule& vector_schedule() { return thread_object<VectorSchedule, VectorSchedule>(); }

}  // namespace asc_emu::timing

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

using asc_emu::timing::UbAccess;
using asc_emu::timing::vector_schedule;

ASC_EMU_API uint32_t asc_emu_vector_issue(uint32_t vector_class, uint32_t ready) {
    return vector_schedule().issue(vector_class, ready);
}
ASC_EMU_API uint32_t asc_emu_vector_move(uint32_t vector_class, uint32_t ready, const volatile void* address,
                                         uint32_t blocks) {
    const uint32_t offset = asc_emu::timing::ub_offset(address);
    return vector_schedule().issue(vector_class, ready, {asc_emu::timing::banks_of(offset, blocks), offset, 1});
}
ASC_EMU_API uint32_t asc_emu_vector_move_blocks(uint32_t vector_class, uint32_t ready, const volatile void* address,
                                                uint32_t stride, uint32_t active) {
    const bool write = asc_emu::timing::stores_data(static_cast<asc_emu::VectorClass>(vector_class));
    const uint32_t offset = asc_emu::timing::ub_offset(address);
    return vector_schedule().issue(vector_class, ready,
                                   {0, offset, asc_emu::timing::cycles_of_blocks(offset, stride, active, write)});
}
ASC_EMU_API uint32_t asc_emu_vector_move_indexed(uint32_t vector_class, uint32_t ready, const volatile void* base,
                                                 const uint32_t* offsets, uint32_t count, uint32_t bytes) {
    const uint32_t offset = asc_emu::timing::ub_offset(base);
    auto& schedule = vector_schedule();
    for (uint32_t i = 0; i < count; ++i) schedule.words().add((offset + offsets[i]) & 0x3ffff, bytes);
    return schedule.issue(vector_class, ready, {0, offset, schedule.words().take_cycles()});
}
ASC_EMU_API void asc_emu_vector_fence(void) { vector_schedule().fence(); }
