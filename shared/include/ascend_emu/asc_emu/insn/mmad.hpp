// Matrix multiply-add (ascend_c_cube.md section 10).
#pragma once

#include "asc_emu/command.hpp"

namespace asc_emu {

enum class MmadInit : uint8_t { zero, accumulate, bias };

struct Mmad {
    static constexpr Op kOp = Op::Mmad;
    static constexpr Pipe kPipe = Pipe::M;
    uint32_t a, b, c, bt;  // offsets; bt is used by MmadInit::bias
    uint16_t m, k, n;
    Dtype a_type, b_type, c_type;
    MmadInit init;
    uint8_t unit_flag;
    bool gemv;                  // A is a row vector; the caller did not disable that form
    bool mx;                    // scales from the scale memories
    bool hf32, hf32_ties_away;  // CTRL at issue
    bool hif8;                  // CTRL: 8-bit float operands are hif8
};

}  // namespace asc_emu
