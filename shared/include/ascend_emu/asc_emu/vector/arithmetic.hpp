// Lane arithmetic (ascend_c_vector.md sections 8.1 and 8.4): one operation on members of a
// register, whatever the element type, and the loops that apply it to whole registers.
#pragma once

#include <limits>

#include "asc_emu/vector/half_lanes.hpp"
#include "asc_emu/vector/state.hpp"

namespace asc_emu {

// CTRL can ask for the largest finite half in place of infinity, and 0 in place of NaN.
ASC_EMU_INLINE ChunkBits saturate_half(ChunkBits v) {
    const auto h = reinterpret_cast<Chunk<uint16_t>>(v);
    const Chunk<uint16_t> magnitude = h & uint16_t{0x7fff}, sign = h & uint16_t{0x8000};
    Chunk<uint16_t> r = magnitude == uint16_t{0x7c00} ? sign | uint16_t{0x7bff} : h;
    r = magnitude > uint16_t{0x7c00} ? Chunk<uint16_t>{} : r;
    return reinterpret_cast<ChunkBits>(r);
}

// Rounds a pair back to 16-bit floats.
template <class T>
ASC_EMU_INLINE ChunkBits round16(FloatPair v) {
    const ChunkBits r = narrow16<T>(v);
    if constexpr (std::is_same_v<T, half>) {
        if (vector_mode(kFloatSaturate)) return saturate_half(r);
    }
    return r;
}

// f on the lanes of T: fp32 lanes for every float type, NaN results canonical.
template <class T, class F>
ASC_EMU_INLINE ChunkBits lane_op(ChunkBits a, F f) {
    if constexpr (is_float16<T>) {
        const FloatPair x = widen16<T>(a);
        return round16<T>({f(x.first), f(x.second)});
    } else if constexpr (std::is_same_v<T, float>) {
        return bits_of(canonical_nan(f(float_of(a))));
    } else {
        return reinterpret_cast<ChunkBits>(f(reinterpret_cast<Chunk<T>>(a)));
    }
}
template <class T, class F>
ASC_EMU_INLINE ChunkBits lane_op(ChunkBits a, ChunkBits b, F f) {
    if constexpr (is_float16<T>) {
        const FloatPair x = widen16<T>(a), y = widen16<T>(b);
        return round16<T>({f(x.first, y.first), f(x.second, y.second)});
    } else if constexpr (std::is_same_v<T, float>) {
        return bits_of(canonical_nan(f(float_of(a), float_of(b))));
    } else {
        return reinterpret_cast<ChunkBits>(
            f(reinterpret_cast<Chunk<T>>(a), reinterpret_cast<Chunk<T>>(b)));
    }
}

template <class T, class F>
ASC_EMU_INLINE void unary(VectorRegister<T>& dst, const VectorRegister<T>& a,
                          const MaskRegister& mask, F f) {
    ASC_EMU_TIMED_OP(VectorClass::logic, dst, a, mask);
    zeroing<sizeof(T)>(dst, mask,
                       [&](uint32_t k) ASC_EMU_LAMBDA { return lane_op<T>(a.part[k], f); });
}
template <class T, class F>
ASC_EMU_INLINE void binary(VectorRegister<T>& dst, const VectorRegister<T>& a,
                           const VectorRegister<T>& b, const MaskRegister& mask, F f) {
    zeroing<sizeof(T)>(
        dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return lane_op<T>(a.part[k], b.part[k], f); });
}
// A scalar in all lanes of one member.
template <class T>
ASC_EMU_INLINE ChunkBits splat_bits(T value) {
    return reinterpret_cast<ChunkBits>(splat<BitsOf<T>>(__builtin_bit_cast(BitsOf<T>, value)));
}
template <class T, class F>
ASC_EMU_INLINE void binary(VectorRegister<T>& dst, const VectorRegister<T>& a, T value,
                           const MaskRegister& mask, F f) {
    const ChunkBits b = splat_bits(value);
    zeroing<sizeof(T)>(dst, mask,
                       [&](uint32_t k) ASC_EMU_LAMBDA { return lane_op<T>(a.part[k], b, f); });
}
// A rule for single lanes of U, where lane operations do not fit.
template <class U, class T, class F>
inline void each_lane(VectorRegister<T>& dst, const VectorRegister<T>& a,
                      const VectorRegister<T>& b, const MaskRegister& mask, F f) {
    const auto x = lanes_of<U>(a), y = lanes_of<U>(b);
    LaneArray<U> r;
    for (uint32_t i = 0; i < kVectorBytes / sizeof(U); ++i) r[i] = f(x[i], y[i]);
    VectorRegister<T> all;
    set_lanes(all, r);
    zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return all.part[k]; });
}

// Rules ------------------------------------------------------------------------------------------
template <class V>
using LaneOf = std::remove_cvref_t<decltype(V{}[0])>;
// Integers in unsigned lanes: they wrap.
template <class T>
struct WrappingLane {
    using type = T;
};
template <class T>
    requires(std::is_integral_v<T>)
struct WrappingLane<T> {
    using type = std::make_unsigned_t<T>;
};
template <class V>
using Wrapping = Chunk<typename WrappingLane<LaneOf<V>>::type>;
struct Add {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        return reinterpret_cast<V>(reinterpret_cast<Wrapping<V>>(a) +
                                   reinterpret_cast<Wrapping<V>>(b));
    }
    template <class T>
    static bool overflow(T a, T b, T& r) {
        return __builtin_add_overflow(a, b, &r);
    }
};
struct Sub {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        return reinterpret_cast<V>(reinterpret_cast<Wrapping<V>>(a) -
                                   reinterpret_cast<Wrapping<V>>(b));
    }
    template <class T>
    static bool overflow(T a, T b, T& r) {
        return __builtin_sub_overflow(a, b, &r);
    }
};
struct Mul {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        return reinterpret_cast<V>(reinterpret_cast<Wrapping<V>>(a) *
                                   reinterpret_cast<Wrapping<V>>(b));
    }
    template <class T>
    static bool overflow(T a, T b, T& r) {
        return __builtin_mul_overflow(a, b, &r);
    }
};
// NaN in either operand gives NaN; +0 is above -0.
struct Max {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        if constexpr (std::is_integral_v<LaneOf<V>>) {
            return a > b ? a : b;
        } else {
            return number_of_both(a, b, higher(a, b));
        }
    }
};
struct Min {
    template <class V>
    ASC_EMU_FORCED V operator()(V a, V b) const {
        if constexpr (std::is_integral_v<LaneOf<V>>) {
            return a < b ? a : b;
        } else {
            return number_of_both(a, b, lower(a, b));
        }
    }
};

// Integer results outside their range, where CTRL[53] asks for the nearest value. It rarely does.
template <class Rule, class T>
[[gnu::noinline, gnu::cold]] ChunkBits saturating(ChunkBits a, ChunkBits b) {
    auto x = reinterpret_cast<Chunk<T>>(a);
    const auto y = reinterpret_cast<Chunk<T>>(b);
    constexpr T kMax = std::numeric_limits<T>::max(), kMin = std::numeric_limits<T>::min();
    for (uint32_t i = 0; i < kChunkLanes<T>; ++i) {
        const T p = x[i], q = y[i];
        T r;
        if (Rule::overflow(p, q, r)) {
            if constexpr (std::is_same_v<Rule, Mul>)
                r = (p < 0) != (q < 0) ? kMin : kMax;
            else if constexpr (std::is_same_v<Rule, Sub>)
                r = p < q ? kMin : kMax;
            else
                r = p < 0 ? kMin : kMax;
        }
        x[i] = r;
    }
    return reinterpret_cast<ChunkBits>(x);
}
// Maxima and the like cost less than sums.
template <class Rule, class T>
constexpr VectorClass arithmetic_class() {
    if constexpr (std::is_same_v<Rule, Mul>)
        return kMulClass<T>;
    else
        return std::is_same_v<Rule, Max> || std::is_same_v<Rule, Min> ? VectorClass::logic
                                                                      : kAddClass<T>;
}
template <class Rule, class T>
ASC_EMU_INLINE void arithmetic(VectorRegister<T>& dst, const VectorRegister<T>& a,
                               const VectorRegister<T>& b, const MaskRegister& mask) {
    ASC_EMU_TIMED_OP((arithmetic_class<Rule, T>()), dst, a, b, mask);
    if constexpr (std::is_integral_v<T> && requires { &Rule::template overflow<T>; }) {
        VectorRegister<T> r;
        if (vector_mode(kIntSaturate))
            ASC_EMU_EACH_CHUNK(k, r.part[k] = (saturating<Rule, T>(a.part[k], b.part[k])))
        else
            ASC_EMU_EACH_CHUNK(k, r.part[k] = lane_op<T>(a.part[k], b.part[k], Rule{}))
        zeroing<sizeof(T)>(dst, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return r.part[k]; });
    } else {
        binary(dst, a, b, mask, Rule{});
    }
}
template <class Rule, class T>
ASC_EMU_INLINE void arithmetic(VectorRegister<T>& dst, const VectorRegister<T>& a, T value,
                               const MaskRegister& mask) {
    VectorRegister<T> b;
    const ChunkBits all = splat_bits(value);
    ASC_EMU_EACH_CHUNK(k, b.part[k] = all)
    arithmetic<Rule>(dst, a, b, mask);
}

// Which element types a function takes.
template <class T, class... Types>
constexpr bool one_of = (std::is_same_v<T, Types> || ...);
template <class T>
constexpr bool is_int32_or_less = std::is_integral_v<T> && sizeof(T) <= 4;
template <class T>
constexpr bool is_arithmetic9 = is_int32_or_less<T> || is_floating<T>;
template <class T>
constexpr bool is_multiplied = is_arithmetic9<T> && sizeof(T) >= 2;
template <class T>
constexpr bool is_signed_number = one_of<T, int8_t, int16_t, int32_t, half, bfloat16_t, float>;
template <class T>
constexpr bool is_half_or_float = one_of<T, half, float>;

}  // namespace asc_emu
