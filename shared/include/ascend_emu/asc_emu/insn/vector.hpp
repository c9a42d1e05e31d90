// One vector function: a single instruction of PIPE_V (ascend_c_vector.md section 2).
#pragma once

#include <cstddef>

#include "asc_emu/command.hpp"

namespace asc_emu {

struct VectorFunction {
    static constexpr Op kOp = Op::VectorFunction;
    static constexpr Pipe kPipe = Pipe::V;
    static constexpr size_t kArgumentBytes = kMaxInsnBytes - 16;
    void (*run)(const void* arguments);
    alignas(16) std::byte arguments[kArgumentBytes];
};

}  // namespace asc_emu
