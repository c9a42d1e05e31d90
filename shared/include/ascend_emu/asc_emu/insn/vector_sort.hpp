// Vector instructions on UB that sort and transpose (ascend_c_vector.md section 13). Operands are
// offsets.
#pragma once

#include "asc_emu/command.hpp"

namespace asc_emu {

// 32 scores and 32 numbers a repeat -> 32 records of 8 bytes, highest score first.
struct BitSort {
    static constexpr Op kOp = Op::BitSort;
    static constexpr Pipe kPipe = Pipe::V;
    uint32_t dst, scores, numbers;
    uint32_t repeat;
    bool half_scores;
};

// Up to four descending queues of such records -> one.
struct MergeSort {
    static constexpr Op kOp = Op::MergeSort;
    static constexpr Pipe kPipe = Pipe::V;
    uint32_t dst, src[4];
    uint32_t length[4];  // records
    uint32_t repeat;
    uint8_t valid;  // 3, 7 or 15: a bit for each queue
    bool half_scores;
    bool stop_at_empty;
};

// 16 x 16 elements of 2 bytes.
struct TransposeBlock {
    static constexpr Op kOp = Op::TransposeBlock;
    static constexpr Pipe kPipe = Pipe::V;
    uint32_t dst, src;
};

}  // namespace asc_emu
