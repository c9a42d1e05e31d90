// The C tile of a product and the value its sums start from, for all engines.
#pragma once

#include <algorithm>
#include <cstring>

#include "mmad.hpp"
#include "panels.hpp"
#include "workspace.hpp"

namespace asc_emu::numerics {

inline constexpr uint32_t kCanonicalNan = 0x7fc00000;
inline constexpr uint32_t kZeroRow[16] = {};

// Copies the first `columns` of each 16-column row.
inline void copy_columns(const uint32_t* from, size_t from_row, uint32_t* to, size_t to_row,
                         uint32_t rows, uint32_t columns) {
    for (uint32_t r = 0; r < rows; ++r) {
        std::memcpy(to + r * to_row, from + r * from_row, columns * 4);
    }
}

struct Accumulator {
    uint32_t* c = nullptr;
    uint32_t rows = 0, columns = 0;  // m, n
    size_t c_block = 0;
    const uint32_t* init = kZeroRow;
    size_t init_row = 0, init_block = 0;

    Accumulator() = default;
    explicit Accumulator(const MmadProblem& p)
        : c(static_cast<uint32_t*>(p.c)),
          rows(p.m),
          columns(p.n),
          c_block(size_t(round_up(p.m, 16)) * 16) {
        if (p.init == Init::accumulate) {
            init = c;
            init_row = 16;
            init_block = c_block;
        } else if (p.init == Init::bias) {
            init = static_cast<const uint32_t*>(p.bias);
            init_block = 16;
        }
    }

    uint32_t width(uint32_t block) const { return std::min(16u, columns - block * 16); }
    const uint32_t* end() const { return c + c_block * ceil_div(columns, 16); }

    // Calls use(values, width, block, row) for every stored row of C.
    template <class Use>
    void for_each_row(Use&& use) const {
        for (uint32_t block = 0; block * 16 < columns; ++block) {
            for (uint32_t r = 0; r < rows; ++r) {
                use(c + block * c_block + r * 16, width(block), block, r);
            }
        }
    }
};

// All whole blocks of C in place, then a partial last block in a copy.
template <class Engine>
void multiply_into(const Accumulator& acc, uint32_t num_steps, AlignedBuffer& edge,
                   Engine&& engine) {
    const uint32_t whole = acc.columns / 16, rest = acc.columns % 16;
    if (whole != 0) {
        engine(Columns{0, whole, 0, num_steps, acc.c, acc.c_block, acc.init, acc.init_row,
                       acc.init_block});
    }
    if (rest == 0) return;
    uint32_t* copy = edge.reserve(size_t(acc.rows) * 16 + 16);
    uint32_t* first_row = copy + size_t(acc.rows) * 16;
    std::memset(first_row, 0, 64);
    Columns last{whole, 1, 0, num_steps, copy, 0, first_row, 0, 0};
    const uint32_t* init = acc.init + whole * acc.init_block;
    if (acc.init_row == 0) {
        copy_columns(init, 0, first_row, 0, 1, rest);
    } else {
        std::memset(copy, 0, size_t(acc.rows) * 64);
        copy_columns(init, acc.init_row, copy, 16, acc.rows, rest);
        last.init = copy;
        last.init_row = 16;
    }
    engine(last);
    copy_columns(copy, 16, acc.c + whole * acc.c_block, 16, acc.rows, rest);
}

inline void canonicalize_nans(const Accumulator& acc) {
    acc.for_each_row([](uint32_t* row, uint32_t width, uint32_t, uint32_t) {
        for (uint32_t i = 0; i < width; ++i) {
            if ((row[i] & 0x7fffffff) > 0x7f800000) row[i] = kCanonicalNan;
        }
    });
}

}  // namespace asc_emu::numerics
