// Maxima and minima of vector registers, and of their blocks (ascend_c_vector.md section 8.6). Kernels call it
// (asc_emu/api/vector_reduce.hpp).
#include <limits>

#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"
#include "asc_emu/vector/calls.hpp"

namespace asc_emu {
namespace {

// Lanes as signed integers of their order, the wanted extreme highest: NaN is above everything.
template <class T, bool kMax>
ASC_EMU_INLINE Chunk<LaneInt<sizeof(T)>> extreme_key(ChunkBits v) {
    using S = LaneInt<sizeof(T)>;
    using U = Chunk<BitsOf<T>>;
    constexpr int kTop = 8 * sizeof(T) - 1;
    constexpr S kHighest = std::numeric_limits<S>::max();
    auto key = reinterpret_cast<Chunk<S>>(v);
    if constexpr (std::is_unsigned_v<T>) {
        key ^= std::numeric_limits<S>::min();
    } else if constexpr (!std::is_integral_v<T>) {
        key ^= (key >> kTop) & kHighest;  // -0 is below +0
    }
    if constexpr (!kMax) key = ~key;
    if constexpr (!std::is_integral_v<T>) {
        constexpr S kInfinity = sizeof(T) == 2 ? 0x7c00 : static_cast<S>(0x7f800000);
        const auto magnitude = reinterpret_cast<U>(v) & static_cast<BitsOf<T>>(kHighest);
        const auto nan = magnitude > static_cast<BitsOf<T>>(kInfinity);
        key = nan ? splat<S>(kHighest) : key;
    }
    return key;
}
template <class T>
constexpr T no_extreme(bool max) {
    if constexpr (std::is_integral_v<T>)
        return max ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    else
        return static_cast<T>(bits_float(max ? 0xff800000u : 0x7f800000u));
}
template <class T>
struct Extreme {
    T value;
    uint32_t index;
};
template <class T>
using Keys = LaneArray<LaneInt<sizeof(T)>>;
// Order of all lanes; inactive ones are below everything.
template <bool kMax, class T>
ASC_EMU_INLINE Keys<T> extreme_keys(const VectorRegister<T>& src, const MaskRegister& mask) {
    using S = LaneInt<sizeof(T)>;
    const auto lowest = reinterpret_cast<ChunkBits>(splat<S>(std::numeric_limits<S>::min()));
    Keys<T> keys;
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        const auto key = reinterpret_cast<ChunkBits>(extreme_key<T, kMax>(src.part[k]));
        const ChunkBits active = select_lanes<sizeof(T)>(mask.chunk(k), key, lowest);
        __builtin_memcpy(reinterpret_cast<char*>(&keys) + k * kChunkBytes, &active, kChunkBytes);
    });
    return keys;
}
// The first of the highest active lanes of [first, first + count).
template <bool kMax, class T>
inline Extreme<T> find_extreme(const LaneArray<T>& lanes, const Keys<T>& keys,
                               const MaskRegister& mask, uint32_t first, uint32_t count) {
    auto best = keys[first];
    for (uint32_t i = first; i < first + count; ++i) best = keys[i] > best ? keys[i] : best;
    for (uint32_t i = first; i < first + count; ++i) {
        if (keys[i] != best || !mask.template lane<sizeof(T)>(i)) continue;
        T value = lanes[i];
        if constexpr (!std::is_integral_v<T>) {
            if (best == std::numeric_limits<LaneInt<sizeof(T)>>::max())
                value = static_cast<T>(bits_float(0x7fc00000u));
        }
        return {value, i};
    }
    return {no_extreme<T>(kMax), 0};
}
template <class T, bool kMax>
void extreme_of_all(void* dst, const VectorRegister<T>& src, const MaskRegister& mask) {
    const auto best = find_extreme<kMax>(lanes_of(src), extreme_keys<kMax>(src, mask), mask, 0,
                                         VectorRegister<T>::kLanes);
    LaneArray<BitsOf<T>> to{};
    to[0] = __builtin_bit_cast(BitsOf<T>, best.value);
    to[1] = static_cast<BitsOf<T>>(best.index);
    __builtin_memcpy(dst, &to, sizeof(to));
}
template <class T, bool kMax>
void extremes_of_blocks(void* dst, const VectorRegister<T>& src, const MaskRegister& mask) {
    constexpr uint32_t kPerBlock = 32 / sizeof(T);
    const auto lanes = lanes_of(src);
    const Keys<T> keys = extreme_keys<kMax>(src, mask);
    LaneArray<BitsOf<T>> to{};
    for (uint32_t k = 0; k < 8; ++k) {
        const auto best = find_extreme<kMax>(lanes, keys, mask, k * kPerBlock, kPerBlock);
        to[k] = __builtin_bit_cast(BitsOf<T>, best.value);
    }
    __builtin_memcpy(dst, &to, sizeof(to));
}
template <class T>
void extreme_of(bool max, bool blocks, void* dst, const void* src, const MaskRegister& mask) {
    const auto& from = *static_cast<const VectorRegister<T>*>(src);
    if (blocks)
        max ? extremes_of_blocks<T, true>(dst, from, mask) : extremes_of_blocks<T, false>(dst, from, mask);
    else
        max ? extreme_of_all<T, true>(dst, from, mask) : extreme_of_all<T, false>(dst, from, mask);
}

}  // namespace
}  // namespace asc_emu

extern "C" __attribute__((visibility("default"))) void asc_emu_vector_extreme(asc_emu::OrderedType type, bool max,
                                                                              bool blocks, void* dst, const void* src,
                                                                              const uint64_t* mask) {
    using namespace asc_emu;
    const MaskRegister active{{mask[0], mask[1], mask[2], mask[3]}};
    switch (type) {
        case OrderedType::s16:
            return extreme_of<int16_t>(max, blocks, dst, src, active);
        case OrderedType::u16:
            return extreme_of<uint16_t>(max, blocks, dst, src, active);
        case OrderedType::s32:
            return extreme_of<int32_t>(max, blocks, dst, src, active);
        case OrderedType::u32:
            return extreme_of<uint32_t>(max, blocks, dst, src, active);
        case OrderedType::f16:
            return extreme_of<half>(max, blocks, dst, src, active);
        case OrderedType::f32:
            return extreme_of<float>(max, blocks, dst, src, active);
    }
}
