// Registers of a vector core as value types (ascend_c_vector.md sections 1.2, 3.1 and 4): data
// registers of 256 bytes, masks of 256 bits where bit i * W governs lane i of a W-byte type.
#pragma once

#include "asc_emu/types.hpp"

namespace asc_emu {

constexpr uint32_t kVectorBytes = 256;

template <class T>
struct alignas(64) VectorRegister {
    static constexpr uint32_t kLanes = kVectorBytes / sizeof(T);
    T lane[kLanes];

    VectorRegister() = default;
    // A cast between register types keeps the bits.
    template <class U>
    explicit VectorRegister(const VectorRegister<U>& other) {
        __builtin_memcpy(this, &other, kVectorBytes);
    }
};

struct alignas(32) MaskRegister {
    uint64_t word[4];

    template <uint32_t W>
    constexpr bool lane(uint32_t i) const {
        return (word[i * W / 64] >> (i * W % 64)) & 1;
    }
    // Every lane of a W-byte type is active.
    template <uint32_t W>
    constexpr bool all() const {
        constexpr uint64_t kLow = W == 1   ? ~0ull
                                  : W == 2 ? 0x5555555555555555ull
                                  : W == 4 ? 0x1111111111111111ull
                                           : 0x0101010101010101ull;
        return (word[0] & word[1] & word[2] & word[3] & kLow) == kLow;
    }
};

}  // namespace asc_emu

using vector_int8_t = asc_emu::VectorRegister<int8_t>;
using vector_uint8_t = asc_emu::VectorRegister<uint8_t>;
using vector_int16_t = asc_emu::VectorRegister<int16_t>;
using vector_uint16_t = asc_emu::VectorRegister<uint16_t>;
using vector_int32_t = asc_emu::VectorRegister<int32_t>;
using vector_uint32_t = asc_emu::VectorRegister<uint32_t>;
using vector_int64_t = asc_emu::VectorRegister<int64_t>;
using vector_uint64_t = asc_emu::VectorRegister<uint64_t>;
using vector_half = asc_emu::VectorRegister<half>;
using vector_bfloat16_t = asc_emu::VectorRegister<bfloat16_t>;
using vector_float = asc_emu::VectorRegister<float>;
using vector_fp8_e4m3fn_t = asc_emu::VectorRegister<fp8_e4m3fn_t>;
using vector_fp8_e5m2_t = asc_emu::VectorRegister<fp8_e5m2_t>;
using vector_fp8_e8m0_t = asc_emu::VectorRegister<fp8_e8m0_t>;
using vector_hifloat8_t = asc_emu::VectorRegister<hifloat8_t>;
using vector_fp4x2_e2m1_t = asc_emu::VectorRegister<fp4x2_e2m1_t>;
using vector_fp4x2_e1m2_t = asc_emu::VectorRegister<fp4x2_e1m2_t>;
using vector_int4x2_t = asc_emu::VectorRegister<int4x2_t>;
using vector_bool = asc_emu::MaskRegister;

// Compiler spellings of the same registers.
using vector_s8 = vector_int8_t;
using vector_u8 = vector_uint8_t;
using vector_s16 = vector_int16_t;
using vector_u16 = vector_uint16_t;
using vector_s32 = vector_int32_t;
using vector_u32 = vector_uint32_t;
using vector_s64 = vector_int64_t;
using vector_u64 = vector_uint64_t;
using vector_f16 = vector_half;
using vector_bf16 = vector_bfloat16_t;
using vector_f32 = vector_float;
using vector_f8e4m3 = vector_fp8_e4m3fn_t;
using vector_f8e5m2 = vector_fp8_e5m2_t;
using vector_f8e8m0 = vector_fp8_e8m0_t;
using vector_f4e2m1x2 = vector_fp4x2_e2m1_t;
using vector_f4e1m2x2 = vector_fp4x2_e1m2_t;
