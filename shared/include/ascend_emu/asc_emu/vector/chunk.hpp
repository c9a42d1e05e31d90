// A vector register as a few members of the host's vector width, and the masks of such a member
// (emulator.md section 6: 64-byte members with native masks under AVX-512, 32 bytes under AVX2, 16
// bytes elsewhere). Everything that names an instruction set is in this file and in half_lanes.hpp;
// all of them give the same bits.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define ASC_EMU_FORCED __attribute__((always_inline))
#define ASC_EMU_INLINE inline ASC_EMU_FORCED
#define ASC_EMU_LAMBDA __attribute__((always_inline))

namespace asc_emu {

constexpr uint32_t kVectorBytes = 256;

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define ASC_EMU_AVX512 1
constexpr uint32_t kChunkBytes = 64;
#elif defined(__AVX2__)
constexpr uint32_t kChunkBytes = 32;
#else
constexpr uint32_t kChunkBytes = 16;
#endif
constexpr uint32_t kChunks = kVectorBytes / kChunkBytes;

template <class T>
struct ChunkOf {
    typedef T type __attribute__((vector_size(kChunkBytes)));
};
template <class T>
using Chunk = typename ChunkOf<T>::type;
// What a register is made of.
using ChunkBits = Chunk<uint32_t>;

template <class T>
constexpr uint32_t kChunkLanes = kChunkBytes / sizeof(T);

template <uint32_t W>
using LaneBits = std::conditional_t<
    W == 1, uint8_t,
    std::conditional_t<W == 2, uint16_t, std::conditional_t<W == 4, uint32_t, uint64_t>>>;
template <uint32_t W>
using LaneInt = std::make_signed_t<LaneBits<W>>;

// f(0), f(1), ...: written out, so that registers stay in host registers. NOTE: as calls where
// these are few: the compiler then keeps no array, and needs less time than to take a loop apart.
template <class F>
ASC_EMU_INLINE void each_chunk(F&& f) {
    if constexpr (kChunks == 4) {
        f(0);
        f(1);
        f(2);
        f(3);
    } else {
#pragma GCC unroll 16
        for (uint32_t k = 0; k < kChunks; ++k) f(k);
    }
}

// The same of one statement that names k, without a function for it: in the innermost loops, which
// are compiled most.
#if ASC_EMU_AVX512
#define ASC_EMU_EACH_CHUNK(k, ...) \
    {{constexpr uint32_t k = 0;    \
    __VA_ARGS__;                   \
    }                              \
    {                              \
        constexpr uint32_t k = 1;  \
        __VA_ARGS__;               \
    }                              \
    {                              \
        constexpr uint32_t k = 2;  \
        __VA_ARGS__;               \
    }                              \
    {                              \
        constexpr uint32_t k = 3;  \
        __VA_ARGS__;               \
    }                              \
    }
#else
#define ASC_EMU_EACH_CHUNK(k, ...) \
    _Pragma("GCC unroll 16") for (uint32_t k = 0; k < asc_emu::kChunks; ++k) { __VA_ARGS__; }
#endif

template <class T>
ASC_EMU_INLINE Chunk<T> splat(T value) {
    return value - Chunk<T>{};
}
// 0, 1, 2, ...
template <class T, size_t... I>
ASC_EMU_INLINE Chunk<T> counted_lanes(std::index_sequence<I...>) {
    return Chunk<T>{static_cast<T>(I)...};
}
template <class T>
ASC_EMU_INLINE Chunk<T> counted_lanes() {
    return counted_lanes<T>(std::make_index_sequence<kChunkLanes<T>>());
}

// The bits of a mask that govern lanes of W bytes: the lowest of every W.
template <uint32_t W>
constexpr uint64_t kLaneLow = W == 1   ? ~0ull
                              : W == 2 ? 0x5555555555555555ull
                              : W == 4 ? 0x1111111111111111ull
                                       : 0x0101010101010101ull;
constexpr uint64_t kChunkMask = kChunkBytes == 64 ? ~0ull : (1ull << (kChunkBytes & 63)) - 1;

// Lanes as -1 or 0 from mask bits; bit i * W governs lane i.
template <uint32_t W, size_t... I>
ASC_EMU_INLINE Chunk<LaneInt<W>> lanes_of_bits(uint64_t bits, std::index_sequence<I...>) {
    using U = LaneBits<W>;
    // Lane i's bit is bit (i % 8) * W of the (i / 8)-th group of 8 * W bits.
    const auto groups = reinterpret_cast<Chunk<U>>(splat<uint64_t>(bits));
    const auto spread = __builtin_shufflevector(groups, groups, static_cast<int>(I / 8)...);
    const Chunk<U> bit = {static_cast<U>(1ull << (I % 8 * W))...};
    return (spread & bit) == bit;
}
template <uint32_t W>
ASC_EMU_INLINE Chunk<LaneInt<W>> lanes_of_bits(uint64_t bits) {
    return lanes_of_bits<W>(bits, std::make_index_sequence<kChunkBytes / W>());
}

#if ASC_EMU_AVX512
// One bit a lane, as mask registers hold them.
template <uint32_t W>
ASC_EMU_INLINE uint64_t native_mask(uint64_t bits) {
    if constexpr (W == 1)
        return bits;
    else
        return _pext_u64(bits, kLaneLow<W>);
}
#endif

#if ASC_EMU_AVX512
#if defined(__AVX512VBMI2__)
constexpr bool kCompressesNarrow = true;
#else
constexpr bool kCompressesNarrow = false;
#endif
// The active lanes in order, zeros behind them.
template <uint32_t W>
ASC_EMU_INLINE ChunkBits compress_lanes(uint64_t bits, ChunkBits a) {
    const auto x = reinterpret_cast<__m512i>(a);
    const uint64_t k = native_mask<W>(bits);
    if constexpr (W == 4)
        return reinterpret_cast<ChunkBits>(
            _mm512_maskz_compress_epi32(static_cast<__mmask16>(k), x));
#if defined(__AVX512VBMI2__)
    if constexpr (W == 2)
        return reinterpret_cast<ChunkBits>(
            _mm512_maskz_compress_epi16(static_cast<__mmask32>(k), x));
    if constexpr (W == 1) return reinterpret_cast<ChunkBits>(_mm512_maskz_compress_epi8(k, x));
#endif
    return a;
}
#endif

// Lane i of the result: its bit ? a : b.
template <uint32_t W>
ASC_EMU_INLINE ChunkBits select_lanes(uint64_t bits, ChunkBits a, ChunkBits b) {
#if ASC_EMU_AVX512
    const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
    const uint64_t k = native_mask<W>(bits);
    __m512i r;
    if constexpr (W == 1)
        r = _mm512_mask_mov_epi8(y, k, x);
    else if constexpr (W == 2)
        r = _mm512_mask_mov_epi16(y, static_cast<__mmask32>(k), x);
    else if constexpr (W == 4)
        r = _mm512_mask_mov_epi32(y, static_cast<__mmask16>(k), x);
    else
        r = _mm512_mask_mov_epi64(y, static_cast<__mmask8>(k), x);
    return reinterpret_cast<ChunkBits>(r);
#else
    const auto m = reinterpret_cast<ChunkBits>(lanes_of_bits<W>(bits));
    return (a & m) | (b & ~m);
#endif
}
template <uint32_t W>
ASC_EMU_INLINE ChunkBits zero_inactive(uint64_t bits, ChunkBits a) {
#if ASC_EMU_AVX512
    return select_lanes<W>(bits, a, ChunkBits{});
#else
    return a & reinterpret_cast<ChunkBits>(lanes_of_bits<W>(bits));
#endif
}

#if ASC_EMU_AVX512
// Mask bits from one bit a lane.
template <uint32_t W>
ASC_EMU_INLINE uint64_t bits_of_native(uint64_t lanes) {
    if constexpr (W == 1)
        return lanes;
    else
        return _pdep_u64(lanes, kLaneLow<W>);
}
#endif
// Mask bits of lanes that are -1 or 0.
template <uint32_t W>
ASC_EMU_INLINE uint64_t bits_of_lanes(Chunk<LaneInt<W>> lanes) {
#if ASC_EMU_AVX512
    return _mm512_movepi8_mask(reinterpret_cast<__m512i>(lanes)) & kLaneLow<W>;
#elif defined(__AVX2__)
    const auto all = static_cast<uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(lanes)));
    return all & kLaneLow<W>;
#elif defined(__SSE2__)
    const auto all = static_cast<uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(lanes)));
    return all & kLaneLow<W>;
#else
    uint64_t bits = 0;
    for (uint32_t i = 0; i < kChunkBytes / W; ++i)
        bits |= static_cast<uint64_t>(lanes[i] != 0) << (i * W);
    return bits;
#endif
}

// Condition vectors of fp32 lanes select bit patterns.
ASC_EMU_INLINE Chunk<float> select_float(Chunk<int32_t> condition, Chunk<float> a, Chunk<float> b) {
    return condition ? a : b;
}
ASC_EMU_INLINE Chunk<uint32_t> bits_of(Chunk<float> v) {
    return reinterpret_cast<Chunk<uint32_t>>(v);
}
ASC_EMU_INLINE Chunk<float> float_of(Chunk<uint32_t> v) {
    return reinterpret_cast<Chunk<float>>(v);
}

// The higher and the lower of numbers, +0 above -0; not for NaN.
ASC_EMU_INLINE Chunk<float> higher(Chunk<float> a, Chunk<float> b) {
#if ASC_EMU_AVX512
    return _mm512_range_ps(a, b, 5);  // the maximum, with its sign
#else
    const Chunk<float> x = a > b ? a : b, y = b > a ? b : a;
    return float_of(bits_of(x) & bits_of(y));
#endif
}
ASC_EMU_INLINE Chunk<float> lower(Chunk<float> a, Chunk<float> b) {
#if ASC_EMU_AVX512
    return _mm512_range_ps(a, b, 4);  // the minimum, with its sign
#else
    const Chunk<float> x = a < b ? a : b, y = b < a ? b : a;
    return float_of(bits_of(x) | bits_of(y));
#endif
}
// `numbers` where neither of a and b is NaN, NaN elsewhere.
ASC_EMU_INLINE Chunk<float> number_of_both(Chunk<float> a, Chunk<float> b, Chunk<float> numbers) {
#if ASC_EMU_AVX512
    return _mm512_mask_add_ps(numbers, _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
#else
    return select_float((a == a) & (b == b), numbers, a + b);
#endif
}
// NaN results are the canonical quiet NaN: payloads differ between instruction sets.
ASC_EMU_INLINE Chunk<float> canonical_nan(Chunk<float> v) {
    const auto nan = float_of(splat<uint32_t>(0x7fc00000u));
#if ASC_EMU_AVX512
    // Classes of the source, four bits each: NaN takes the destination, all others the source.
    const auto table = reinterpret_cast<__m512i>(splat<uint32_t>(0x11111100u));
    return _mm512_fixupimm_ps(nan, v, table, 0);
#else
    return select_float(v == v, v, nan);
#endif
}

}  // namespace asc_emu
