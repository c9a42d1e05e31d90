// transpose_fractal of isa.hpp in plain C++, for targets without a shuffle version.
#pragma once

#include <cstdint>
#include <cstring>

namespace asc_emu::numerics::isa {

[[gnu::always_inline]] inline void transpose_fractal(const void* fractal, void* out) {
    uint32_t rows[16][8];
    std::memcpy(rows, fractal, sizeof rows);
    auto* columns = static_cast<uint32_t*>(out);
    for (int word = 0; word < 8; ++word) {
        for (int row = 0; row < 16; ++row) columns[16 * word + row] = rows[row][word];
    }
}

}  // namespace asc_emu::numerics::isa
