// Clocks of a block's pipes, and how flags, counters, barriers, mutexes and unit flags pass them on
// (ascend_c_cube.md section 13; emulator.md section 4).
#pragma once

#include <deque>
#include <vector>

#include "checkers/clock.hpp"
#include "op_table.hpp"

namespace asc_emu {

// One pipe. `clock.time` of the pipe itself is what it knows to be complete of its own instructions: those of
// MTE2, MTE3 and FIX start in order but may overlap.
struct Agent {
    Clock clock;
    uint32_t now = 0;            // number of the last instruction
    uint64_t issue_seen = 0;     // newest snapshot of the scalar unit that was joined
    uint32_t num_data = 0;       // instructions that touch memory
    bool told = true;            // others may know that `now` is complete
};

// A raised flag or counter: what its setter knew, and where it was set.
struct Signal {
    Clock clock;
    const void* site = nullptr;
    uint8_t agent = 0;
};

// What the scalar unit of a core knew when it issued instructions that still wait in queues.
struct IssueLog {
    std::deque<Clock> snapshots;
    uint64_t newest = 0;         // number of the last snapshot, from 1
    bool changed = true;
    std::deque<uint64_t> pending[kNumPipes];
};

struct FlagState {
    Signal raised;
    uint32_t last_wait = 0;      // time of the destination pipe at its last wait; 0 = none
    const void* wait_site = nullptr;
};

// An object that belongs to one block at a time: older contents are dropped at the first use.
template <class T>
struct Fresh {
    T value;
    uint32_t epoch = 0;
    T& at(uint32_t now) {
        if (epoch != now) {
            value = {};
            epoch = now;
        }
        return value;
    }
};

class SyncState {
public:
    void reset();

    Agent& agent(const Core& core, Pipe pipe) { return agents_[agent_of(core.slot, pipe)]; }
    Agent& agent(uint8_t id) { return agents_[id]; }

    // Program order: an instruction of `pipe` starts after what the scalar unit knows now.
    void issued(const Core& core, Pipe pipe);
    // Starts the next instruction of a pipe: takes over what was known at its issue, and counts.
    Agent& begin(const Core& core, Pipe pipe);
    // Parts an instruction of an ordered pipe that runs: what it does from now on comes after what it did before.
    Agent& step(const Core& core, Pipe pipe);
    // The same for what tells of no order by itself, so that accesses one after the other count as one.
    Agent& go_on(const Core& core, Pipe pipe);
    // What is complete when `pipe` has run everything up to now.
    Clock complete(uint8_t agent);
    // The scalar unit learned something or touched memory.
    void scalar_changed(const Core& core) { issue_[static_cast<size_t>(core.slot)].changed = true; }
    void acquire(const Core& core, Pipe pipe, const Clock& clock);

    FlagState& flag(const Core& core, Pipe source, Pipe destination, uint32_t id) {
        return flags_[((static_cast<size_t>(core.slot) * kNumPipes + static_cast<size_t>(source)) * kNumPipes +
                       static_cast<size_t>(destination)) * kNumEvents + id].at(epoch_);
    }
    std::deque<Signal>& counter(CoreSlot slot, uint32_t id) {
        return counters_[static_cast<size_t>(slot)][id].at(epoch_);
    }
    // Arrivals of the two vector cores that wait for each other, mode 1 and mode 2.
    std::deque<Signal>& arrivals(uint32_t mode, uint32_t id, uint32_t sub) {
        return arrivals_[mode == 1 ? 0 : 1][id][sub].at(epoch_);
    }
    // By mutex and pipe of the last unlock.
    Signal& unlocked(const Core& core, uint32_t id, Pipe pipe) {
        return mutexes_[static_cast<size_t>(core.slot)][id][static_cast<size_t>(pipe)].at(epoch_);
    }
    // Per unit flag of L0C: instruction of M that raised it, of FIX that cleared it.
    struct UnitTimes {
        uint32_t raised = 0, cleared = 0;
        const void* site = nullptr;
    };
    UnitTimes& unit(uint32_t index) { return units_[index]; }

private:
    static constexpr size_t kUnits = kSpaceBytes[static_cast<size_t>(Space::l0c)] / kUnitFlagBytes;

    Agent agents_[kNumAgents];
    IssueLog issue_[3];
    uint32_t epoch_ = 0;
    std::vector<Fresh<FlagState>> flags_ =
        std::vector<Fresh<FlagState>>(3 * kNumPipes * kNumPipes * kNumEvents);
    Fresh<std::deque<Signal>> counters_[3][kNumCounters];
    Fresh<std::deque<Signal>> arrivals_[2][16][2];
    Fresh<Signal> mutexes_[3][kNumMutexes][kNumPipes];
    UnitTimes units_[kUnits];
};

// Instructions of these pipes run strictly one after the other; copies of the others may overlap.
constexpr bool runs_in_order(Pipe pipe) {
    return pipe != Pipe::MTE2 && pipe != Pipe::MTE3 && pipe != Pipe::FIX;
}

}  // namespace asc_emu
