// Stacks of SIMT threads: small, many, kept per worker (emulator.md section 2). A vector function takes them one
// by one as its threads block, so a function without barriers needs a single stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asc_emu {

constexpr size_t kThreadStackBytes = 64 * 1024;

struct ThreadStack {
    std::byte* memory = nullptr;   // kThreadStackBytes
    void* stack_pointer = nullptr;

    // Prepares the stack to enter `function` at the next switch.
    void prepare(void (*function)(), size_t colour);
    // Whether the guard word at the low end is untouched.
    bool intact() const;
};

// Stacks not in use by any vector function of this worker.
class StackPool {
public:
    ThreadStack take();
    void give(ThreadStack stack) { free_.push_back(stack); }

private:
    void grow();
    std::vector<ThreadStack> free_;
};

StackPool& stack_pool();

}  // namespace asc_emu
