// Integer intrinsics and bit casts of SIMT code (ascend_c_vector.md section 14.5).
#pragma once

#include <bit>
#include <cstdint>

constexpr int __popc(unsigned int x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned int>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
// Position of the lowest set bit from 1; 0 when there is none.
constexpr int __ffs(int x) { return x ? std::countr_zero(static_cast<unsigned int>(x)) + 1 : 0; }
constexpr int __ffsll(long long x) {
    return x ? std::countr_zero(static_cast<unsigned long long>(x)) + 1 : 0;
}
constexpr unsigned int __brev(unsigned int x) {
    unsigned int r = 0;
    for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
    return r;
}
constexpr unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
           __brev(static_cast<unsigned int>(x >> 32));
}
// Byte i of the result = byte (s >> 4i & 7) of the pair (y, x).
constexpr unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
    const uint64_t pair = static_cast<uint64_t>(y) << 32 | x;
    unsigned int r = 0;
    for (int i = 0; i < 4; ++i)
        r |= static_cast<unsigned int>(pair >> (8 * (s >> (4 * i) & 7)) & 0xff) << (8 * i);
    return r;
}
constexpr int __mulhi(int x, int y) {
    return static_cast<int>((static_cast<int64_t>(x) * y) >> 32);
}
constexpr unsigned int __umulhi(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) * y) >> 32);
}
constexpr long long __mul64hi(long long x, long long y) {
    return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
// Product of the low 24 bits.
constexpr int __mul24(int x, int y) {
    const int64_t a = (static_cast<int64_t>(x) << 40) >> 40,
                  b = (static_cast<int64_t>(y) << 40) >> 40;
    return static_cast<int>(static_cast<uint32_t>(a * b));
}
constexpr unsigned int __umul24(unsigned int x, unsigned int y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
// Mean, rounded down; __rhadd rounds up.
constexpr int __hadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }
constexpr int __rhadd(int x, int y) {
    return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1);
}
constexpr unsigned int __uhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) + y) >> 1);
}
constexpr unsigned int __urhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) + y + 1) >> 1);
}
// |x - y| + z
constexpr unsigned int __sad(int x, int y, unsigned int z) {
    const int64_t d = static_cast<int64_t>(x) - y;
    return static_cast<unsigned int>(d < 0 ? -d : d) + z;
}
constexpr unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
    return (x > y ? x - y : y - x) + z;
}

constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned int __float_as_uint(float x) { return std::bit_cast<unsigned int>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned int x) { return std::bit_cast<float>(x); }

// Scalar bit counts, which host-visible helper functions of hybrid kernels use.
constexpr int64_t bcnt1(uint64_t x) { return std::popcount(x); }
constexpr int64_t bcnt0(uint64_t x) { return 64 - std::popcount(x); }
constexpr int64_t clz(uint64_t x) { return std::countl_zero(x); }
