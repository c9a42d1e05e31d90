// State of one emulated core and of the block it belongs to (ascend_c_cube.md section 2; emulator.md section 2).
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "access.hpp"
#include "asc_emu/command.hpp"
#include "asc_emu/registers.hpp"
#include "numerics/ahead.hpp"
#include "ops/l0_views.hpp"
#include "ops/l1_views.hpp"

namespace asc_emu {

// A kernel whose blocks are single vector cores: two of them fit in an AI core.
constexpr bool is_vector_kernel(uint32_t num_aic, uint32_t num_aiv) { return num_aic == 0 && num_aiv == 1; }
// Blocks that the chip runs at the same time.
constexpr uint32_t places_of_blocks(uint32_t num_cores, uint32_t num_aic, uint32_t num_aiv) {
    return is_vector_kernel(num_aic, num_aiv) ? num_cores * 2 : num_cores;
}

constexpr size_t kNumSpaces = static_cast<size_t>(Space::count);
constexpr size_t kNumPipes = static_cast<size_t>(Pipe::all);

// Bytes of each memory; GM has no size of its own.
constexpr uint32_t kSpaceBytes[kNumSpaces] = {
    0,            // gm
    512 * 1024,   // l1
    64 * 1024,    // l0a
    64 * 1024,    // l0b
    4 * 1024,     // l0a_mx
    4 * 1024,     // l0b_mx
    256 * 1024,   // l0c
    4 * 1024,     // bt
    4 * 1024,     // fb
    256 * 1024,   // ub
    3 * 1024,     // ssb
};
const char* space_name(Space space);
const char* pipe_name(Pipe pipe);

constexpr uint32_t kNumEvents = 8;         // event ids per pipe pair
constexpr uint32_t kNumMutexes = 32;
constexpr uint32_t kNumCounters = 32;      // cross-core counters: 16, and 16 more on the cube core
constexpr int kMaxCounter = 15;
constexpr uint32_t kUnitFlagBytes = 512;   // of L0C behind one unit flag
using UnitFlags = std::bitset<kSpaceBytes[static_cast<size_t>(Space::l0c)] / kUnitFlagBytes>;
constexpr uint64_t kL0Granule = 2048;      // bytes of L0A and L0B that share a content version
constexpr uint64_t kNumL0Granules = kSpaceBytes[static_cast<size_t>(Space::l0a)] / kL0Granule;

struct Fiber;
class SimtBlock;
struct Block;
struct PendingWait;
class Launch;

// One instruction in a pipe's queue.
struct Command {
    uint16_t op;
    Pipe pipe;
    const void* site;      // return address in the kernel
    uint64_t sequence;     // program order on its core
    bool skip = false;     // its accesses are bad and reported: only its effect on flags takes place
    alignas(16) std::byte params[kMaxInsnBytes];
    template <class Insn>
    const Insn& as() const {
        return *reinterpret_cast<const Insn*>(params);
    }
};

// A buffer id (ascend_c_cube.md section 13.2): unlocks in program order, the pipe of each, and whether it
// has been executed. `first` is the number of the oldest ticket kept.
struct Mutex {
    struct Ticket {
        Pipe pipe;
        bool done;
    };
    std::deque<Ticket> tickets;
    uint64_t first = 0;
    bool held = false;         // an open lock/unlock pair, in program order
    Pipe held_by = Pipe::S;
    void reset() {
        tickets.clear();
        first = 0;
        held = false;
    }
};

struct Core {
    // Memory -------------------------------------------------------------------------------------
    // Host address of byte `offset` of an on-chip memory; masks to the low 20 bits.
    std::byte* at(Space space, uint64_t offset) const {
        return base[static_cast<size_t>(space)] + (offset & kOffsetMask);
    }
    std::byte* base[kNumSpaces] = {};      // L1 of a vector core is its block's L1; UB of a cube core is AIV0's
    Registers regs;

    // Place --------------------------------------------------------------------------------------
    CoreSlot slot = CoreSlot::aic;
    bool is_aic() const { return slot == CoreSlot::aic; }
    uint32_t sub_block() const { return slot == CoreSlot::aiv1 ? 1 : 0; }
    Block* block = nullptr;
    Fiber* fiber = nullptr;
    const PendingWait* wait = nullptr;     // while the fiber is blocked

    // Pipes --------------------------------------------------------------------------------------
    std::deque<Command> queue[kNumPipes];
    uint32_t num_queued = 0;
    uint64_t sequence = 0;
    uint64_t last_fill_sequence = 0;       // MTE1 instructions issued later wait for queued fills

    // Synchronisation ----------------------------------------------------------------------------
    uint8_t flags[kNumPipes][kNumPipes] = {};   // bit = event id
    std::atomic<int> counters[kNumCounters] = {};
    Mutex mutexes[kNumMutexes];
    UnitFlags unit_flags;

    // SIMT function at the head of PIPE_V, from its start to its end; whether all its threads poll memory.
    SimtBlock* simt = nullptr;
    bool simt_polling = false;

    // Versions of L0A / L0B contents: a new number with every write, so that packed forms can be reused
    // (ops/l0_version.hpp); 0: unknown.
    std::array<uint64_t, kNumL0Granules> l0_versions[2] = {};

    // Arrays declared in on-chip memories: next free offset, and the place of each declaration.
    struct Array {
        const void* site;
        uint64_t bytes;
        uint32_t offset;
    };
    uint32_t array_top[kNumSpaces] = {};
    std::vector<Array> arrays[kNumSpaces];

    // Numbers of pages that belong to no loaded object, as one launch has found (simt/own_memory.cpp).
    struct NoObject {
        uint64_t launch = 0;
        std::array<uint64_t, 64> pages{};
    };
    mutable NoObject no_object;

    void reset();
};

// The cores that share one block: a cube core and up to two vector cores.
struct Block {
    uint32_t index = 0;
    uint32_t num_aic = 0, num_aiv = 0;
    Core cores[3];                          // by CoreSlot
    bool has(CoreSlot slot) const {
        return slot == CoreSlot::aic ? num_aic > 0 : static_cast<uint32_t>(slot) <= num_aiv;
    }
    Core& core(CoreSlot slot) { return cores[static_cast<size_t>(slot)]; }
    const Core& core(CoreSlot slot) const { return cores[static_cast<size_t>(slot)]; }
    Launch* launch = nullptr;
    void* checker = nullptr;                // what the checkers know of the block, while they run
    L0Views l0_views;
    L1Views l1_views;
    numerics::Ahead ahead;                  // where the next copies to L1 read, most likely
    bool views_wait() const { return l0_views.count != 0 || l1_views.count != 0; }
    int subblock_arrivals[16][2] = {};      // mode 1 and mode 2: arrivals of the two vector cores
    int block_arrivals[16][2] = {};
    bool done() const;
};

// The memory an access means: the core's own, or another core's of its block.
inline std::byte* memory_of(const Core& core, const Access& a) {
    const Core& owner = a.core == CoreSlot::own ? core : core.block->core(a.core);
    return owner.at(a.space, a.address);
}

// Drops the SIMT function of a core, finished or not.
void release_simt(Core& core);

// The core that runs on this thread.
Core& current_core();

// Numerics of the launch: exact (default) or fast.
bool fast_numerics(const Core& core);
// Atomic read-modify-write of GM by several cores: held by the callee while it stores (no-op on one worker).
class GmAtomicGuard {
public:
    GmAtomicGuard(const Core& core, bool armed);
    ~GmAtomicGuard();
    GmAtomicGuard(const GmAtomicGuard&) = delete;

private:
    bool locked_;
    Launch* launch_;
};

}  // namespace asc_emu
