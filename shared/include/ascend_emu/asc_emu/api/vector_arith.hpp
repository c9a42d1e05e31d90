// Arithmetic of registers (ascend_c_vector.md section 8.1): inactive lanes of a result are zero.
// Functions exist with a destination and, as the newer generation has them, with a result.
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"

#define ASC_EMU_BINARY(name, rule, allowed, types)                                                \
    template <class T>                                                                            \
    inline ASC_EMU_FORCED void name(                                                              \
        asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src0,                  \
        const asc_emu::VectorRegister<T>& src1, const vector_bool& mask) {                        \
        static_assert(asc_emu::allowed<T>, #name " takes vectors of " types);                     \
        asc_emu::arithmetic<asc_emu::rule>(dst, src0, src1, mask);                                \
    }                                                                                             \
    template <class T>                                                                            \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src0, \
                                                          const asc_emu::VectorRegister<T>& src1, \
                                                          const vector_bool& mask) {              \
        asc_emu::VectorRegister<T> dst;                                                           \
        name(dst, src0, src1, mask);                                                              \
        return dst;                                                                               \
    }
#define ASC_EMU_BINARY_SCALAR(name, rule, allowed, types)                                        \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    std::type_identity_t<T> value, const vector_bool& mask) {    \
        static_assert(asc_emu::allowed<T>, #name " takes vectors of " types);                    \
        asc_emu::arithmetic<asc_emu::rule>(dst, src, value, mask);                               \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          std::type_identity_t<T> value,         \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        name(dst, src, value, mask);                                                             \
        return dst;                                                                              \
    }
ASC_EMU_BINARY(asc_add, Add, is_arithmetic9, "integers of 1, 2 or 4 bytes, half, bf16 or float")
ASC_EMU_BINARY(asc_sub, Sub, is_arithmetic9, "integers of 1, 2 or 4 bytes, half, bf16 or float")
ASC_EMU_BINARY(asc_mul, Mul, is_multiplied, "integers of 2 or 4 bytes, half, bf16 or float")
ASC_EMU_BINARY(asc_max, Max, is_arithmetic9, "integers of 1, 2 or 4 bytes, half, bf16 or float")
ASC_EMU_BINARY(asc_min, Min, is_arithmetic9, "integers of 1, 2 or 4 bytes, half, bf16 or float")
ASC_EMU_BINARY_SCALAR(asc_add_scalar, Add, is_arithmetic9, "integers of 1, 2 or 4 bytes or floats")
ASC_EMU_BINARY_SCALAR(asc_sub_scalar, Sub, is_arithmetic9, "integers of 1, 2 or 4 bytes or floats")
ASC_EMU_BINARY_SCALAR(asc_mul_scalar, Mul, is_multiplied, "integers of 2 or 4 bytes or floats")
ASC_EMU_BINARY_SCALAR(asc_max_scalar, Max, is_arithmetic9, "integers of 1, 2 or 4 bytes or floats")
ASC_EMU_BINARY_SCALAR(asc_min_scalar, Min, is_arithmetic9, "integers of 1, 2 or 4 bytes or floats")

namespace asc_emu {

struct Abs {
    template <class V>
    ASC_EMU_FORCED V operator()(V a) const {
        if constexpr (std::is_integral_v<LaneOf<V>>) {
            using U = Chunk<std::make_unsigned_t<LaneOf<V>>>;
            const U negated = U{} - reinterpret_cast<U>(a);
            return a < 0 ? reinterpret_cast<V>(negated) : a;
        } else {
            return float_of(bits_of(a) & 0x7fffffffu);
        }
    }
};
struct Neg {
    template <class V>
    ASC_EMU_FORCED V operator()(V a) const {
        if constexpr (std::is_integral_v<LaneOf<V>>) {
            using U = Chunk<std::make_unsigned_t<LaneOf<V>>>;
            return reinterpret_cast<V>(U{} - reinterpret_cast<U>(a));
        } else {
            return float_of(bits_of(a) ^ 0x80000000u);
        }
    }
};
// NaN stays; -0 becomes +0.
struct Relu {
    template <class V>
    ASC_EMU_FORCED V operator()(V a) const {
        if constexpr (std::is_integral_v<LaneOf<V>>)
            return a > 0 ? a : V{};
        else
            return (a > 0) | (a != a) ? a : V{};
    }
};
struct LeakyRelu {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V slope) const {
        return a > 0 ? a : a * slope;
    }
};
struct AbsSub {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        return float_of(bits_of(a - b) & 0x7fffffffu);
    }
};

}  // namespace asc_emu

ASC_EMU_BINARY(asc_abs_sub, AbsSub, is_half_or_float, "half or float")
ASC_EMU_BINARY(asc_prelu, LeakyRelu, is_half_or_float, "half or float")
ASC_EMU_BINARY_SCALAR(asc_leakyrelu, LeakyRelu, is_half_or_float, "half or float")
#undef ASC_EMU_BINARY
#undef ASC_EMU_BINARY_SCALAR

#define ASC_EMU_UNARY(name, rule, allowed, types)                                                \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    const vector_bool& mask) {                                   \
        static_assert(asc_emu::allowed<T>, #name " takes vectors of " types);                    \
        asc_emu::unary(dst, src, mask, asc_emu::rule{});                                         \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        name(dst, src, mask);                                                                    \
        return dst;                                                                              \
    }
ASC_EMU_UNARY(asc_abs, Abs, is_signed_number, "signed integers of 1, 2 or 4 bytes or floats")
ASC_EMU_UNARY(asc_neg, Neg, is_signed_number, "signed integers of 1, 2 or 4 bytes or floats")
ASC_EMU_UNARY(asc_relu, Relu, is_signed_number, "signed integers of 1, 2 or 4 bytes or floats")
#undef ASC_EMU_UNARY

// 64-bit products, carries -----------------------------------------------------------------------
namespace asc_emu {

// {carry, dst} = a + (b or its complement) + carry in, in 32-bit lanes.
template <bool kSubtract, class T>
inline void add_with_carry(MaskRegister& carry, VectorRegister<T>& dst, const VectorRegister<T>& a,
                           const VectorRegister<T>& b, const MaskRegister& carry_in,
                           const MaskRegister& mask) {
    static_assert(sizeof(T) == 4 && std::is_integral_v<T>,
                  "additions with carry take 32-bit integers");
    const MaskRegister in = carry_in;
    MaskRegister out{};
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        const Chunk<uint32_t> x = a.part[k];
        const Chunk<uint32_t> y = kSubtract ? ~b.part[k] : b.part[k];
        const auto one = reinterpret_cast<Chunk<uint32_t>>(lanes_of_bits<4>(in.chunk(k))) & 1u;
        const Chunk<uint32_t> partial = x + y, sum = partial + one;
        out.set_chunk(k, bits_of_lanes<4>((partial < x) | (sum < partial)) & mask.chunk(k));
        dst.part[k] = zero_inactive<4>(mask.chunk(k), sum);
    });
    carry = out;
}

}  // namespace asc_emu

template <class T>
inline void asc_add(vector_bool& dst0, asc_emu::VectorRegister<T>& dst1,
                    const asc_emu::VectorRegister<T>& src0, const asc_emu::VectorRegister<T>& src1,
                    const vector_bool& mask) {
    asc_emu::add_with_carry<false>(dst0, dst1, src0, src1, vector_bool{}, mask);
}
template <class T>
inline void asc_addc(vector_bool& dst0, asc_emu::VectorRegister<T>& dst1,
                     const asc_emu::VectorRegister<T>& src0, const asc_emu::VectorRegister<T>& src1,
                     const vector_bool& src2, const vector_bool& mask) {
    asc_emu::add_with_carry<false>(dst0, dst1, src0, src1, src2, mask);
}
// A carry of 1 means that nothing was borrowed.
template <class T>
inline void asc_sub(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                    const asc_emu::VectorRegister<T>& src0, const asc_emu::VectorRegister<T>& src1,
                    const vector_bool& mask) {
    asc_emu::add_with_carry<true>(carry, dst, src0, src1, asc_emu::kAllBits, mask);
}
template <class T>
inline void asc_subc(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                     const asc_emu::VectorRegister<T>& src0, const asc_emu::VectorRegister<T>& src1,
                     const vector_bool& carry_src, const vector_bool& mask) {
    asc_emu::add_with_carry<true>(carry, dst, src0, src1, carry_src, mask);
}
// Low and high words of the product.
template <class T>
inline void asc_mull(asc_emu::VectorRegister<T>& dst0, asc_emu::VectorRegister<T>& dst1,
                     const asc_emu::VectorRegister<T>& src0, const asc_emu::VectorRegister<T>& src1,
                     const vector_bool& mask) {
    static_assert(sizeof(T) == 4 && std::is_integral_v<T>, "asc_mull takes 32-bit integers");
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const auto a = asc_emu::lanes_of(src0), b = asc_emu::lanes_of(src1);
    asc_emu::LaneArray<T> low, high;
    for (uint32_t i = 0; i < 64; ++i) {
        const bool on = mask.template lane<4>(i);
        const Wide product = on ? Wide{a[i]} * b[i] : 0;
        low[i] = static_cast<T>(product);
        high[i] = static_cast<T>(product >> 32);
    }
    asc_emu::set_lanes(dst0, low);
    asc_emu::set_lanes(dst1, high);
}
