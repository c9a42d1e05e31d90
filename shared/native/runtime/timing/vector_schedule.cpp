#include "timing/vector_schedule.hpp"

#include <algorithm>

#include "asc_emu/vector/timed.hpp"
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

uint32_t accesses_of(VectorClass c) {
    switch (c) {
        case VectorClass::load: case VectorClass::store: return 1;
        case VectorClass::load_alone: case VectorClass::gather: case VectorClass::scatter: return 2;
        default: return 0;
    }
}

}  // namespace

void VectorSchedule::start() {
    count_ = floor_ = end_ = 0;
    for (Slot& s : ring_) s = {};
}

VectorSchedule::Slot& VectorSchedule::at(uint32_t cycle) {
    Slot& s = ring_[cycle % kRing];
    if (s.cycle != cycle) s = {cycle, 0, 0, 0, 0};
    return s;
}

bool VectorSchedule::fits(uint32_t cycle, const Needs& n) {
    if (at(cycle).issued + n.issued > 2) return false;
    for (uint32_t k = 0; k < n.interval; ++k) {
        const Slot& s = at(cycle + k);
        if (s.units + n.units > 2 || s.accesses + n.accesses > 2 || s.stores + n.stores > 1) return false;
    }
    return true;
}

void VectorSchedule::take(uint32_t cycle, const Needs& n) {
    at(cycle).issued += static_cast<uint8_t>(n.issued);
    for (uint32_t k = 0; k < n.interval; ++k) {
        Slot& s = at(cycle + k);
        s.units += static_cast<uint8_t>(n.units);
        s.accesses += static_cast<uint8_t>(n.accesses);
        s.stores += static_cast<uint8_t>(n.stores);
    }
}

uint32_t VectorSchedule::issue(uint32_t vector_class, uint32_t ready) {
    const ClassCost cost = kCosts[vector_class];
    const auto kind = static_cast<VectorClass>(vector_class);
    Needs n = {cost.interval, 0, 0, accesses_of(kind), 0};
    if (n.accesses) n.stores = kind == VectorClass::store || kind == VectorClass::scatter;
    else n.issued = cost.alone ? 2 : 1, n.units = 1;
    if (count_ >= kWindow) floor_ = std::max(floor_, starts_[count_ % kWindow]);
    uint32_t cycle = std::max(ready, floor_);
    while (!fits(cycle, n)) ++cycle;
    take(cycle, n);
    starts_[count_++ % kWindow] = cycle;
    end_ = std::max(end_, cycle + cost.latency);
    return cycle + cost.latency;
}

VectorSchedule& vector_schedule() { return thread_object<VectorSchedule, VectorSchedule>(); }

}  // namespace asc_emu::timing

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

ASC_EMU_API uint32_t asc_emu_vector_issue(uint32_t vector_class, uint32_t ready) {
    return asc_emu::timing::vector_schedule().issue(vector_class, ready);
}
ASC_EMU_API void asc_emu_vector_fence(void) { asc_emu::timing::vector_schedule().fence(); }
