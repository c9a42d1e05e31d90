// Element types of device code (ascend_c_cube.md section 17): storage types with the layout of the
// device types, and the mapping from C++ types to asc_emu::Dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "asc_emu/command.hpp"
#include "asc_emu/number_formats.hpp"

struct half {
    uint16_t bits;
    half() = default;
    constexpr half(float v) : bits(asc_emu::float_to_half(v)) {}
    constexpr operator float() const { return asc_emu::half_to_float(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    constexpr bfloat16_t(float v) : bits(asc_emu::float_to_bf16(v)) {}
    constexpr operator float() const { return asc_emu::bf16_to_float(bits); }
};

// Compound assignment through fp32. NOTE: not in a base class, since std::bit_cast of constants takes none.
#define ASC_EMU_FLOAT_ASSIGNMENTS(type)                                                        \
    constexpr type& operator+=(type& a, float b) { return a = type(static_cast<float>(a) + b); } \
    constexpr type& operator-=(type& a, float b) { return a = type(static_cast<float>(a) - b); } \
    constexpr type& operator*=(type& a, float b) { return a = type(static_cast<float>(a) * b); } \
    constexpr type& operator/=(type& a, float b) { return a = type(static_cast<float>(a) / b); }
ASC_EMU_FLOAT_ASSIGNMENTS(half)
ASC_EMU_FLOAT_ASSIGNMENTS(bfloat16_t)
#undef ASC_EMU_FLOAT_ASSIGNMENTS

struct fp8_e4m3fn_t {
    uint8_t bits;
    fp8_e4m3fn_t() = default;
    explicit constexpr fp8_e4m3fn_t(float v) : bits(asc_emu::float_to_e4m3(v)) {}
    explicit constexpr operator float() const { return asc_emu::e4m3_to_float(bits); }
};

struct fp8_e5m2_t {
    uint8_t bits;
    fp8_e5m2_t() = default;
    explicit constexpr fp8_e5m2_t(float v) : bits(asc_emu::float_to_e5m2(v)) {}
    explicit constexpr operator float() const { return asc_emu::e5m2_to_float(bits); }
};

struct hifloat8_t {
    uint8_t bits;
    hifloat8_t() = default;
    explicit constexpr hifloat8_t(float v) : bits(asc_emu::float_to_hif8(v, false)) {}
    explicit constexpr operator float() const { return asc_emu::hif8_to_float(bits); }
};

struct fp8_e8m0_t {
    uint8_t bits;
    fp8_e8m0_t() = default;
    explicit constexpr operator float() const { return asc_emu::e8m0_to_float(bits); }
};

// Two 4-bit elements a byte: the even index in the low nibble.
struct fp4x2_e2m1_t {
    uint8_t bits;
};
struct fp4x2_e1m2_t {
    uint8_t bits;
};
struct int4x2_t {
    uint8_t bits;
};

using float8_e4m3_t = fp8_e4m3fn_t;
using float8_e5m2_t = fp8_e5m2_t;
using float8_e8m0_t = fp8_e8m0_t;
using float4_e2m1x2_t = fp4x2_e2m1_t;
using float4_e1m2x2_t = fp4x2_e1m2_t;
using int4b_t = int4x2_t;

namespace asc_emu {

template <class T>
constexpr Dtype dtype_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, half>)
        return Dtype::f16;
    else if constexpr (std::is_same_v<U, bfloat16_t>)
        return Dtype::bf16;
    else if constexpr (std::is_same_v<U, float>)
        return Dtype::f32;
    else if constexpr (std::is_same_v<U, fp8_e4m3fn_t>)
        return Dtype::e4m3;
    else if constexpr (std::is_same_v<U, fp8_e5m2_t>)
        return Dtype::e5m2;
    else if constexpr (std::is_same_v<U, hifloat8_t>)
        return Dtype::hif8;
    else if constexpr (std::is_same_v<U, fp8_e8m0_t>)
        return Dtype::e8m0;
    else if constexpr (std::is_same_v<U, fp4x2_e2m1_t>)
        return Dtype::e2m1;
    else if constexpr (std::is_same_v<U, fp4x2_e1m2_t>)
        return Dtype::e1m2;
    else if constexpr (std::is_same_v<U, int4x2_t>)
        return Dtype::i4;
    else if constexpr (std::is_integral_v<U>) {
        constexpr Dtype kSigned[] = {Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64};
        constexpr Dtype kUnsigned[] = {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64};
        constexpr int kIndex = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
        return std::is_signed_v<U> ? kSigned[kIndex] : kUnsigned[kIndex];
    } else
        return Dtype::none;
}

// Bits of one element; the two-in-a-byte types hold 4-bit elements.
template <class T>
constexpr uint8_t element_bits_of() {
    return static_cast<uint8_t>(dtype_bits(dtype_of<T>()));
}

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2 && sizeof(fp8_e4m3fn_t) == 1);
static_assert(std::is_trivially_copyable_v<half> && std::is_trivially_copyable_v<bfloat16_t>);

}  // namespace asc_emu
