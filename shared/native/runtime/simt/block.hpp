// One running SIMT vector function of a core: its threads, warps and barrier (ascend_c_vector.md section 14).
//
// Threads run one after the other on the stack of a runner until one has to wait; that thread keeps the stack, and
// the next threads get another. A warp operation is carried out when no lane of the warp can go on; a barrier when
// all live threads are there. When every thread only polls memory, the function yields to the other cores.
#pragma once

#include <cstdint>
#include <vector>

#include "asc_emu/insn/simt.hpp"
#include "asc_emu/simt/runtime_api.h"
#include "fiber.hpp"
#include "simt/stacks.hpp"
#include "simt/work.hpp"

namespace asc_emu {

constexpr uint32_t kWarpLanes = 32;
constexpr uint32_t kMaxSimtThreads = 2048;
// UB without 8 KiB of reserves and the smallest data cache of SIMT functions (ascend_c_vector.md section 1.3).
constexpr uint32_t kMaxSimtUbBytes = (256 - 8 - 32) * 1024;

enum class ThreadState : uint8_t { waiting_to_start, ready, at_warp_operation, at_barrier, polling, done };

// What goes on without lanes of the warp that poll: nothing, warp operations, or also meetings.
enum class Haste : uint8_t { none, operations, meetings };

struct SimtThread {
    ThreadState state = ThreadState::waiting_to_start;
    uint8_t hints = 0;              // spin hints since it last waited
    bool plain = false;             // polls memory that is not volatile
    bool in_vain = false;           // and has done so for too long
    int32_t parameter = 0;
    uint64_t value = 0;             // brought to a warp operation, then its result
    const void* site = nullptr;
    const void* caller = nullptr;   // of a barrier: its return address
    void (*combine)(asc_emu_warp*) = nullptr;
    uint3 index{};
    ThreadStack stack;              // while it waits
};

class SimtBlock {
public:
    SimtBlock(Core& core, const SimtFunction& function);
    ~SimtBlock();
    SimtBlock(const SimtBlock&) = delete;

    // Goes on until the function ends (true) or all threads poll memory.
    bool advance();
    bool finished() const { return finished_; }
    bool is_lane_loop() const { return function_.lanes != nullptr; }

    // For the running thread.
    uint64_t exchange(const void* site, uint64_t value, int32_t parameter, void (*combine)(asc_emu_warp*),
                      const void* caller);
    void barrier(const void* site, const void* caller);
    // Whether the thread shall leave the loop, which can only be in one that reads plain memory.
    bool poll(bool plain);
    // Waits for the lanes of the warp that come to the same place.
    void meet(const void* site);
    uint3 index() const { return threads_[current_].index; }
    uint32_t warp() const { return current_ / kWarpLanes; }
    // Counts functions and barriers of the process.
    uint64_t epoch() const { return epoch_; }
    // Whether an address is one of the running thread's coordinates, or lies on its stack, among the function's or
    // the kernel's arguments, on the scalar unit's stack, or in a loaded object: memory that is no tensor.
    bool owns(uint64_t address);
    uint32_t lane() const { return current_ % kWarpLanes; }
    uint32_t live_lanes() const;

private:
    static void fiber_entry(Core* core);
    static void runner_entry();
    void run_all();
    void run_warp(uint32_t first);
    void start_threads(uint32_t end);
    void enter(uint32_t index);
    void leave(ThreadState state);
    void finish(uint32_t index);
    bool release_barrier();
    void tell_divergence() const;
    bool carry_out(uint32_t first, Haste haste);
    bool hurry();
    bool give_up_waits(uint32_t first);

    Core& core_;
    const SimtFunction function_;
    SimtWork work_;                 // empty while nobody observes
    std::vector<SimtThread> threads_;
    uint32_t live_ = 0, at_barrier_ = 0;
    uint32_t current_ = 0;          // the running thread
    uint32_t next_ = 0, end_ = 0;   // threads that a runner starts now
    uint32_t idle_rounds_ = 0;
    bool progress_ = false;
    uint64_t epoch_ = 0;
    void* hub_ = nullptr;           // stack pointer of run_all while a thread runs
    ThreadStack runner_;            // the stack threads are started on
    std::vector<ThreadStack> spare_;  // runners of this function that are not in use
    Fiber* fiber_ = nullptr;
    bool finished_ = false;
};

// The function whose thread runs on this worker, or null.
SimtBlock* running_simt();
// Forgets the scratch memory of an earlier function.
void reset_simt_scratch();
// Lets another thread run, if the caller is one; else false.
bool simt_poll();

}  // namespace asc_emu
