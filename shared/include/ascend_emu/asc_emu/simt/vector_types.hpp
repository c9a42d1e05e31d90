// Short vectors of SIMT code and their makers (ascend_c_vector.md section 14.6): aligned like one
// access.
#pragma once

#include <cstdint>

#include "asc_emu/simt/dim3.hpp"
#include "asc_emu/types.hpp"

#define ASC_EMU_SHORT_VECTORS(scalar, name)                                     \
    struct name##1 { scalar x; };                                               \
    struct alignas(2 * sizeof(scalar)) name##2 { scalar x, y; };                \
    struct name##3 { scalar x, y, z; };                                         \
    struct alignas(4 * sizeof(scalar) > 16 ? 16 : 4 * sizeof(scalar)) name##4 { \
        scalar x, y, z, w;                                                      \
    };                                                                          \
    ASC_EMU_SHORT_VECTOR_MAKERS(scalar, name)

#define ASC_EMU_SHORT_VECTOR_MAKERS(scalar, name)                                        \
    constexpr name##1 make_##name##1(scalar x) { return {x}; }                           \
    constexpr name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }              \
    constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; } \
    constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {           \
        return {x, y, z, w};                                                             \
    }

struct uint1 {
    unsigned int x;
};
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
ASC_EMU_SHORT_VECTOR_MAKERS(unsigned int, uint)
ASC_EMU_SHORT_VECTORS(signed char, char)
ASC_EMU_SHORT_VECTORS(unsigned char, uchar)
ASC_EMU_SHORT_VECTORS(short, short)
ASC_EMU_SHORT_VECTORS(unsigned short, ushort)
ASC_EMU_SHORT_VECTORS(int, int)
ASC_EMU_SHORT_VECTORS(long, long)
ASC_EMU_SHORT_VECTORS(unsigned long, ulong)
ASC_EMU_SHORT_VECTORS(long long, longlong)
ASC_EMU_SHORT_VECTORS(unsigned long long, ulonglong)
ASC_EMU_SHORT_VECTORS(float, float)

// Arithmetic by element, as generated text uses it.
#define ASC_EMU_ELEMENTWISE(type, op, ...) \
    constexpr type operator op(type a, type b) { return {__VA_ARGS__}; }
#define ASC_EMU_ARITHMETIC(name)                                                \
    ASC_EMU_ELEMENTWISE(name##2, +, a.x + b.x, a.y + b.y)                       \
    ASC_EMU_ELEMENTWISE(name##2, -, a.x - b.x, a.y - b.y)                       \
    ASC_EMU_ELEMENTWISE(name##2, *, a.x* b.x, a.y* b.y)                         \
    ASC_EMU_ELEMENTWISE(name##2, /, a.x / b.x, a.y / b.y)                       \
    ASC_EMU_ELEMENTWISE(name##4, +, a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w) \
    ASC_EMU_ELEMENTWISE(name##4, -, a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w) \
    ASC_EMU_ELEMENTWISE(name##4, *, a.x* b.x, a.y* b.y, a.z* b.z, a.w* b.w)     \
    ASC_EMU_ELEMENTWISE(name##4, /, a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w)
ASC_EMU_ARITHMETIC(float)
ASC_EMU_ARITHMETIC(int)
ASC_EMU_ARITHMETIC(uint)
#undef ASC_EMU_ELEMENTWISE
#undef ASC_EMU_ARITHMETIC

#undef ASC_EMU_SHORT_VECTORS
#undef ASC_EMU_SHORT_VECTOR_MAKERS

// Pairs of small floats; 8-bit pairs hold the element of the even index in their low byte.
struct alignas(4) half2 {
    half x, y;
};
struct alignas(4) bfloat16x2_t {
    bfloat16_t x, y;
};
struct alignas(2) float8_e4m3x2_t {
    float8_e4m3_t x, y;
};
struct alignas(2) float8_e5m2x2_t {
    float8_e5m2_t x, y;
};
struct alignas(2) hifloat8x2_t {
    hifloat8_t x, y;
};
using bfloat162 = bfloat16x2_t;
