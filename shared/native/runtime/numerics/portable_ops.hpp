// Names of isa.hpp in plain C++ and vector extensions, for the targets that need no better.
#pragma once

#include <cstdint>
#include <cstring>

#include "lanes.hpp"

namespace asc_emu::numerics::portable {

inline void transpose_fractal(const void* fractal, size_t row_pitch, void* out) {
    uint32_t rows[16][8];
    for (int row = 0; row < 16; ++row) {
        std::memcpy(rows[row], static_cast<const char*>(fractal) + row * row_pitch, 32);
    }
    auto* columns = static_cast<uint32_t*>(out);
    for (int word = 0; word < 8; ++word) {
        for (int row = 0; row < 16; ++row) columns[16 * word + row] = rows[row][word];
    }
}

template <int N>
typename Lanes<N>::Word widen_halves(const void* from) {
    return __builtin_convertvector(load<typename Lanes<N>::Half>(from), typename Lanes<N>::Word);
}

// NOTE: g++ turns bytes to words in one step into scalar code.
template <int N>
typename Lanes<N>::Word widen_bytes(const void* from) {
    const auto halves =
        __builtin_convertvector(load<typename Lanes<N>::Byte>(from), typename Lanes<N>::Half);
    return __builtin_convertvector(halves, typename Lanes<N>::Word);
}

}  // namespace asc_emu::numerics::portable
