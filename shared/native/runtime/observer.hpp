// Hooks for checkers and the timing model. No observer is installed by default: a launch then pays one
// comparison with null per instruction (emulator.md sections 4 and 5).
#pragma once

#include <vector>

#include "core.hpp"
#include "op_table.hpp"

namespace asc_emu {

namespace timing {
struct VectorTime;
}

struct OrderedAccess;
struct ThreadAccess;

// What a scalar access to GM around the data cache does (ascend_c_cube.md sections 12 and 16); or that the cache
// writes back the line of an address, or all lines (section 14).
enum class ScalarAccess : uint8_t { load = 0, store = 1, update = 2, clean_line = 3, clean_all = 4 };

class Observer {
public:
    virtual ~Observer() = default;
    virtual void on_launch(const Launch&) {}
    virtual void on_block(Block&) {}
    // At issue, before on_issue. False: its accesses are skipped (they were reported and the launch goes on).
    virtual bool permits(const Core&, const Command&, const OpInfo&, const AccessList&) { return true; }
    // At issue, in program order; `list` holds what the instruction will touch.
    virtual void on_issue(const Core&, const Command&, const OpInfo&, const AccessList&) {}
    // When the pipe executes it, before it does.
    virtual void on_execute(const Core&, const Command&, const OpInfo&) {}
    // A load or store inside a vector function that runs now; the address lies in UB.
    virtual void on_vector_access(const Core&, uint32_t /*offset*/, uint32_t /*bytes*/, bool /*write*/,
                                  const void* /*site*/) {}
    // The same with what its place among the function's other accesses needs, besides on_vector_access. Scalar ones
    // come here alone, and may be those by which an instruction carries itself out.
    virtual void on_function_access(const Core&, const OrderedAccess&) {}
    // A vector function that told of accesses has run.
    virtual void on_function_end(const Core&) {}
    // A vector function has run. Kernels built for timing only.
    virtual void on_vector_time(const Core&, const timing::VectorTime&) {}
    // The same under data=skip, where one function stands for all with its arguments.
    virtual void on_vector_work(const Core&, const timing::VectorTime&) {}
    // Before the access, for a load after it.
    virtual void on_scalar_access(const Core&, ScalarAccess, uint64_t /*address*/, uint32_t /*bytes*/,
                                  const void* /*site*/) {}
    // A plain load or store of the scalar unit, told before it: in global memory, in what is the kernel's own
    // (scalar_owns), or in none at all. `polling`: of a volatile object.
    virtual void on_plain_access(const Core&, uint64_t /*address*/, uint64_t /*bytes*/, bool /*write*/,
                                 bool /*polling*/, const void* /*site*/) {}
    // A load or store of a SIMT thread in UB, besides on_vector_access.
    virtual void on_thread_access(const Core&, uint32_t /*offset*/, uint32_t /*bytes*/, const ThreadAccess&) {}
    // One outside UB: in global memory, in what is the thread's own (SimtBlock::owns), or in none at all.
    virtual void on_thread_memory(const Core&, uint64_t /*address*/, uint64_t /*bytes*/, const ThreadAccess&) {}
    // Before those: the address of one is no multiple of what its width needs.
    virtual void on_misaligned(const Core&, uint64_t /*address*/, uint64_t /*bytes*/, const ThreadAccess&) {}
    // Threads of a SIMT function wait at two barriers (lines `first` and `second`), or some of `total` ended without
    // the barrier that the others wait for (`second` is null).
    virtual void on_divergent_barrier(const Core&, const void* /*first*/, const void* /*second*/, uint32_t /*waiting*/,
                                      uint32_t /*total*/) {}
    // Threads of a warp (a bit each in `lanes`) read by a shuffle what lanes bring that take no part in it.
    virtual void on_stray_shuffle(const Core&, const void* /*site*/, uint32_t /*lanes*/, uint32_t /*active*/) {}
    // A thread left a loop that waits for plain memory (`what`), since its warp could not go on otherwise.
    virtual void on_wait_in_vain(const Core&, const char* /*what*/, const void* /*site*/) {}
    // A call for the other core type, ignored as hardware does.
    virtual void on_wrong_core(const Core&, const OpInfo&, const void* /*site*/) {}
    virtual void on_block_end(Block&) {}
    // No core of any worker can go on; the blocks that are not done.
    virtual void on_deadlock(const std::vector<Block*>&) {}
    virtual void on_finish(const Launch&) {}
};

// Null, the only observer, or one that passes every event on to all of them.
extern Observer* g_observer;

// Between launches only.
void add_observer(Observer& observer);
void remove_observer(Observer& observer);

// Tells the observers, if there are any, of a load or store of a vector function (`more`: of the instruction that was
// told of before), and of a store of the lanes of `width` bytes that a mask (a bit per byte, 256) has active, `bytes`
// each in UB.
void tell_vector_access(const volatile void* address, uint32_t bytes, bool write, bool more, const void* site);
void tell_vector_lanes(const volatile void* address, const uint64_t* mask, uint32_t width, uint32_t bytes,
                       const void* site);

}  // namespace asc_emu
