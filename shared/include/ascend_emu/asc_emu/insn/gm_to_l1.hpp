// GM -> L1 instructions and the L1 fill (ascend_c_cube.md sections 5 and 6).
#pragma once

#include "asc_emu/insn/bursts.hpp"

namespace asc_emu {

// nd2nz and dn2nz.
struct CopyGmToL1Nz {
    static constexpr Op kOp = Op::CopyGmToL1Nz;
    static constexpr Pipe kPipe = Pipe::MTE2;
    uint64_t src;          // GM address
    uint64_t line_stride;  // bytes between rows (nd2nz) or between columns (dn2nz) of the source
    uint64_t src_matrix_stride;                       // bytes
    uint32_t dst;                                     // L1 offset
    uint32_t d;                                       // columns, elements
    uint16_t n;                                       // rows
    uint16_t num;                                     // matrices
    uint16_t n_stride, c0_stride, dst_matrix_stride;  // 32-byte blocks
    uint8_t element_bytes;
    bool transposed;  // dn2nz
    bool small_c0;
    uint8_t l2_hint;
};

struct CopyGmToL1Burst : Bursts {
    static constexpr Op kOp = Op::CopyGmToL1Burst;
    static constexpr Pipe kPipe = Pipe::MTE2;
};

// Plain copy (mode 0) and the channel padding modes 1..8.
struct CopyGmToL1Pad {
    static constexpr Op kOp = Op::CopyGmToL1Pad;
    static constexpr Pipe kPipe = Pipe::MTE2;
    uint64_t src;
    uint64_t src_stride;  // 32-byte units
    uint32_t dst;
    uint32_t dst_stride;  // 32-byte units
    uint32_t count;
    uint32_t blocks;  // 32-byte blocks of a burst
    uint32_t pad_value;
    uint8_t mode;
};

// Fractals of a source that is in NZ form already.
struct CopyGmToL1Fractal {
    static constexpr Op kOp = Op::CopyGmToL1Fractal;
    static constexpr Pipe kPipe = Pipe::MTE2;
    uint64_t src;
    uint32_t dst;
    uint32_t m_start, k_start;  // 16 rows, 32 bytes
    uint16_t dst_stride;        // 512 bytes
    uint16_t m_step, k_step;
    uint8_t decompress;
    uint8_t l2_hint;
};

struct FillL1 {
    static constexpr Op kOp = Op::FillL1;
    static constexpr Pipe kPipe = Pipe::MTE2;
    uint32_t dst;
    uint32_t pattern;
    uint16_t repeat, blocks, gap;  // 32-byte blocks
    uint8_t element_bytes;
};

}  // namespace asc_emu
