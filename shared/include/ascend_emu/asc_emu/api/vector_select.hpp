// Comparisons, selection, copies and broadcasts (ascend_c_vector.md sections 8.1 and 8.4).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"

namespace asc_emu {

// 16-bit floats as integers of the same order, both zeros equal.
template <class T>
ASC_EMU_INLINE Chunk<int16_t> order_key(ChunkBits v) {
    const auto b = reinterpret_cast<Chunk<int16_t>>(v);
    const Chunk<int16_t> magnitude = b & int16_t{0x7fff};
    return b < int16_t{0} ? Chunk<int16_t>{} - magnitude : magnitude;
}
template <class T>
ASC_EMU_INLINE Chunk<int16_t> is_number16(ChunkBits v) {
    constexpr int16_t kInf = std::is_same_v<T, half> ? 0x7c00 : 0x7f80;
    return (reinterpret_cast<Chunk<int16_t>>(v) & int16_t{0x7fff}) <= kInf;
}
// Mask bits of the lanes of two members for which a rule holds.
template <class Rule, class T>
ASC_EMU_INLINE uint64_t compare_chunk(ChunkBits a, ChunkBits b) {
    if constexpr (is_float16<T>) {
        const auto numbers = is_number16<T>(a) & is_number16<T>(b);
        const auto holds = Rule{}(order_key<T>(a), order_key<T>(b));
        return bits_of_lanes<sizeof(T)>(Rule::kNan ? holds | ~numbers : holds & numbers);
    } else {
#if ASC_EMU_AVX512
        const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
        constexpr uint32_t W = sizeof(T);
        if constexpr (std::is_same_v<T, float>)
            return bits_of_native<W>(
                _mm512_cmp_ps_mask(float_of(a), float_of(b), Rule::kFloatPredicate));
        if constexpr (std::is_same_v<T, int32_t>)
            return bits_of_native<W>(_mm512_cmp_epi32_mask(x, y, Rule::kPredicate));
        if constexpr (std::is_same_v<T, uint32_t>)
            return bits_of_native<W>(_mm512_cmp_epu32_mask(x, y, Rule::kPredicate));
#endif
        return bits_of_lanes<sizeof(T)>(
            Rule{}(reinterpret_cast<Chunk<T>>(a), reinterpret_cast<Chunk<T>>(b)));
    }
}
template <class Rule, class T, class Second>
ASC_EMU_INLINE void compare(MaskRegister& dst, const VectorRegister<T>& a, Second second,
                            const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(VectorClass::logic, dst, a, mask);
    static_assert(is_arithmetic9<T>,
                  "comparisons take vectors of integers of 1, 2 or 4 bytes, half, bf16 or float");
    MaskRegister r{};
    ASC_EMU_EACH_CHUNK(k,
                       r.set_chunk(k, compare_chunk<Rule, T>(a.part[k], second(k)) & mask.chunk(k)))
    dst = r;
}

// kNan: the answer when an operand is NaN; the others: names of the rule in AVX-512.
#define ASC_EMU_COMPARE_RULE(name, op, nan, predicate, float_predicate)                 \
    struct name {                                                                       \
        static constexpr bool kNan = nan;                                               \
        static constexpr int kPredicate = predicate, kFloatPredicate = float_predicate; \
        template <class V>                                                              \
        ASC_EMU_FORCED auto operator()(V a, V b) const {                                \
            return a op b;                                                              \
        }                                                                               \
    };
ASC_EMU_COMPARE_RULE(Equal, ==, false, 0, 0x00)
ASC_EMU_COMPARE_RULE(NotEqual, !=, true, 4, 0x04)
ASC_EMU_COMPARE_RULE(Greater, >, false, 6, 0x1e)
ASC_EMU_COMPARE_RULE(GreaterEqual, >=, false, 5, 0x1d)
ASC_EMU_COMPARE_RULE(Less, <, false, 1, 0x11)
ASC_EMU_COMPARE_RULE(LessEqual, <=, false, 2, 0x12)
#undef ASC_EMU_COMPARE_RULE

}  // namespace asc_emu

#define ASC_EMU_COMPARE(name, rule)                                                             \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name(vector_bool& dst, const asc_emu::VectorRegister<T>& src0,   \
                                    const asc_emu::VectorRegister<T>& src1,                     \
                                    const vector_bool& mask) {                                  \
        asc_emu::compare<asc_emu::rule>(                                                        \
            dst, src0, [&](uint32_t k) ASC_EMU_LAMBDA { return src1.part[k]; }, mask);          \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED vector_bool name(const asc_emu::VectorRegister<T>& src0,              \
                                           const asc_emu::VectorRegister<T>& src1,              \
                                           const vector_bool& mask) {                           \
        vector_bool dst;                                                                        \
        name(dst, src0, src1, mask);                                                            \
        return dst;                                                                             \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name##_scalar(                                                   \
        vector_bool& dst, const asc_emu::VectorRegister<T>& src, std::type_identity_t<T> value, \
        const vector_bool& mask) {                                                              \
        const asc_emu::ChunkBits all = asc_emu::splat_bits(value);                              \
        asc_emu::compare<asc_emu::rule>(                                                        \
            dst, src, [&](uint32_t) ASC_EMU_LAMBDA { return all; }, mask);                      \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED vector_bool name##_scalar(const asc_emu::VectorRegister<T>& src,      \
                                                    std::type_identity_t<T> value,              \
                                                    const vector_bool& mask) {                  \
        vector_bool dst;                                                                        \
        name##_scalar(dst, src, value, mask);                                                   \
        return dst;                                                                             \
    }
ASC_EMU_COMPARE(asc_eq, Equal)
ASC_EMU_COMPARE(asc_ne, NotEqual)
ASC_EMU_COMPARE(asc_gt, Greater)
ASC_EMU_COMPARE(asc_ge, GreaterEqual)
ASC_EMU_COMPARE(asc_lt, Less)
ASC_EMU_COMPARE(asc_le, LessEqual)
#undef ASC_EMU_COMPARE

// mask ? src0 : src1
template <class T>
inline ASC_EMU_FORCED void asc_select(asc_emu::VectorRegister<T>& dst,
                                      const asc_emu::VectorRegister<T>& src0,
                                      const asc_emu::VectorRegister<T>& src1,
                                      const vector_bool& mask) {
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::logic, dst, src0, src1, mask);
    ASC_EMU_EACH_CHUNK(k, dst.part[k] = asc_emu::select_lanes<sizeof(T)>(
                              mask.chunk(k), src0.part[k], src1.part[k]))
}
template <class T>
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_select(const asc_emu::VectorRegister<T>& src0,
                                                            const asc_emu::VectorRegister<T>& src1,
                                                            const vector_bool& mask) {
    asc_emu::VectorRegister<T> dst;
    asc_select(dst, src0, src1, mask);
    return dst;
}
// The masked copy keeps inactive lanes of dst.
template <class T>
inline ASC_EMU_FORCED void asc_copy(asc_emu::VectorRegister<T>& dst,
                                    const asc_emu::VectorRegister<T>& src) {
    dst = src;
}
template <class T>
inline ASC_EMU_FORCED void asc_copy(asc_emu::VectorRegister<T>& dst,
                                    const asc_emu::VectorRegister<T>& src,
                                    const vector_bool& mask) {
    asc_select(dst, src, dst, mask);
}

// Broadcasts -------------------------------------------------------------------------------------
template <class T>
inline ASC_EMU_FORCED void asc_duplicate_scalar(asc_emu::VectorRegister<T>& dst,
                                                std::type_identity_t<T> value) {
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::duplicate, dst);
    const asc_emu::ChunkBits all = asc_emu::splat_bits(value);
    ASC_EMU_EACH_CHUNK(k, dst.part[k] = all)
}
template <class T>
inline ASC_EMU_FORCED void asc_duplicate_scalar(asc_emu::VectorRegister<T>& dst,
                                                std::type_identity_t<T> value,
                                                const vector_bool& mask) {
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::duplicate, dst, mask);
    const asc_emu::ChunkBits all = asc_emu::splat_bits(value);
    asc_emu::zeroing<sizeof(T)>(dst, mask, [&](uint32_t) ASC_EMU_LAMBDA { return all; });
}
template <class T>
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_duplicate_scalar(T value) {
    asc_emu::VectorRegister<T> dst;
    asc_duplicate_scalar(dst, value);
    return dst;
}
template <class T>
    requires(!std::is_same_v<T, vector_bool>)
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_duplicate_scalar(T value,
                                                                      const vector_bool& mask) {
    asc_emu::VectorRegister<T> dst;
    asc_duplicate_scalar(dst, value, mask);
    return dst;
}
// Lane 0, or the last lane, of src.
#define ASC_EMU_DUPLICATE(name, lane_index)                                                      \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    const vector_bool& mask) {                                   \
        ASC_EMU_TIMED_OP(asc_emu::VectorClass::duplicate, dst, src, mask);                       \
        const auto lanes = asc_emu::lanes_of(src);                                               \
        const auto all = asc_emu::splat_bits(lanes[lane_index]);                                 \
        asc_emu::zeroing<sizeof(T)>(dst, mask, [&](uint32_t) ASC_EMU_LAMBDA { return all; });    \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        name(dst, src, mask);                                                                    \
        return dst;                                                                              \
    }
ASC_EMU_DUPLICATE(asc_duplicate, 0)
ASC_EMU_DUPLICATE(asc_duplicate_highest, (asc_emu::VectorRegister<T>::kLanes - 1))
#undef ASC_EMU_DUPLICATE

// value, value + 1, ..., or down to value.
namespace asc_emu {
template <class T>
ASC_EMU_INLINE void ramp(VectorRegister<T>& dst, T value, bool down) {
    static_assert(one_of<T, int8_t, int16_t, int32_t, half, float>,
                  "asc_arange counts in signed integers of 1, 2 or 4 bytes, half or float");
    ASC_EMU_TIMED_OP(VectorClass::duplicate, dst);
    // Half counts in fp32 and rounds then: its even and odd lanes.
    using Lane = std::conditional_t<is_floating<T>, float, BitsOf<T>>;
    constexpr uint32_t kWays = sizeof(Lane) / sizeof(T);
    constexpr int kLanes = kVectorBytes / sizeof(T);
    const auto first = splat<Lane>(static_cast<Lane>(value));
    const auto counted = [&](int from) ASC_EMU_LAMBDA {
        const auto step =
            counted_lanes<Lane>() * static_cast<Lane>(kWays) + static_cast<Lane>(from);
        return first + (down ? static_cast<Lane>(kLanes - 1) - step : step);
    };
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        const int from = static_cast<int>(k * kChunkLanes<T>);
        if constexpr (kWays == 1)
            dst.part[k] = reinterpret_cast<ChunkBits>(counted(from));
        else
            dst.part[k] =
                float_to_half_bits(counted(from)) | (float_to_half_bits(counted(from + 1)) << 16);
        if constexpr (is_floating<T>)
            dst.part[k] = lane_op<T>(dst.part[k], [](auto v) ASC_EMU_LAMBDA { return v; });
    });
}
}  // namespace asc_emu
template <class T>
inline ASC_EMU_FORCED void asc_arange(asc_emu::VectorRegister<T>& dst,
                                      std::type_identity_t<T> value) {
    asc_emu::ramp(dst, value, false);
}
template <class T>
inline ASC_EMU_FORCED void asc_arange_descend(asc_emu::VectorRegister<T>& dst,
                                              std::type_identity_t<T> value) {
    asc_emu::ramp(dst, value, true);
}
