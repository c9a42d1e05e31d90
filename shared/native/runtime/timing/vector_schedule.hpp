// Time of one SIMD vector function: its instructions in a list schedule (ascend_c_vector.md section 16).
#pragma once

#include <cstdint>

namespace asc_emu::timing {

// In a cycle at most two instructions are issued, some only alone, and beside them loads and stores: UB gives two
// vectors, or gives one and takes one. An instruction starts when its operands are there, within a window behind the
// oldest that has not started. NOTE: [D] counts loads among the two and lets a store be issued alone only; a load, an
// operation and a store would take two cycles then, where [P] has 1.06 to 1.25. We follow [P].
class VectorSchedule {
public:
    void start();
    // Cycle from which the result of an instruction of `vector_class` can be used.
    uint32_t issue(uint32_t vector_class, uint32_t ready);
    // Later instructions start behind the results of all so far.
    void fence() { floor_ = end_ > floor_ ? end_ : floor_; }
    // Cycles from the first instruction to the last result.
    uint32_t cycles() const { return end_; }

private:
    static constexpr uint32_t kWindow = 64, kRing = 4096;
    struct Slot {
        uint32_t cycle;
        uint8_t issued, units, accesses, stores;
    };
    // What an instruction takes: issue places and UB in its first cycle, units and UB for `interval` of them.
    struct Needs {
        uint32_t interval, issued, units, accesses, stores;
    };
    Slot& at(uint32_t cycle);
    bool fits(uint32_t cycle, const Needs& n);
    void take(uint32_t cycle, const Needs& n);

    Slot ring_[kRing];
    uint32_t starts_[kWindow];   // of the last instructions
    uint32_t count_ = 0, floor_ = 0, end_ = 0;
};

// Of the calling worker.
VectorSchedule& vector_schedule();

}  // namespace asc_emu::timing
