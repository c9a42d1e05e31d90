// Interface between the pipes of a core (pipes.cpp) and the scheduler.
#pragma once

#include <cstdint>

#include "core.hpp"

namespace asc_emu {

enum class WaitKind : uint8_t { instruction, queue_room };

// What a suspended core waits for.
struct PendingWait {
    WaitKind kind;
    Pipe pipe;
    const Command* command;
    const void* site;
};

const PendingWait*& core_wait(Core& core);
bool wait_satisfied(Core& core);
void seed_pipes(uint64_t seed, uint32_t block);
// Instructions executed on this thread so far.
uint64_t executed_instructions();
// A running instruction went on, without being done yet.
void count_progress();
// Whether this thread runs a SIMD vector function, which never waits: its loops do not poll.
bool in_vector_function();
// An aborted vector function does not return.
void leave_vector_function();
// The running command was given up: later errors of this thread are not its own.
void forget_command();
void set_current_core(Core* core);
// Ends the running core without unwinding; the launch must have been aborted before.
[[noreturn]] void abandon_core();

}  // namespace asc_emu
