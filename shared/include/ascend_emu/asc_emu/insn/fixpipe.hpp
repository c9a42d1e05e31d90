// Fixpipe: L0C -> GM, UB, L1 with conversion, ReLU and layout change (ascend_c_cube.md section 9).
#pragma once

#include "asc_emu/command.hpp"

namespace asc_emu {

struct Fixpipe {
    uint64_t dst;                // GM address or offset
    uint64_t quant_scalar;       // QUANT_PRE
    uint64_t relu_alpha;         // RELU_ALPHA
    uint32_t src;                // L0C offset
    uint32_t dst_stride;         // elements
    uint32_t dst_matrix_stride;  // elements
    uint16_t n, m;
    uint16_t src_stride;                  // 64 bytes between 16-column blocks
    uint16_t num, src_matrix_stride;      // LOOP3: matrices; 64 bytes between them
    uint16_t row_pitch;                   // 64 bytes between rows, NZ2DN only
    uint8_t quant_address, relu_address;  // FB, 128 bytes
    Dtype src_type, dst_type;
    uint8_t quant_mode;  // QuantMode_t
    uint8_t relu;        // asc_relu_pre_mode
    uint8_t unit_flag;
    bool nz2nd, nz2dn, channel_split, clip_relu;
    bool loop3_written;
    bool keep_inf_nan, e4m3_keep_nan;  // CTRL at issue
    bool post_stage;                   // any post-stage option in use
    uint8_t l2_hint;
};

struct CopyL0cToGm : Fixpipe {
    static constexpr Op kOp = Op::CopyL0cToGm;
    static constexpr Pipe kPipe = Pipe::FIX;
    AtomicOp atomic_op;
    uint8_t atomic_type;
};

struct CopyL0cToUb : Fixpipe {
    static constexpr Op kOp = Op::CopyL0cToUb;
    static constexpr Pipe kPipe = Pipe::FIX;
    uint8_t sub_block;
    uint8_t dual;  // asc_dual_dst_mode
};

struct CopyL0cToL1 : Fixpipe {
    static constexpr Op kOp = Op::CopyL0cToL1;
    static constexpr Pipe kPipe = Pipe::FIX;
};

}  // namespace asc_emu
