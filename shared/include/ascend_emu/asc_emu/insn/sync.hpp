// Synchronisation instructions (ascend_c_cube.md section 13).
#pragma once

#include "asc_emu/command.hpp"

namespace asc_emu {

// Queued on pipe `source`: raises flag (source, destination, id) when executed.
struct SetFlag {
    static constexpr Op kOp = Op::SetFlag;
    Pipe source, destination;
    uint32_t id;
};

// Queued on pipe `destination`: waits for the flag and clears it.
struct WaitFlag {
    static constexpr Op kOp = Op::WaitFlag;
    Pipe source, destination;
    uint32_t id;
};

// Queued on `pipe`; on Pipe::all the scalar unit waits for every pipe of the core.
struct PipeBarrier {
    static constexpr Op kOp = Op::PipeBarrier;
    Pipe pipe;
};

// Buffer id: waits for the unlocks that other pipes issued before it (13.2).
struct Lock {
    static constexpr Op kOp = Op::Lock;
    Pipe pipe;
    bool non_blocking;
    uint32_t id;
    uint64_t tickets;      // unlocks issued before, filled in at issue
};
struct Unlock {
    static constexpr Op kOp = Op::Unlock;
    Pipe pipe;
    bool non_blocking;
    uint32_t id;
    uint64_t ticket;       // its number, filled in at issue
};

// Mode 4: raises a counter of another core of the block (13.3).
struct IntraArrive {
    static constexpr Op kOp = Op::IntraArrive;
    Pipe pipe;
    uint32_t id;
};

// Modes 0, 1 and 2 (13.4).
struct CrossArrive {
    static constexpr Op kOp = Op::CrossArrive;
    Pipe pipe;
    uint8_t mode;
    uint32_t id;
};

// Waits for a counter of the own core and lowers it (13.3 and 13.4).
struct CounterWait {
    static constexpr Op kOp = Op::CounterWait;
    Pipe pipe;
    uint8_t mode;          // 0, 1, 2 or 4: for reports
    uint32_t id;
};

}  // namespace asc_emu
