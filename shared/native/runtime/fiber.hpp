// Cooperative fibers: one per emulated core. A switch saves the callee-saved registers only; fibers stay on
// the thread that created them (emulator.md section 2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace asc_emu {

struct Core;

enum class FiberState : uint8_t { ready, blocked, spinning, done, failed };

struct Fiber {
    void* stack_pointer = nullptr;
    std::byte* stack = nullptr;        // mapping of kStackBytes plus a guard page below
    FiberState state = FiberState::done;
    Core* core = nullptr;
    bool may_defer = false;            // the scheduler lets a blocked instruction wait in its queue

    ~Fiber();
    // Prepares the fiber to run entry(core) at the next resume.
    void start(Core* c, void (*entry)(Core*));
};

constexpr size_t kStackBytes = 512 * 1024;

// Continues `fiber` until it suspends; called on the scheduler's own stack.
void resume(Fiber& fiber);
// Returns to the scheduler; comes back at the next resume.
void suspend();
// Fiber that runs on this thread, or null.
Fiber* running_fiber();
// Leaves the running fiber for good, also from a signal handler's landing point.
[[noreturn]] void abandon();

// Raw switches, for stacks that are no fibers of the scheduler (threads of SIMT functions).
extern "C" void asc_emu_switch_context(void** save, void* load);
// Stack pointer of a new stack [top - bytes, top) that enters `function` at its first switch.
void* initial_stack(std::byte* top, size_t bytes, void (*function)());

}  // namespace asc_emu
