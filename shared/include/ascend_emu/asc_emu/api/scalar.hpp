// Scalar helpers: pure functions of the scalar unit (ascend_c_cube.md section 16).
#pragma once

#include "asc_emu/api/common.hpp"

// Waits 15 cycles of the scalar unit, which orders nothing.
inline void asc_nop() {}
inline int64_t asc_ffs(uint64_t value) { return value ? __builtin_ctzll(value) : -1; }
inline int64_t asc_ffz(uint64_t value) { return asc_ffs(~value); }
inline int64_t asc_popc(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t asc_zero_bits_cnt(uint64_t value) { return 64 - __builtin_popcountll(value); }
inline int64_t asc_clz(uint64_t value) { return value ? __builtin_clzll(value) : 64; }
// Bits below the sign bit that equal it; -1 for 0 and -1.
inline int64_t asc_sflbits(int64_t value) {
    const auto folded = static_cast<uint64_t>(value ^ (value >> 63));
    return folded ? __builtin_clzll(folded) - 1 : -1;
}
inline uint64_t asc_set_nthbit(uint64_t bits, int64_t index) {
    return bits | 1ull << (static_cast<uint64_t>(index) & 63);
}
inline uint64_t asc_clear_nthbit(uint64_t bits, int64_t index) {
    return bits & ~(1ull << (static_cast<uint64_t>(index) & 63));
}

namespace asc_emu {
// NOTE: out-of-range values saturate and NaN gives 0; not documented for the scalar unit.
inline int32_t saturate_to_int32(float integral) {
    if (integral != integral) return 0;
    if (integral >= 2147483648.0f) return INT32_MAX;
    if (integral < -2147483648.0f) return INT32_MIN;
    return static_cast<int32_t>(integral);
}
}  // namespace asc_emu

// Nearest even, half away from zero, floor, ceiling.
inline int32_t asc_float2int32_rn(float value) {
    const float down = __builtin_floorf(value);
    const float rest = value - down;
    const bool odd = __builtin_fmodf(down, 2.0f) != 0.0f;
    return asc_emu::saturate_to_int32(rest > 0.5f || (rest == 0.5f && odd) ? down + 1.0f : down);
}
inline int32_t asc_float2int32_rna(float value) {
    return asc_emu::saturate_to_int32(__builtin_roundf(value));
}
inline int32_t asc_float2int32_rd(float value) {
    return asc_emu::saturate_to_int32(__builtin_floorf(value));
}
inline int32_t asc_float2int32_ru(float value) {
    return asc_emu::saturate_to_int32(__builtin_ceilf(value));
}
