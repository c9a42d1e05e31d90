// One SIMT vector function: a block of threads on PIPE_V (ascend_c_vector.md sections 2 and 14).
#pragma once

#include <cstddef>
#include <cstdint>

#include "asc_emu/command.hpp"
#include "asc_emu/simt/dim3.hpp"

namespace asc_emu {

struct SimtFunction {
    static constexpr Op kOp = Op::SimtFunction;
    static constexpr Pipe kPipe = Pipe::V;
    static constexpr size_t kInlineBytes = 96;
    void (*run)(const void* arguments);    // one thread; null with `lanes`
    void (*lanes)(const void* arguments);  // all threads in one call, or null
    dim3 threads;
    dim3 grid;             // x = 0: the launch's number of blocks
    uint32_t most_threads; // of the function's `__launch_bounds__`; 0 without one
    void* heap;  // arguments that do not fit below; freed at the end
    alignas(16) std::byte inline_arguments[kInlineBytes];
    const void* arguments() const { return heap ? heap : inline_arguments; }
};

}  // namespace asc_emu
