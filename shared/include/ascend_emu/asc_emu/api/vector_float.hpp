// Floating-point functions of registers: division, exp, ln, sqrt, fused multiply-add, rounding to
// integers (ascend_c_vector.md sections 8.1 and 8.4). What they compute is in
// asc_emu/vector/elementary.hpp.
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/elementary.hpp"

namespace asc_emu {

// Integers truncate; a zero divisor gives 0, and the smallest value divided by -1 wraps.
template <class T>
ASC_EMU_INLINE void divide(VectorRegister<T>& dst, const VectorRegister<T>& a,
                           const VectorRegister<T>& b, const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(kSpecialClass<T>, dst, a, b, mask);
    if constexpr (std::is_integral_v<T>) {
        static_assert(is_multiplied<T>,
                      "asc_div takes vectors of integers of 2 or 4 bytes, half or float");
        each_lane<T>(dst, a, b, mask, [](T x, T y) {
            return static_cast<T>(y == 0 ? 0 : static_cast<int64_t>(x) / static_cast<int64_t>(y));
        });
    } else {
        static_assert(is_half_or_float<T>,
                      "asc_div takes vectors of integers of 2 or 4 bytes, half or float");
        zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA {
            return flush_lanes<T>(
                lane_op<T>(flush_lanes<T>(a.part[k]), flush_lanes<T>(b.part[k]), Divide{}));
        });
    }
}
template <class T>
ASC_EMU_INLINE void square_root(VectorRegister<T>& dst, const VectorRegister<T>& a,
                                const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(kSpecialClass<T>, dst, a, mask);
    zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA {
        return flush_lanes<T>(lane_op<T>(flush_lanes<T>(a.part[k]), SquareRoot{}));
    });
}
template <ElementaryRule kRule, class T>
ASC_EMU_INLINE void masked_elementary(VectorRegister<T>& dst, const VectorRegister<T>& src,
                                      const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(kSpecialClass<T>, dst, src, mask);
    VectorRegister<T> all;
    elementary<kRule>(all, src);
    zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return all.part[k]; });
}
// dst = a * b + c
template <class T>
ASC_EMU_INLINE void multiply_add(VectorRegister<T>& dst, const VectorRegister<T>& a,
                                 const VectorRegister<T>& b, const VectorRegister<T>& c,
                                 const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(kMulClass<T>, dst, a, b, c, mask);
    zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA {
        return fused_lanes<T>(a.part[k], b.part[k], c.part[k]);
    });
}
template <class T>
ASC_EMU_INLINE VectorRegister<T> broadcast(T value) {
    VectorRegister<T> r;
    const ChunkBits all = splat_bits(value);
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA { r.part[k] = all; });
    return r;
}

// Even or odd lanes of half as fp32.
ASC_EMU_INLINE Chunk<float> half_lanes(ChunkBits v, uint32_t part) {
    return half_bits_to_float(part ? v >> 16 : v & 0xffffu);
}
template <uint32_t kPart>
ASC_EMU_INLINE void exp_of_difference(VectorRegister<float>& dst, const VectorRegister<half>& a,
                                      const VectorRegister<half>& b, const MaskRegister& mask) {
    VectorRegister<float> difference;
    ASC_EMU_SAME_STAMP(difference, stamp_of(a) > stamp_of(b) ? a : b);
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        difference.part[k] = bits_of(half_lanes(a.part[k], kPart) - half_lanes(b.part[k], kPart));
    });
    masked_elementary<ElementaryRule::exp>(dst, difference, mask);
}
template <uint32_t kPart>
ASC_EMU_INLINE void exp_of_difference(VectorRegister<float>& dst, const VectorRegister<float>& a,
                                      const VectorRegister<float>& b, const MaskRegister& mask) {
    VectorRegister<float> difference;
    ASC_EMU_SAME_STAMP(difference, stamp_of(a) > stamp_of(b) ? a : b);
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        difference.part[k] = bits_of(float_of(a.part[k]) - float_of(b.part[k]));
    });
    masked_elementary<ElementaryRule::exp>(dst, difference, mask);
}

}  // namespace asc_emu

#define ASC_EMU_RETURNING2(name)                                                                 \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        name(dst, src, mask);                                                                    \
        return dst;                                                                              \
    }
template <class T>
inline ASC_EMU_FORCED void asc_div(asc_emu::VectorRegister<T>& dst,
                                   const asc_emu::VectorRegister<T>& src0,
                                   const asc_emu::VectorRegister<T>& src1,
                                   const vector_bool& mask) {
    asc_emu::divide(dst, src0, src1, mask);
}
template <class T>
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_div(const asc_emu::VectorRegister<T>& src0,
                                                         const asc_emu::VectorRegister<T>& src1,
                                                         const vector_bool& mask) {
    asc_emu::VectorRegister<T> dst;
    asc_emu::divide(dst, src0, src1, mask);
    return dst;
}
template <class T>
inline ASC_EMU_FORCED void asc_sqrt(asc_emu::VectorRegister<T>& dst,
                                    const asc_emu::VectorRegister<T>& src,
                                    const vector_bool& mask) {
    static_assert(asc_emu::is_half_or_float<T>, "asc_sqrt takes vectors of half or float");
    asc_emu::square_root(dst, src, mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_exp(asc_emu::VectorRegister<T>& dst,
                                   const asc_emu::VectorRegister<T>& src, const vector_bool& mask) {
    static_assert(asc_emu::is_half_or_float<T>, "asc_exp takes vectors of half or float");
    asc_emu::masked_elementary<asc_emu::ElementaryRule::exp>(dst, src, mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_ln(asc_emu::VectorRegister<T>& dst,
                                  const asc_emu::VectorRegister<T>& src, const vector_bool& mask) {
    static_assert(asc_emu::is_half_or_float<T>, "asc_ln takes vectors of half or float");
    asc_emu::masked_elementary<asc_emu::ElementaryRule::ln>(dst, src, mask);
}
ASC_EMU_RETURNING2(asc_sqrt)
ASC_EMU_RETURNING2(asc_exp)
ASC_EMU_RETURNING2(asc_ln)

// exp(src0 - src1) in fp32; of half the even lanes, the second form the odd ones.
template <class T>
inline ASC_EMU_FORCED void asc_exp_sub(vector_float& dst, const asc_emu::VectorRegister<T>& src0,
                                       const asc_emu::VectorRegister<T>& src1,
                                       const vector_bool& mask) {
    asc_emu::exp_of_difference<0>(dst, src0, src1, mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_exp_sub_v2(vector_float& dst, const asc_emu::VectorRegister<T>& src0,
                                          const asc_emu::VectorRegister<T>& src1,
                                          const vector_bool& mask) {
    asc_emu::exp_of_difference<1>(dst, src0, src1, mask);
}
template <class T, uint32_t kPart>
inline ASC_EMU_FORCED void asc_exp_sub(vector_float& dst, const asc_emu::VectorRegister<T>& src0,
                                       const asc_emu::VectorRegister<T>& src1,
                                       const vector_bool& mask,
                                       asc_emu::Constant<asc_emu::PartKind, kPart>) {
    asc_emu::exp_of_difference<kPart>(dst, src0, src1, mask);
}
template <class T>
inline ASC_EMU_FORCED vector_float asc_exp_sub(const asc_emu::VectorRegister<T>& src0,
                                               const asc_emu::VectorRegister<T>& src1,
                                               const vector_bool& mask) {
    vector_float dst;
    asc_emu::exp_of_difference<0>(dst, src0, src1, mask);
    return dst;
}

// dst = src * value + dst
template <class T>
inline ASC_EMU_FORCED void asc_axpy(asc_emu::VectorRegister<T>& dst,
                                    const asc_emu::VectorRegister<T>& src,
                                    std::type_identity_t<T> value, const vector_bool& mask) {
    static_assert(asc_emu::is_half_or_float<T>, "asc_axpy takes vectors of half or float");
    asc_emu::multiply_add(dst, src, asc_emu::broadcast(value), dst, mask);
}
// dst = dst * src0 + src1
template <class T>
inline ASC_EMU_FORCED void asc_madd(asc_emu::VectorRegister<T>& dst,
                                    const asc_emu::VectorRegister<T>& src0,
                                    const asc_emu::VectorRegister<T>& src1,
                                    const vector_bool& mask) {
    static_assert(asc_emu::is_half_or_float<T>, "asc_madd takes vectors of half or float");
    asc_emu::multiply_add(dst, dst, src0, src1, mask);
}

#define ASC_EMU_TO_INTEGER(name, mode)                                                           \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    const vector_bool& mask) {                                   \
        static_assert(asc_emu::is_floating<T>, #name " takes vectors of half, bf16 or float");   \
        asc_emu::unary(dst, src, mask, asc_emu::RoundTo{asc_emu::Round::mode});                  \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        name(dst, src, mask);                                                                    \
        return dst;                                                                              \
    }
ASC_EMU_TO_INTEGER(asc_rint, rn)
ASC_EMU_TO_INTEGER(asc_round, rna)
ASC_EMU_TO_INTEGER(asc_floor, rd)
ASC_EMU_TO_INTEGER(asc_ceil, ru)
ASC_EMU_TO_INTEGER(asc_trunc, rz)
#undef ASC_EMU_TO_INTEGER
#undef ASC_EMU_RETURNING2
