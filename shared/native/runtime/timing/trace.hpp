// What one launch asked of its pipes, without any time: enough to simulate it again with other constants
// (emulator.md section 5). File format: trace_file.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op_table.hpp"

namespace asc_emu::timing {

enum class Kind : uint8_t {
    work,           // occupies its pipe
    set_flag,       // value = (source * 8 + destination) * 8 + id
    wait_flag,      // the same
    barrier,        // of one pipe; on Pipe::all the scalar unit waits for every pipe
    lock,           // value = id, bytes = unlocks issued before
    unlock,         // value = id, bytes = number of the unlock
    intra_arrive,   // value = slot of the other core * 32 + counter
    cross_arrive,   // value = mode * 32 + id
    counter_wait,   // value = counter
    wait_fill,      // MTE1 waits for fills of L1; value = number of fills
};

// Bits of Record::flags.
constexpr uint8_t kUnitUpdate = 1;   // raises (mmad) or clears (Fixpipe) unit flags when done
constexpr uint8_t kFill = 2;         // a fill of L1

struct Record {
    Kind kind;
    Pipe pipe;
    CostClass cost;
    uint8_t variant;       // Work::variant
    uint16_t op;
    uint8_t flags;
    uint8_t unused;
    uint32_t site;         // return address in the kernel object, as an offset
    uint32_t value;        // operand of a synchronisation, hardware requests, stores of a vector function
    union {
        uint32_t wait_unit;    // unit flag updates of the other pipe (M or FIX) that must be over; 0 = none
        uint32_t cycles;       // of a vector function: its schedule; 0 = not known
    };
    uint32_t gm;           // 1 + index into CoreTrace::gm; 0 = no global memory
    union {
        uint64_t bytes;    // moved; multiply-adds after alignment for mmad
        struct {
            uint32_t loads, conflicts;   // of a vector function: VectorTime
        } vector;
    };
};
static_assert(sizeof(Record) == 32);

// Global memory that an instruction touches: segments in up to three nested loops.
struct GmShape {
    struct Loop {
        uint64_t count;
        int64_t stride;
    };
    uint64_t address;
    uint32_t bytes;        // of a segment
    uint8_t write;
    uint8_t hint;          // Work::l2_hint
    uint16_t unused;
    Loop loops[3];         // innermost first

    uint64_t segments() const { return loops[0].count * loops[1].count * loops[2].count; }
};
static_assert(sizeof(GmShape) == 64);

struct CoreTrace {
    uint32_t block = 0;
    CoreSlot slot = CoreSlot::aic;
    uint64_t flops = 0;                  // useful: 2 * M * N * K as issued
    std::vector<Record> records;         // program order
    std::vector<GmShape> gm;
};

struct LaunchTrace {
    std::string kernel;
    std::string object;                  // file of the kernel, for source lines
    uint32_t num_blocks = 0, num_aic = 0, num_aiv = 0, num_cores = 0;
    std::vector<CoreTrace> cores;        // sorted by block, then slot
    std::vector<std::string> op_names;   // by Record::op
};

// Both return what went wrong, empty on success.
std::string save_trace(const LaunchTrace& trace, const std::string& path);
std::string load_trace(LaunchTrace& trace, const std::string& path);

}  // namespace asc_emu::timing
