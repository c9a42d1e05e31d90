// Operand groups shared by the copy instructions: burst copies with two outer loops and padding
// (ascend_c_cube.md sections 5.6 and 11), and 32-byte block copies with gaps.
#pragma once

#include <cstdint>

#include "asc_emu/command.hpp"

namespace asc_emu {

// count bursts of `bytes`; an on-chip operand is an offset, a GM operand an address.
struct Bursts {
    uint64_t src, dst;
    uint64_t src_stride, dst_stride;  // bytes, head to head
    uint32_t count, bytes;
    LoopRegisters loops;
    uint32_t pad_value;
    uint8_t left_pad, right_pad;  // bytes
    uint8_t element_bytes;
    bool pad_from_register;  // else the first element of the burst
    bool fill_from_register = false;  // up to the next 32 bytes; else with poison
    uint8_t l2_hint;
};

// count bursts of `bytes`, gaps from the tail of one to the head of the next.
struct BlockBursts {
    uint32_t src, dst;  // offsets
    uint32_t count, bytes;
    uint32_t src_gap, dst_gap;  // bytes
};

}  // namespace asc_emu
