// What a multiply engine gets: packed operands and a range of 16-column blocks of C.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pack.hpp"

namespace asc_emu::numerics {

// Packed A, see pack.hpp for the order of the words.
struct RowPanel {
    const uint32_t* words;
    size_t chunk_stride;
    uint32_t rows;  // m
};

// Packed B from some block and step on.
struct ColumnPanel {
    const uint32_t* words;
    size_t block_stride;

    ColumnPanel at(uint32_t block, uint32_t step) const {
        return {words + block * block_stride + size_t(step) * 16, block_stride};
    }
};

// Whole blocks of 16 columns to compute for all rows, over some steps of k. Addresses count words
// of 4 bytes; rows of C are 16 words apart. Row r of block i starts from
// init[i * init_block + r * init_row], which may be C itself or a row used by all rows (stride 0).
struct Columns {
    uint32_t first_block, num_blocks;
    uint32_t first_step, num_steps;  // first_step is a multiple of 16
    uint32_t* c;
    size_t c_block;
    const uint32_t* init;
    size_t init_row, init_block;
};

}  // namespace asc_emu::numerics
