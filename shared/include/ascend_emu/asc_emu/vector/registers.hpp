// Register types (ascend_c_vector.md sections 1.2, 3.1 and 4): data registers of 256 bytes, masks
// of 256 bits where bit i * W governs lane i of a W-byte type, and the register-wide loops over
// them.
#pragma once

#include "asc_emu/types.hpp"
#include "asc_emu/vector/chunk.hpp"
#include "asc_emu/vector/timed.hpp"

namespace asc_emu {

// NOTE: a namespace without functions, so that a kernel's call of a function of its own with
// registers as arguments does not find one of the emulator's.
namespace reg {

template <class T>
struct alignas(64) VectorRegister {
    using Element = T;
    static constexpr uint32_t kLanes = kVectorBytes / sizeof(T);
    ChunkBits part[kChunks];
    ASC_EMU_STAMP

    VectorRegister() = default;
    // A cast between register types keeps the bits.
    template <class U>
    explicit ASC_EMU_INLINE VectorRegister(const VectorRegister<U>& other) {
        ASC_EMU_EACH_CHUNK(k, part[k] = other.part[k])
        ASC_EMU_SAME_STAMP(*this, other);
    }
};

struct alignas(32) MaskRegister {
    uint64_t word[4];
    ASC_EMU_STAMP

    // Bits that govern member k of a register.
    ASC_EMU_INLINE uint64_t chunk(uint32_t k) const {
        constexpr uint32_t kPerWord = 64 / kChunkBytes;
        return (word[k / kPerWord] >> (k % kPerWord * (kChunkBytes & 63))) & kChunkMask;
    }
    ASC_EMU_INLINE void clear() { word[0] = word[1] = word[2] = word[3] = 0; }
    ASC_EMU_INLINE void set_chunk(uint32_t k, uint64_t bits) {
        constexpr uint32_t kPerWord = 64 / kChunkBytes;
        if constexpr (kPerWord == 1)
            word[k] = bits;
        else
            word[k / kPerWord] |= bits << (k % kPerWord * (kChunkBytes & 63));
    }
    template <uint32_t W>
    constexpr ASC_EMU_FORCED bool lane(uint32_t i) const {
        return (word[i * W / 64] >> (i * W % 64)) & 1;
    }
    // Every lane of a W-byte type is active.
    template <uint32_t W>
    constexpr ASC_EMU_FORCED bool all() const {
        return (word[0] & word[1] & word[2] & word[3] & kLaneLow<W>) == kLaneLow<W>;
    }
};

}  // namespace reg

using reg::MaskRegister;
using reg::VectorRegister;

// Registers as arrays, for rules that move or look at single lanes.
template <class T>
struct alignas(64) LaneArray {
    T lane[kVectorBytes / sizeof(T)];
    T& operator[](uint32_t i) { return lane[i]; }
    const T& operator[](uint32_t i) const { return lane[i]; }
};
template <class U = void, class T>
ASC_EMU_INLINE auto lanes_of(const VectorRegister<T>& v) {
    LaneArray<std::conditional_t<std::is_void_v<U>, T, U>> a;
    __builtin_memcpy(&a, &v, kVectorBytes);
    return a;
}
template <class T, class U>
ASC_EMU_INLINE void set_lanes(VectorRegister<T>& v, const LaneArray<U>& a) {
    __builtin_memcpy(&v, &a, kVectorBytes);
}

// What a register type holds at a lane of W bytes.
template <class T>
using BitsOf = LaneBits<sizeof(T)>;

// Whether the compiler knows that all lanes of W bytes are active.
template <uint32_t W>
ASC_EMU_INLINE bool surely_all(const MaskRegister& mask) {
    const bool all = mask.template all<W>();
    return __builtin_constant_p(all) && all;
}
// dst.part[k] = rule(k), inactive lanes of W bytes zero. NOTE: one branch for all members, and
// behind them, since the compiler looks at all that follows it twice until it knows the mask.
template <uint32_t W, class T, class Rule>
ASC_EMU_INLINE void zeroing(VectorRegister<T>& dst, const MaskRegister& mask, Rule rule) {
    ASC_EMU_EACH_CHUNK(k, dst.part[k] = reinterpret_cast<ChunkBits>(rule(k)))
    if (surely_all<W>(mask)) return;
    ASC_EMU_EACH_CHUNK(k, dst.part[k] = zero_inactive<W>(mask.chunk(k), dst.part[k]))
}
// Member k of a register as lanes of U.
template <class U, class T>
ASC_EMU_INLINE Chunk<U> chunk_as(const VectorRegister<T>& v, uint32_t k) {
    return reinterpret_cast<Chunk<U>>(v.part[k]);
}

constexpr MaskRegister kAllBits{{~0ull, ~0ull, ~0ull, ~0ull}};

}  // namespace asc_emu
