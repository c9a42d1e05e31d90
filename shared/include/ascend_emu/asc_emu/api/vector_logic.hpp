// Bitwise logic and shifts of registers (ascend_c_vector.md sections 8.1 and 8.3).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"

#define ASC_EMU_LOGIC(name, op)                                                                   \
    template <class T>                                                                            \
    inline ASC_EMU_FORCED void name(                                                              \
        asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src0,                  \
        const asc_emu::VectorRegister<T>& src1, const vector_bool& mask) {                        \
        ASC_EMU_TIMED_OP(asc_emu::VectorClass::logic, dst, src0, src1, mask);                     \
        asc_emu::zeroing<sizeof(T)>(                                                              \
            dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return src0.part[k] op src1.part[k]; });  \
    }                                                                                             \
    template <class T>                                                                            \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src0, \
                                                          const asc_emu::VectorRegister<T>& src1, \
                                                          const vector_bool& mask) {              \
        asc_emu::VectorRegister<T> dst;                                                           \
        name(dst, src0, src1, mask);                                                              \
        return dst;                                                                               \
    }
ASC_EMU_LOGIC(asc_and, &)
ASC_EMU_LOGIC(asc_or, |)
ASC_EMU_LOGIC(asc_xor, ^)
#undef ASC_EMU_LOGIC
template <class T>
inline ASC_EMU_FORCED void asc_not(asc_emu::VectorRegister<T>& dst,
                                   const asc_emu::VectorRegister<T>& src, const vector_bool& mask) {
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::logic, dst, src, mask);
    asc_emu::zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return ~src.part[k]; });
}
template <class T>
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_not(const asc_emu::VectorRegister<T>& src,
                                                         const vector_bool& mask) {
    asc_emu::VectorRegister<T> dst;
    asc_not(dst, src, mask);
    return dst;
}

namespace asc_emu {

// NOTE: a left shift of signed lanes keeps the sign bit and drops the bit next to it, as
// documented; not seen on hardware. Code that expects the shift of C differs where these two bits
// do.
constexpr bool kSignedLeftShiftKeepsSign = true;

struct ShiftLeft {
    template <class V, class U = Chunk<std::make_unsigned_t<LaneOf<V>>>>
    ASC_EMU_FORCED V operator()(V a, U n) const {
        using T = LaneOf<V>;
        constexpr T kWidth = 8 * sizeof(T);
        const U shifted = reinterpret_cast<U>(a) << (n & static_cast<LaneOf<U>>(kWidth - 1));
        U r = n < static_cast<LaneOf<U>>(kWidth) ? shifted : U{};
        if constexpr (std::is_signed_v<T> && kSignedLeftShiftKeepsSign) {
            constexpr LaneOf<U> kSign = static_cast<LaneOf<U>>(LaneOf<U>{1} << (kWidth - 1));
            const U kept = (reinterpret_cast<U>(a) & kSign) | (r & static_cast<LaneOf<U>>(~kSign));
            r = n < static_cast<LaneOf<U>>(kWidth) ? kept : U{};
        }
        return reinterpret_cast<V>(r);
    }
};
struct ShiftRight {
    template <class V, class U = Chunk<std::make_unsigned_t<LaneOf<V>>>>
    ASC_EMU_FORCED V operator()(V a, U n) const {
        using T = LaneOf<V>;
        constexpr auto kWidth = static_cast<LaneOf<U>>(8 * sizeof(T));
        if constexpr (std::is_signed_v<T>) {
            const U most = n < kWidth ? n : (U{} + static_cast<LaneOf<U>>(kWidth - 1));
            return a >> reinterpret_cast<V>(most);
        } else {
            const V shifted = a >> (n & static_cast<LaneOf<U>>(kWidth - 1));
            return n < kWidth ? shifted : V{};
        }
    }
};
ASC_EMU_INLINE void refuse_negative_shift() {
    asc_emu_fail("a vector shift got a negative count; counts are 0 or more");
}
template <class Rule, class T, class N>
ASC_EMU_INLINE void shift(VectorRegister<T>& dst, const VectorRegister<T>& src,
                          const VectorRegister<N>& counts, const MaskRegister& mask) {
    static_assert(is_int32_or_less<T>, "shifts take vectors of integers of 1, 2 or 4 bytes");
    static_assert(std::is_integral_v<N> && sizeof(N) == sizeof(T),
                  "shift counts are signed integers of the width of the shifted lanes");
    using S = std::make_signed_t<T>;
    using U = std::make_unsigned_t<T>;
    ASC_EMU_TIMED_OP(VectorClass::logic, dst, src, counts, mask);
    uint64_t negative = 0;
    zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA {
        negative |= bits_of_lanes<sizeof(T)>(chunk_as<S>(counts, k) < S{0}) & mask.chunk(k);
        return Rule{}(chunk_as<T>(src, k), chunk_as<U>(counts, k));
    });
    if (__builtin_expect(negative != 0, 0)) refuse_negative_shift();
}
template <class Rule, class T>
ASC_EMU_INLINE void shift(VectorRegister<T>& dst, const VectorRegister<T>& src, int16_t count,
                          const MaskRegister& mask) {
    static_assert(is_int32_or_less<T>, "shifts take vectors of integers of 1, 2 or 4 bytes");
    using U = std::make_unsigned_t<T>;
    if (__builtin_expect(count < 0, 0)) refuse_negative_shift();
    ASC_EMU_TIMED_OP(VectorClass::logic, dst, src, mask);
    constexpr int16_t kWidth = 8 * sizeof(T);
    const auto n = splat<U>(static_cast<U>(count < kWidth ? count : kWidth));
    zeroing<sizeof(T)>(dst, mask,
                       [&](uint32_t k) ASC_EMU_LAMBDA { return Rule{}(chunk_as<T>(src, k), n); });
}

}  // namespace asc_emu

#define ASC_EMU_SHIFT(name, rule)                                                                  \
    template <class T, class N>                                                                    \
    inline ASC_EMU_FORCED void name(                                                               \
        asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src0,                   \
        const asc_emu::VectorRegister<N>& src1, const vector_bool& mask) {                         \
        asc_emu::shift<asc_emu::rule>(dst, src0, src1, mask);                                      \
    }                                                                                              \
    template <class T, class N>                                                                    \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src0,  \
                                                          const asc_emu::VectorRegister<N>& src1,  \
                                                          const vector_bool& mask) {               \
        asc_emu::VectorRegister<T> dst;                                                            \
        name(dst, src0, src1, mask);                                                               \
        return dst;                                                                                \
    }                                                                                              \
    template <class T>                                                                             \
    inline ASC_EMU_FORCED void name##_scalar(asc_emu::VectorRegister<T>& dst,                      \
                                             const asc_emu::VectorRegister<T>& src, int16_t value, \
                                             const vector_bool& mask) {                            \
        asc_emu::shift<asc_emu::rule>(dst, src, value, mask);                                      \
    }                                                                                              \
    template <class T>                                                                             \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name##_scalar(                                \
        const asc_emu::VectorRegister<T>& src, int16_t value, const vector_bool& mask) {           \
        asc_emu::VectorRegister<T> dst;                                                            \
        name##_scalar(dst, src, value, mask);                                                      \
        return dst;                                                                                \
    }
ASC_EMU_SHIFT(asc_shiftleft, ShiftLeft)
ASC_EMU_SHIFT(asc_shiftright, ShiftRight)
#undef ASC_EMU_SHIFT
