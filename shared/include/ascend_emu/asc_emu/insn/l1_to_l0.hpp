// L1 -> L0A, L0B and their scale memories, BT, FB and UB (ascend_c_cube.md sections 7, 8 and 11).
#pragma once

#include "asc_emu/insn/bursts.hpp"

namespace asc_emu {

// 2D copy of 512-byte fractals.
struct CopyL1ToL0 {
    static constexpr Op kOp = Op::CopyL1ToL0;
    static constexpr Pipe kPipe = Pipe::MTE1;
    uint32_t src, dst;
    uint16_t m_start, k_start;  // 16 rows, 32 bytes
    uint8_t m_step, k_step;
    int16_t src_stride;  // fractals between K columns
    uint16_t dst_stride;
    bool to_l0b;
};

struct CopyL1ToL0Transpose {
    static constexpr Op kOp = Op::CopyL1ToL0Transpose;
    static constexpr Pipe kPipe = Pipe::MTE1;
    uint32_t src, dst;
    uint16_t m_start, k_start;
    uint8_t m_step, k_step;
    int16_t src_stride;
    uint16_t dst_stride;
    uint8_t element_bits;
    bool to_l0b;
};

// Repeated transposed squares of asc_copy_l12l0b_trans.
struct CopyL1ToL0bTrans {
    static constexpr Op kOp = Op::CopyL1ToL0bTrans;
    static constexpr Pipe kPipe = Pipe::MTE1;
    uint32_t src, dst;
    uint16_t index;  // fractals
    uint8_t repeat;
    uint8_t element_bits;
    uint16_t src_stride, dst_gap, dst_fractal_gap, src_fractal_gap;  // fractals
};

struct CopyL1ToL0Mx {
    static constexpr Op kOp = Op::CopyL1ToL0Mx;
    static constexpr Pipe kPipe = Pipe::MTE1;
    uint32_t src;
    uint32_t dst;  // byte address in the scale memory
    uint16_t x_start, y_start;
    uint8_t x_step, y_step;
    uint16_t src_stride, dst_stride;  // 32 bytes
    bool to_l0b;
};

struct CopyL1ToBt : BlockBursts {
    static constexpr Op kOp = Op::CopyL1ToBt;
    static constexpr Pipe kPipe = Pipe::MTE1;
    Dtype source_type;
    bool widen;  // 16-bit source becomes fp32
};

struct CopyL1ToFb : BlockBursts {
    static constexpr Op kOp = Op::CopyL1ToFb;
    static constexpr Pipe kPipe = Pipe::FIX;
};

struct CopyL1ToUb : BlockBursts {
    static constexpr Op kOp = Op::CopyL1ToUb;
    static constexpr Pipe kPipe = Pipe::MTE1;
    uint8_t sub_block;
};

}  // namespace asc_emu
