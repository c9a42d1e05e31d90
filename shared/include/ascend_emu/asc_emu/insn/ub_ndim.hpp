// N-dimensional copy GM -> UB (ascend_c_vector.md section 12.4). Sizes, strides and pads count
// elements; loop 0 is the innermost.
#pragma once

#include "asc_emu/command.hpp"

namespace asc_emu {

struct CopyGmToUbNd {
    static constexpr Op kOp = Op::CopyGmToUbNd;
    static constexpr Pipe kPipe = Pipe::MTE2;
    uint64_t src;
    uint64_t src_stride[5];
    uint32_t dst;
    uint32_t dst_stride[5];
    uint32_t size[5];
    uint32_t pad_value;
    uint8_t left_pad[5], right_pad[5];
    uint8_t element_bytes;
    bool constant;  // pads hold pad_value; else the nearest element
    uint8_t l2_hint;
};

}  // namespace asc_emu
