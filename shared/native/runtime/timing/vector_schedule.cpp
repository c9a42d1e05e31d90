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

// Counters of what is taken in a cycle, four bits each. They begin so that one more than allowed sets the top bit:
// two instructions issued, two arithmetic units, two accesses to UB, one of them a store.
constexpr uint32_t kIssued = 1, kUnit = 1 << 4, kUb = 1 << 8, kStore = 1 << 12;
constexpr uint16_t kNothing = 5 * kIssued + 5 * kUnit + 5 * kUb + 6 * kStore;
constexpr uint32_t kTooMany = 0x8888;
constexpr bool both_accesses(uint32_t use) { return (use >> 8 & 15) == 7; }
constexpr bool a_store(uint32_t use) { return (use >> 12 & 15) == 7; }

constexpr bool stores_data(VectorClass c) {
    return c == VectorClass::store || c == VectorClass::store_blocks || c == VectorClass::scatter;
}

// What an instruction takes in each of its cycles; issue places in the first one only.
struct ClassNeeds {
    uint16_t use, issued;
    uint8_t loads, stores;
    bool plain;   // leaves half of UB to another access
};
constexpr ClassNeeds needs_of(VectorClass c) {
    if (c < VectorClass::load || c > VectorClass::scatter)
        return {kUnit, static_cast<uint16_t>(kCosts[static_cast<size_t>(c)].alone ? 2 * kIssued : kIssued), 0, 0, false};
    const bool plain = c == VectorClass::load || c == VectorClass::store, store = stores_data(c);
    const uint8_t registers = c == VectorClass::load_alone ? 2 : 1;
    return {static_cast<uint16_t>((plain ? kUb : 2 * kUb) + (store ? kStore : 0)), 0,
            static_cast<uint8_t>(store ? 0 : registers), static_cast<uint8_t>(store ? 1 : 0), plain};
}
struct NeedsTable {
    ClassNeeds of[static_cast<size_t>(VectorClass::count)];
    constexpr NeedsTable() : of{} {
        for (size_t c = 0; c < static_cast<size_t>(VectorClass::count); ++c) of[c] = needs_of(static_cast<VectorClass>(c));
    }
};
constexpr NeedsTable kNeeds;

constexpr uint32_t kUbBytes = kSpaceBytes[static_cast<size_t>(Space::ub)];

// Indices may lead back into UB from a base outside of it.
uint32_t ub_offset(const volatile void* address) {
    // Small numbers are offsets.
    const uintptr_t given = reinterpret_cast<uintptr_t>(address), offset = given - asc_emu_vector.ub;
    return static_cast<uint32_t>((given < kUbBytes ? given : offset) % kUbBytes);
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

inline VectorSchedule::Slot& VectorSchedule::at(uint32_t cycle) {
    Slot& s = ring_[cycle % kRing];
    if (s.tag != base_ + cycle) s = {base_ + cycle, 0, 0, kNothing, false};
    return s;
}

inline bool VectorSchedule::fits(uint32_t cycle, uint32_t interval, uint32_t use, uint32_t issued) {
    if ((at(cycle).use + use + issued) & kTooMany) return false;
    for (uint32_t k = 1; k < interval; ++k)
        if ((at(cycle + k).use + use) & kTooMany) return false;
    return true;
}

inline bool VectorSchedule::banks_fit(Slot& s, uint32_t use, const UbAccess& ub) {
    if (!(s.banks & ub.banks)) return true;
    if (s.start == ub.offset && !a_store(s.use) && use < kStore) return true;
    if (!s.waited) ++time_.conflicts;
    s.waited = true;
    return false;
}

inline void VectorSchedule::take(uint32_t cycle, uint32_t interval, uint32_t use, uint32_t issued) {
    for (uint32_t k = 0; k < interval; ++k) {
        Slot& s = at(cycle + k);
        s.use = static_cast<uint16_t>(s.use + use + (k ? 0 : issued));
        // Another access makes full use of the cycle after all.
        if (s.waited && both_accesses(s.use)) {
            s.waited = false;
            --time_.conflicts;
        }
    }
}

uint32_t VectorSchedule::issue(uint32_t vector_class, uint32_t ready, const UbAccess& ub) {
    const ClassCost cost = kCosts[vector_class];
    const ClassNeeds needs = kNeeds.of[vector_class];
    const uint32_t interval = std::max(cost.interval, ub.cycles);
    if (count_ >= kWindow) floor_ = std::max(floor_, starts_[count_ % kWindow]);
    uint32_t cycle = std::max(ready, floor_);
    while (!fits(cycle, interval, needs.use, needs.issued) ||
           (needs.plain && !banks_fit(at(cycle), needs.use, ub)))
        ++cycle;
    take(cycle, interval, needs.use, needs.issued);
    if (needs.plain) {
        Slot& s = at(cycle);
        s.banks |= static_cast<uint16_t>(ub.banks);
        if (needs.loads) s.start = ub.offset;
    }
    starts_[count_++ % kWindow] = cycle;
    time_.loads += needs.loads;
    time_.stores += needs.stores;
    const uint32_t lost = interval - cost.interval, end = cycle + cost.latency + lost;
    time_.conflicts += 2 * lost;
    time_.cycles = std::max(time_.cycles, end);
    return end;
}

VectorSchedule& vector_schedule() {
    // NOTE: every instruction comes here; a plain pointer is found faster than the object's owner.
    static thread_local VectorSchedule* schedule = nullptr;
    if (!schedule) schedule = &thread_object<VectorSchedule, VectorSchedule>();
    return *schedule;
}

}  // namespace asc_emu::timing

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

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
                                                 const uint32_t* offsets, uint32_t half, uint32_t count,
                                                 uint32_t bytes) {
    const uint32_t offset = asc_emu::timing::ub_offset(base);
    auto& schedule = vector_schedule();
    const auto cycles = [&](uint32_t first, uint32_t end) {
        using asc_emu::timing::kUbBytes;
        for (uint32_t i = first; i < end; ++i) schedule.words().add((offset + offsets[i]) % kUbBytes, bytes);
        return std::max(schedule.words().take_cycles(), 1u);
    };
    return schedule.issue(vector_class, ready, {0, offset, cycles(0, half) + cycles(half, count)});
}
ASC_EMU_API void asc_emu_vector_fence(void) { vector_schedule().fence(); }
