// Time of one SIMD vector function: its instructions in a list schedule (ascend_c_vector.md section 16).
#pragma once

#include <cstdint>

#include "timing/ub_banks.hpp"

namespace asc_emu::timing {

// What a vector function asked of its pipe; cycles without start and drain.
struct VectorTime {
    uint32_t cycles = 0;
    uint32_t loads = 0, stores = 0;   // registers moved
    // Half cycles that UB lost to bank conflicts: it moves two registers a cycle, so a cycle in which a second one
    // did not fit counts as one, a cycle that strided blocks or elements by index take too much as two.
    uint32_t conflicts = 0;
    bool operator==(const VectorTime&) const = default;
};

// What a load or store wants of UB.
struct UbAccess {
    uint32_t banks = 0;     // a bit each; of no matter to one that has UB for itself
    uint32_t offset = 0;    // of its first byte
    uint32_t cycles = 0;    // that its own banks need
};

// In a cycle at most two instructions are issued, some only alone, and beside them loads and stores: UB gives two
// vectors, or gives one and takes one, from and to different banks; loads of the same place share it. An instruction
// starts when its operands are there, within a window behind the oldest that has not started. NOTE: [D] counts loads
// among the two and lets a store be issued alone only; a load, an operation and a store would take two cycles then,
// where [P] has 1.06 to 1.25. We follow [P].
class VectorSchedule {
public:
    void start();
    // Cycle from which the result of an instruction of `vector_class` can be used.
    uint32_t issue(uint32_t vector_class, uint32_t ready, const UbAccess& access = {});
    // Later instructions start behind the results of all so far.
    void fence() { floor_ = time_.cycles > floor_ ? time_.cycles : floor_; }
    // `cycles`: from the first instruction to the last result.
    const VectorTime& time() const { return time_; }
    WordConflicts& words() { return words_; }

private:
    static constexpr uint32_t kWindow = 64, kRing = 8192;
    struct Slot {
        uint32_t tag;       // base_ + cycle
        uint32_t start;     // of the load in it
        uint16_t banks;
        uint16_t use;       // counters of what is taken
        bool waited;        // something did not fit because of its banks
    };
    Slot& at(uint32_t cycle);
    bool fits(uint32_t cycle, uint32_t interval, uint32_t use, uint32_t issued);
    bool banks_fit(Slot& slot, uint32_t use, const UbAccess& ub);
    void take(uint32_t cycle, uint32_t interval, uint32_t use, uint32_t issued);

    Slot ring_[kRing] = {};
    uint32_t starts_[kWindow];   // of the last instructions
    uint32_t base_ = 1, count_ = 0, floor_ = 0;
    VectorTime time_;
    WordConflicts words_;
};

// Of the calling worker.
VectorSchedule& vector_schedule();

}  // namespace asc_emu::timing
