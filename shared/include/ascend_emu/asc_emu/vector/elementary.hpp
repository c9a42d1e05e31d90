// exp, ln, sqrt, division and fused multiply-add (ascend_c_vector.md section 8.4).
// NOTE: the hardware's bit patterns are known to 1 ulp only. This file, and for exp and ln the
// runtime's vector/elementary.cpp, decide them: the correctly rounded result, with subnormal
// inputs and outputs flushed to zero (exp, ln, sqrt and division; the fused operations keep
// subnormals).
#pragma once

#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"
#include "asc_emu/vector/calls.hpp"

namespace asc_emu {

// Flushing; the sign stays.
ASC_EMU_INLINE Chunk<float> flush(Chunk<float> v) {
    const Chunk<uint32_t> b = bits_of(v);
#if ASC_EMU_AVX512
    const auto x = reinterpret_cast<__m512i>(b);
    const auto exponent = reinterpret_cast<__m512i>(splat<uint32_t>(0x7f800000u));
    const auto sign = reinterpret_cast<__m512i>(splat<uint32_t>(0x80000000u));
    return reinterpret_cast<Chunk<float>>(
        _mm512_mask_and_epi32(x, _mm512_testn_epi32_mask(x, exponent), x, sign));
#else
    return float_of((b & 0x7f800000u) == 0u ? b & 0x80000000u : b);
#endif
}
ASC_EMU_INLINE ChunkBits flush_half(ChunkBits v) {
    const auto h = reinterpret_cast<Chunk<uint16_t>>(v);
    const Chunk<uint16_t> sign = h & uint16_t{0x8000};
    return reinterpret_cast<ChunkBits>((h & uint16_t{0x7c00}) == uint16_t{0} ? sign : h);
}
template <class T>
ASC_EMU_INLINE ChunkBits flush_lanes(ChunkBits v) {
    if constexpr (std::is_same_v<T, half>)
        return flush_half(v);
    else
        return bits_of(flush(float_of(v)));
}

struct Divide {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        return a / b;
    }
};
struct SquareRoot {
    ASC_EMU_FORCED Chunk<float> operator()(Chunk<float> a) const {
#if ASC_EMU_AVX512
        return _mm512_sqrt_ps(a);
#elif defined(__AVX2__)
        return _mm256_sqrt_ps(a);
#else
        Chunk<float> r;
        for (uint32_t i = 0; i < kChunkLanes<float>; ++i) r[i] = __builtin_sqrtf(a[i]);
        return r;
#endif
    }
};

// Fused multiply-add -----------------------------------------------------------------------------
ASC_EMU_INLINE Chunk<float> fused(Chunk<float> a, Chunk<float> b, Chunk<float> c) {
#if ASC_EMU_AVX512
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#else
    Chunk<float> r;
    for (uint32_t i = 0; i < kChunkLanes<float>; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
#endif
}
// a * b + c for operands of half: rounded to odd in fp32, so that rounding it to half is exact.
ASC_EMU_INLINE Chunk<float> fused_to_odd(Chunk<float> a, Chunk<float> b, Chunk<float> c) {
    const Chunk<float> product = a * b;  // exact
    const Chunk<float> sum = product + c;
    const Chunk<float> part = sum - product;
    const Chunk<float> error = (product - (sum - part)) + (c - part);
    const Chunk<uint32_t> s = bits_of(sum), e = bits_of(error);
    const Chunk<uint32_t> step =
        ((s ^ e) & 0x80000000u) == 0u ? splat<uint32_t>(1u) : splat<uint32_t>(~0u);
    const Chunk<uint32_t> odd = (s & 1u) == 0u ? s + step : s;
    const auto finite = (s & 0x7f800000u) != 0x7f800000u;
    const auto inexact = (e & 0x7fffffffu) != 0u;
    return float_of(finite & inexact ? odd : s);
}
// Rounds to fp32 keeping a trace of what was lost in the last bit.
inline float narrow_to_odd(double v) {
    const float f = static_cast<float>(v);
    if (!(f == f) || static_cast<double>(f) == v) return f;
    const bool above = (f < 0 ? -static_cast<double>(f) : f) > (v < 0 ? -v : v);
    return bits_float((float_bits(f) - (above ? 1 : 0)) | 1);
}
inline bfloat16_t fused_bf16(bfloat16_t a, bfloat16_t b, bfloat16_t c) {
    const double product = static_cast<double>(static_cast<float>(a)) * static_cast<float>(b);
    const double addend = static_cast<float>(c);
    double sum = product + addend;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (addend - part);
    uint64_t bits = __builtin_bit_cast(uint64_t, sum);
    if (error != 0 && error - error == 0 && (bits & 1) == 0) {
        bits += (error < 0) == (sum < 0) ? 1 : ~uint64_t{0};
        sum = __builtin_bit_cast(double, bits);
    }
    return bfloat16_t(narrow_to_odd(sum));
}
template <class T>
ASC_EMU_INLINE ChunkBits fused_lanes(ChunkBits a, ChunkBits b, ChunkBits c) {
    if constexpr (std::is_same_v<T, float>) {
        return bits_of(canonical_nan(fused(float_of(a), float_of(b), float_of(c))));
    } else if constexpr (std::is_same_v<T, half>) {
        const FloatPair x = widen_half(a), y = widen_half(b), z = widen_half(c);
        return round16<half>(
            {fused_to_odd(x.first, y.first, z.first), fused_to_odd(x.second, y.second, z.second)});
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
        bfloat16_t x[kChunkBytes / 2], y[kChunkBytes / 2], z[kChunkBytes / 2];
        __builtin_memcpy(x, &a, kChunkBytes);
        __builtin_memcpy(y, &b, kChunkBytes);
        __builtin_memcpy(z, &c, kChunkBytes);
        for (uint32_t i = 0; i < kChunkBytes / 2; ++i) x[i] = fused_bf16(x[i], y[i], z[i]);
        ChunkBits r;
        __builtin_memcpy(&r, x, kChunkBytes);
        return r;
    } else {
        using U = Chunk<BitsOf<T>>;
        return reinterpret_cast<ChunkBits>(reinterpret_cast<U>(a) * reinterpret_cast<U>(b) +
                                           reinterpret_cast<U>(c));
    }
}

// exp and ln: one call, since the code is long. The runtime has it, which is compiled once.
template <ElementaryRule kRule, class T>
ASC_EMU_INLINE void elementary(VectorRegister<T>& dst, const VectorRegister<T>& src) {
    VectorRegister<T> from = src, to;
    asc_emu_vector_elementary(kRule, sizeof(T) == 2, &to, &from);
    dst = to;
}

// Integer-valued floats; the sign of zero stays.
struct RoundTo {
    Round mode;
    float of(float v) const {
        switch (mode) {
            case Round::rna:
                return __builtin_roundf(v);
            case Round::rd:
                return __builtin_floorf(v);
            case Round::ru:
                return __builtin_ceilf(v);
            case Round::rz:
                return __builtin_truncf(v);
            default:
                return __builtin_rintf(v);
        }
    }
    ASC_EMU_FORCED Chunk<float> operator()(Chunk<float> v) const {
        Chunk<float> r;
        for (uint32_t i = 0; i < kChunkLanes<float>; ++i) r[i] = of(v[i]);
        return r;
    }
};

}  // namespace asc_emu
