// UB-side movement of the vector cores (ascend_c_cube.md section 11).
#pragma once

#include "asc_emu/insn/bursts.hpp"

namespace asc_emu {

struct CopyGmToUb : Bursts {
    static constexpr Op kOp = Op::CopyGmToUb;
    static constexpr Pipe kPipe = Pipe::MTE2;
};

struct CopyUbToGm : Bursts {
    static constexpr Op kOp = Op::CopyUbToGm;
    static constexpr Pipe kPipe = Pipe::MTE3;
    AtomicOp atomic_op;
    uint8_t atomic_type;
};

struct CopyUbToL1 : BlockBursts {
    static constexpr Op kOp = Op::CopyUbToL1;
    static constexpr Pipe kPipe = Pipe::MTE3;
};

struct CopyUbToUb : BlockBursts {
    static constexpr Op kOp = Op::CopyUbToUb;
    static constexpr Pipe kPipe = Pipe::V;
};

}  // namespace asc_emu
