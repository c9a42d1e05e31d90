// Register arithmetic and conversions that epilogues use (ascend_c_vector.md sections 8 and 9).
// Inactive lanes of a result are zero.
#pragma once

#include "asc_emu/api/vector_types.hpp"

namespace asc_emu {

// dst.lane[i] = active(i) ? rule(i) : 0. W is the width whose mask bits count.
template <uint32_t W, class D, class Rule>
inline __attribute__((always_inline)) void masked_lanes(VectorRegister<D>& dst,
                                                        const MaskRegister& mask, Rule rule) {
    constexpr uint32_t kLanes = kVectorBytes / W;
    static_assert(VectorRegister<D>::kLanes == kLanes);
    VectorRegister<D> result;
    if (mask.template all<W>()) {
        for (uint32_t i = 0; i < kLanes; ++i) result.lane[i] = rule(i);
    } else {
        for (uint32_t i = 0; i < kLanes; ++i)
            result.lane[i] = mask.template lane<W>(i) ? rule(i) : D{};
    }
    dst = result;
}

// Integers wrap.
template <class T>
constexpr T lane_add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
        return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
}
template <class T>
constexpr T lane_sub(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else
        return static_cast<T>(static_cast<float>(a) - static_cast<float>(b));
}
template <class T>
constexpr T lane_mul(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
        return static_cast<T>(static_cast<float>(a) * static_cast<float>(b));
}

}  // namespace asc_emu

#define ASC_EMU_VECTOR_BINARY(name, rule)                                                      \
    template <class T>                                                                         \
    inline void name(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src0,  \
                     const asc_emu::VectorRegister<T>& src1, const vector_bool& mask) {        \
        asc_emu::masked_lanes<sizeof(T)>(                                                      \
            dst, mask, [&](uint32_t i) { return asc_emu::rule(src0.lane[i], src1.lane[i]); }); \
    }                                                                                          \
    template <class T>                                                                         \
    inline void name##_scalar(asc_emu::VectorRegister<T>& dst,                                 \
                              const asc_emu::VectorRegister<T>& src,                           \
                              std::type_identity_t<T> value, const vector_bool& mask) {        \
        asc_emu::masked_lanes<sizeof(T)>(                                                      \
            dst, mask, [&](uint32_t i) { return asc_emu::rule(src.lane[i], value); });         \
    }
ASC_EMU_VECTOR_BINARY(asc_add, lane_add)
ASC_EMU_VECTOR_BINARY(asc_sub, lane_sub)
ASC_EMU_VECTOR_BINARY(asc_mul, lane_mul)
#undef ASC_EMU_VECTOR_BINARY

template <class T>
inline void asc_duplicate_scalar(asc_emu::VectorRegister<T>& dst, std::type_identity_t<T> value,
                                 const vector_bool& mask) {
    asc_emu::masked_lanes<sizeof(T)>(dst, mask, [&](uint32_t) { return value; });
}
template <class T>
inline void asc_duplicate_scalar(asc_emu::VectorRegister<T>& dst, std::type_identity_t<T> value) {
    for (auto& lane : dst.lane) lane = value;
}

// fp32 -> bf16, nearest even; results in the even (v2: odd) lanes, the other lanes are zero.
namespace asc_emu {
template <uint32_t kPart>
inline void narrow_to_bf16(vector_bfloat16_t& dst, const vector_float& src,
                           const MaskRegister& mask) {
    VectorRegister<uint32_t> words;
    masked_lanes<4>(words, mask, [&](uint32_t i) -> uint32_t {
        const uint32_t b = float_bits(src.lane[i]);
        const uint32_t rounded = (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
        return (is_nan_bits(b) ? kBf16Nan : rounded) << (16 * kPart);
    });
    __builtin_memcpy(&dst, &words, kVectorBytes);
}
template <uint32_t kPart>
inline void widen_from_bf16(vector_float& dst, const vector_bfloat16_t& src,
                            const MaskRegister& mask) {
    VectorRegister<uint32_t> words(src);
    masked_lanes<4>(dst, mask, [&](uint32_t i) {
        return bits_float(kPart ? words.lane[i] & 0xffff0000u : words.lane[i] << 16);
    });
}
}  // namespace asc_emu
inline void asc_float2bfloat16_rn(vector_bfloat16_t& dst, const vector_float& src,
                                  const vector_bool& mask) {
    asc_emu::narrow_to_bf16<0>(dst, src, mask);
}
inline void asc_float2bfloat16_rn_v2(vector_bfloat16_t& dst, const vector_float& src,
                                     const vector_bool& mask) {
    asc_emu::narrow_to_bf16<1>(dst, src, mask);
}
inline void asc_bfloat162float(vector_float& dst, const vector_bfloat16_t& src,
                               const vector_bool& mask) {
    asc_emu::widen_from_bf16<0>(dst, src, mask);
}
inline void asc_bfloat162float_v2(vector_float& dst, const vector_bfloat16_t& src,
                                  const vector_bool& mask) {
    asc_emu::widen_from_bf16<1>(dst, src, mask);
}
