// exp and ln of vector registers (ascend_c_vector.md section 8.4): correctly rounded, subnormal inputs and outputs
// flushed to zero. Kernels call it (asc_emu/vector/elementary.hpp).
#include <cmath>

#include "asc_emu/vector/elementary.hpp"

namespace asc_emu {
namespace {

// Both are computed in double with an error far below 2^-49; where that leaves two possible
// results, long double decides.
constexpr double kDoubt = 0x1p-49;

struct HalfChunk {
    typedef float type __attribute__((vector_size(kChunkBytes / 2)));
};
using HalfFloats = HalfChunk::type;
using Doubles = Chunk<double>;
using Longs = Chunk<uint64_t>;

// A member of fp32 lanes as two of double.
struct DoublePair {
    Doubles low, high;
};
ASC_EMU_INLINE DoublePair to_double(Chunk<float> v) {
    HalfFloats parts[2];
    __builtin_memcpy(parts, &v, kChunkBytes);
    return {__builtin_convertvector(parts[0], Doubles), __builtin_convertvector(parts[1], Doubles)};
}
ASC_EMU_INLINE Chunk<float> to_float(DoublePair v) {
    const HalfFloats parts[2] = {__builtin_convertvector(v.low, HalfFloats),
                                 __builtin_convertvector(v.high, HalfFloats)};
    Chunk<float> r;
    __builtin_memcpy(&r, parts, kChunkBytes);
    return r;
}

ASC_EMU_INLINE Doubles exp_double(Doubles x) {
    constexpr double kLog2e = 0x1.71547652b82fep+0;
    constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
    constexpr double kMagic = 0x1.8p52;
    constexpr double kFactorials[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0,
                                      40320.0,      5040.0,      720.0,      120.0,     24.0,
                                      6.0,          2.0,         1.0,        1.0};
    const Doubles shifted = x * kLog2e + kMagic;
    const Doubles k = shifted - kMagic;
    const Doubles r = (x - k * kLn2High) - k * kLn2Low;
    Doubles p = splat(1.0 / kFactorials[0]);
#pragma GCC unroll 16
    for (uint32_t i = 1; i < sizeof(kFactorials) / sizeof(double); ++i)
        p = p * r + 1.0 / kFactorials[i];
    const Longs exponent = reinterpret_cast<Longs>(shifted) << 52;
    return reinterpret_cast<Doubles>(reinterpret_cast<Longs>(p) + exponent);
}
// m in [sqrt(1/2), sqrt(2)) times 2^e.
ASC_EMU_INLINE Doubles ln_double(Doubles m, Doubles e) {
    constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
    const Doubles s = (m - 1.0) / (m + 1.0), z = s * s;
    Doubles p = splat(1.0 / 23.0);
#pragma GCC unroll 16
    for (int i = 21; i >= 3; i -= 2) p = p * z + 1.0 / i;
    const Doubles tail = 2.0 * s * (z * p) + e * kLn2Low;
    return (e * kLn2High + 2.0 * s) + tail;
}

// How a result is rounded: to fp32, or to half (as a number of fp32) through fp32 rounded to odd.
struct ToFloat {
    static ASC_EMU_INLINE Chunk<float> round(DoublePair v) { return to_float(v); }
    static float round(long double v) { return static_cast<float>(v); }
};
struct ToHalf {
    static ASC_EMU_INLINE Chunk<float> round(DoublePair v) {
        const Chunk<float> f = to_float(v);
        const DoublePair back = to_double(f);
        // Differences are exact and keep their sign in fp32, if not their size.
        constexpr double kLarge = 0x1p60;
        const Chunk<float> lost =
            to_float({(v.low - back.low) * kLarge, (v.high - back.high) * kLarge});
        const Chunk<uint32_t> b = bits_of(f), l = bits_of(lost);
        const auto inexact = (l & 0x7fffffffu) != 0u;
        const auto above = inexact & (((b ^ l) & 0x80000000u) != 0u);
        const auto finite = (b & 0x7f800000u) != 0x7f800000u;
        const Chunk<uint32_t> odd = (b + reinterpret_cast<Chunk<uint32_t>>(above)) |
                                    (reinterpret_cast<Chunk<uint32_t>>(inexact) & 1u);
        return half_bits_to_float(float_to_half_bits(float_of(finite ? odd : b)));
    }
    static float round(long double v) {
        const float f = static_cast<float>(v);
        const bool inexact = f == f && f != v;
        const bool above = inexact && (f < 0 ? -f : f) > (v < 0 ? -v : v);
        const uint32_t odd = (float_bits(f) - (above ? 1 : 0)) | (inexact ? 1 : 0);
        return half_to_float(float_to_half(bits_float(odd)));
    }
};
// Rounds; tells mask bits of lanes that two results are possible for.
template <class To>
ASC_EMU_INLINE Chunk<float> round_safely(DoublePair v, uint64_t& doubtful) {
    const DoublePair less{v.low - v.low * kDoubt, v.high - v.high * kDoubt};
    const DoublePair more{v.low + v.low * kDoubt, v.high + v.high * kDoubt};
    doubtful = bits_of_lanes<4>(To::round(less) != To::round(more));
    return To::round(v);
}

struct Exponential {
    template <class To>
    static Chunk<float> of(Chunk<float> x) {
        Chunk<float> v = x < 89.0f ? x : splat(89.0f);
        v = v > -110.0f ? v : splat(-110.0f);
        const DoublePair d = to_double(v);
        uint64_t doubtful;
        Chunk<float> y = round_safely<To>({exp_double(d.low), exp_double(d.high)}, doubtful);
        for (uint32_t i = 0; __builtin_expect(doubtful != 0, 0) && i < kChunkLanes<float>; ++i)
            if ((doubtful >> (4 * i)) & 1) y[i] = To::round(expl(v[i]));
        return x == x ? y : float_of(splat<uint32_t>(0x7fc00000u));
    }
};
struct Logarithm {
    template <class To>
    static Chunk<float> of(Chunk<float> x) {
        const auto regular = (x >= 0x1p-126f) & (x <= 0x1.fffffep+127f);
        const Chunk<float> v = regular ? x : splat(1.0f);
        const Chunk<uint32_t> b = bits_of(v);
        const Chunk<int32_t> e = reinterpret_cast<Chunk<int32_t>>(b - 0x3f3504f3u) >> 23;
        const Chunk<uint32_t> shift = reinterpret_cast<Chunk<uint32_t>>(e) << 23;
        const DoublePair m = to_double(float_of(b - shift));
        const DoublePair k = to_double(__builtin_convertvector(e, Chunk<float>));
        uint64_t doubtful;
        Chunk<float> y =
            round_safely<To>({ln_double(m.low, k.low), ln_double(m.high, k.high)}, doubtful);
        for (uint32_t i = 0; __builtin_expect(doubtful != 0, 0) && i < kChunkLanes<float>; ++i)
            if ((doubtful >> (4 * i)) & 1) y[i] = To::round(logl(v[i]));
        const Chunk<float> infinity = float_of(splat<uint32_t>(0x7f800000u));
        y = x == 0.0f ? -infinity : y;
        y = x == infinity ? x : y;
        return x >= 0.0f ? y : float_of(splat<uint32_t>(0x7fc00000u));
    }
};

// Calls for each member: the code is long.
template <class Rule, class To>
__attribute__((noinline)) Chunk<float> elementary_chunk(Chunk<float> x) {
    return Rule::template of<To>(x);
}
template <class Rule>
void of_floats(VectorRegister<float>& dst, const VectorRegister<float>& src) {
    for (uint32_t k = 0; k < kChunks; ++k)
        dst.part[k] = bits_of(flush(elementary_chunk<Rule, ToFloat>(flush(float_of(src.part[k])))));
}
template <class Rule>
void of_halves(VectorRegister<half>& dst, const VectorRegister<half>& src) {
    for (uint32_t k = 0; k < kChunks; ++k) {
        const FloatPair x = widen_half(flush_half(src.part[k]));
        dst.part[k] = flush_half(
            round16<half>({elementary_chunk<Rule, ToHalf>(x.first), elementary_chunk<Rule, ToHalf>(x.second)}));
    }
}
template <class Rule>
void elementary_register(bool of_half, void* dst, const void* src) {
    if (of_half)
        of_halves<Rule>(*static_cast<VectorRegister<half>*>(dst), *static_cast<const VectorRegister<half>*>(src));
    else
        of_floats<Rule>(*static_cast<VectorRegister<float>*>(dst), *static_cast<const VectorRegister<float>*>(src));
}

}  // namespace
}  // namespace asc_emu

extern "C" __attribute__((visibility("default"))) void asc_emu_vector_elementary(asc_emu::ElementaryRule rule,
                                                                                 bool of_half, void* dst,
                                                                                 const void* src) {
    using namespace asc_emu;
    if (rule == ElementaryRule::exp)
        elementary_register<Exponential>(of_half, dst, src);
    else
        elementary_register<Logarithm>(of_half, dst, src);
}
