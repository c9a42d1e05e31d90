// Quantisation and ReLU of Fixpipe (ascend_c_cube.md sections 9.4 and 9.6).
#include "ops/fixpipe_convert.hpp"

#include <cmath>
#include <cstring>

#include "asc_emu/enums.hpp"
#include "asc_emu/number_formats.hpp"

namespace asc_emu {
namespace {

constexpr uint32_t kMaxCount = 16;
constexpr uint8_t kReluNormal = 1, kReluScalar = 2, kReluVector = 3;

// 1-8-10 float in bits [31:13] of a parameter word.
float multiplier(uint64_t word) { return bits_float(static_cast<uint32_t>(word) & 0xffffe000u); }
int offset_of_word(uint64_t word) {
    return static_cast<int>(static_cast<int64_t>(word << 18) >> 55);
}
bool signed_result(uint64_t word) { return (word >> 46) & 1; }

uint64_t word_at(const std::byte* vector, uint32_t column) {
    uint64_t word;
    std::memcpy(&word, vector + static_cast<size_t>(column) * 8, 8);
    return word;
}
uint64_t quant_word(const ValueRule& r, uint32_t column) {
    return r.quant.vector ? word_at(r.quant_vector, column) : r.quant_scalar;
}

// x = v * (v >= 0 ? M1 : M2): M2 is M1 without ReLU and 0 with it; a negative value then gives +0.
float scaled_value(const ValueRule& r, float v, uint32_t column) {
    const float m1 = r.quant.scaled ? multiplier(quant_word(r, column)) : 1.0f;
    if (r.relu == 0 || v != v) return v * m1;
    if (r.relu == kReluNormal) return v > 0 ? v * m1 : 0.0f;
    if (v >= 0) return v * m1;
    return v * (r.relu == kReluScalar ? r.relu_alpha : multiplier(word_at(r.relu_vector, column)));
}

int round_clamped(float x, float low, float high) {
    if (x != x) return 0;
    return static_cast<int>(std::nearbyintf(x < low ? low : x > high ? high : x));
}
int clamp_int(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

uint8_t to_b8(const ValueRule& r, float x, uint32_t column) {
    const uint64_t word = quant_word(r, column);
    const int y = round_clamped(x, -256.0f, 255.0f) + offset_of_word(word);
    return static_cast<uint8_t>(signed_result(word) ? clamp_int(y, -128, 127)
                                                    : clamp_int(y, 0, 255));
}
uint8_t to_i4(float x) {
    return static_cast<uint8_t>(clamp_int(round_clamped(x, -256.0f, 255.0f), -8, 7) & 15);
}

// CTRL[48] = 0: infinities and overflow become the largest finite value, NaN becomes 0.
template <class Bits>
Bits saturated(Bits code, Bits sign_bit, Bits inf, Bits max_finite, bool is_nan) {
    if (is_nan) return 0;
    return (code & static_cast<Bits>(~sign_bit)) == inf
               ? static_cast<Bits>((code & sign_bit) | max_finite)
               : code;
}
uint16_t to_half(const ValueRule& r, float x) {
    const uint16_t code = float_to_half(x);
    return r.keep_inf_nan ? code : saturated<uint16_t>(code, 0x8000, 0x7c00, 0x7bff, x != x);
}
uint16_t to_bf16(const ValueRule& r, float x) {
    const uint16_t code = float_to_bf16(x);
    return r.keep_inf_nan ? code : saturated<uint16_t>(code, 0x8000, 0x7f80, 0x7f7f, x != x);
}
float to_f32(const ValueRule& r, float x) {
    if (r.keep_inf_nan) return x;
    return bits_float(
        saturated<uint32_t>(float_bits(x), 0x80000000u, 0x7f800000u, 0x7f7fffffu, x != x));
}
uint8_t to_e4m3(const ValueRule& r, float x) {
    const uint8_t code = float_to_e4m3(x);
    if (r.keep_inf_nan) return code;
    if (x != x) return r.e4m3_keep_nan ? code : 0;
    return saturated<uint8_t>(code, 0x80, 0x7f, 0x7e, false);
}
uint8_t to_hif8(const ValueRule& r, float x) {
    const uint8_t code = float_to_hif8(x, r.quant.hybrid);
    return r.keep_inf_nan ? code : saturated<uint8_t>(code, 0x80, kHif8Inf, kHif8MaxFinite, x != x);
}
// DEQF16 clamps to the largest finite half whatever the mode.
float clamp_half(float x) { return x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x; }

template <class T>
void put(std::byte* out, uint32_t i, T value) {
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
}

void encode(const ValueRule& r, float x, uint32_t column, std::byte* out, uint32_t i) {
    switch (r.to) {
        case Dtype::f16:
            return put(out, i, to_half(r, r.from == Dtype::i32 ? clamp_half(x) : x));
        case Dtype::bf16:
            return put(out, i, to_bf16(r, x));
        case Dtype::f32:
            return put(out, i, to_f32(r, x));
        case Dtype::e4m3:
            return put(out, i, to_e4m3(r, x));
        case Dtype::hif8:
            return put(out, i, to_hif8(r, x));
        case Dtype::i4: {
            const uint8_t low = i & 1 ? static_cast<uint8_t>(out[i / 2]) & 15 : 0;
            out[i / 2] = static_cast<std::byte>(i & 1 ? low | to_i4(x) << 4 : to_i4(x));
            return;
        }
        default:
            return put(out, i, to_b8(r, x, column));
    }
}

// NoQuant on integers, or on floats without arithmetic: ReLU only.
void copy_values(const ValueRule& r, const std::byte* src, std::byte* out, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        int32_t bits;
        std::memcpy(&bits, src + i * 4, 4);
        const bool nan = r.from == Dtype::f32 && is_nan_bits(static_cast<uint32_t>(bits));
        if (r.relu == kReluNormal && bits < 0 && !nan) bits = 0;
        put(out, i, bits);
    }
}

}  // namespace

QuantInfo quant_info(uint8_t mode) {
    constexpr Dtype kF32 = Dtype::f32, kI32 = Dtype::i32;
    switch (mode) {
        case NoQuant:
            return {"NoQuant"};
        case F322F16:
            return {"F322F16", kF32, Dtype::f16};
        case F322BF16:
            return {"F322BF16", kF32, Dtype::bf16};
        case DEQF16:
            return {"DEQF16", kI32, Dtype::f16, true};
        case VDEQF16:
            return {"VDEQF16", kI32, Dtype::f16, true, true};
        case REQ8:
            return {"REQ8", kI32, Dtype::i8, true};
        case VREQ8:
            return {"VREQ8", kI32, Dtype::i8, true, true};
        case REQ4:
            return {"REQ4", kI32, Dtype::i4, true};
        case VREQ4:
            return {"VREQ4", kI32, Dtype::i4, true, true};
        case QS322BF16_PRE:
            return {"QS322BF16_PRE", kI32, Dtype::bf16, true};
        case VQS322BF16_PRE:
            return {"VQS322BF16_PRE", kI32, Dtype::bf16, true, true};
        case QF322B8_PRE:
            return {"QF322B8_PRE", kF32, Dtype::i8, true};
        case VQF322B8_PRE:
            return {"VQF322B8_PRE", kF32, Dtype::i8, true, true};
        case QF322S4_PRE:
            return {"QF322S4_PRE", kF32, Dtype::i4, true};
        case VQF322S4_PRE:
            return {"VQF322S4_PRE", kF32, Dtype::i4, true, true};
        case QF322FP8_PRE:
            return {"QF322FP8_PRE", kF32, Dtype::e4m3, true};
        case VQF322FP8_PRE:
            return {"VQF322FP8_PRE", kF32, Dtype::e4m3, true, true};
        case QF322HIF8_PRE:
            return {"QF322HIF8_PRE", kF32, Dtype::hif8, true};
        case VQF322HIF8_PRE:
            return {"VQF322HIF8_PRE", kF32, Dtype::hif8, true, true};
        case QF322HIF8_PRE_HYBRID:
            return {"QF322HIF8_PRE_HYBRID", kF32, Dtype::hif8, true, false, true};
        case VQF322HIF8_PRE_HYBRID:
            return {"VQF322HIF8_PRE_HYBRID", kF32, Dtype::hif8, true, true, true};
        case QF322F16_PRE:
            return {"QF322F16_PRE", kF32, Dtype::f16, true};
        case VQF322F16_PRE:
            return {"VQF322F16_PRE", kF32, Dtype::f16, true, true};
        case QF322BF16_PRE:
            return {"QF322BF16_PRE", kF32, Dtype::bf16, true};
        case VQF322BF16_PRE:
            return {"VQF322BF16_PRE", kF32, Dtype::bf16, true, true};
        case QF322F32_PRE:
            return {"QF322F32_PRE", kF32, Dtype::f32, true};
        case VQF322F32_PRE:
            return {"VQF322F32_PRE", kF32, Dtype::f32, true, true};
        default:
            return {};
    }
}

FastRule fast_rule(const ValueRule& r) {
    if (r.relu != 0 || r.quant.scaled) return FastRule::none;
    if (r.quant.to == Dtype::none) return FastRule::bits32;
    if (!r.keep_inf_nan) return FastRule::none;
    return r.to == Dtype::bf16 ? FastRule::bf16 : FastRule::f16;
}

void convert_values(const ValueRule& r, const std::byte* src, std::byte* out, uint32_t column,
                    uint32_t count) {
    const bool scalar_or_vector_relu = r.relu == kReluScalar || r.relu == kReluVector;
    if (r.quant.to == Dtype::none && !scalar_or_vector_relu) return copy_values(r, src, out, count);
    for (uint32_t i = 0; i < count; ++i) {
        float v;
        if (r.from == Dtype::i32) {
            int32_t integer;
            std::memcpy(&integer, src + i * 4, 4);
            v = static_cast<float>(integer);
        } else {
            std::memcpy(&v, src + i * 4, 4);
        }
        encode(r, scaled_value(r, v, column + i), column + i, out, i);
    }
}

}  // namespace asc_emu
