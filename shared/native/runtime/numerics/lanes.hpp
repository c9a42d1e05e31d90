// Portable vector types of a chosen number of 32-bit lanes, on the compiler's vector extension.
// Packing code is written with these; only multiply_add and transpose_fractal differ by ISA.
#pragma once

#include <cstdint>
#include <cstring>

namespace asc_emu::numerics {

template <int N>
struct Lanes {
    typedef float Float __attribute__((vector_size(4 * N)));
    typedef uint32_t Word __attribute__((vector_size(4 * N)));
    typedef int32_t Int __attribute__((vector_size(4 * N)));
    typedef uint16_t Half __attribute__((vector_size(2 * N)));
    typedef uint8_t Byte __attribute__((vector_size(N)));
    typedef double Double __attribute__((vector_size(8 * N)));
    typedef uint64_t Long __attribute__((vector_size(8 * N)));
};

template <class Vector>
inline Vector load(const void* from) {
    Vector value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Vector>
inline void store(void* to, const Vector& value) {
    std::memcpy(to, &value, sizeof value);
}

// Reinterprets bits; both types have the same size.
template <class To, class From>
inline To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bits_as keeps the size");
    return (To)from;
}

// All lanes equal. NOTE: `Vector{} + x` would turn -0 into +0.
template <class Vector, class Scalar>
inline Vector splat(Scalar x) {
    return x - Vector{};
}

// 0, 1, 2, ... in the lanes.
template <int N>
inline typename Lanes<N>::Int lane_index() {
    typename Lanes<N>::Int index;
    for (int i = 0; i < N; ++i) index[i] = i;
    return index;
}

}  // namespace asc_emu::numerics
