// Aligned stores to UB (ascend_c_vector.md section 6). Inactive lanes leave memory as it is.
// Offsets and advances count elements of the pointer's type, also where the packed result is
// narrower; bytes for masks.
#pragma once

#include "asc_emu/api/vector_mask.hpp"
#include "asc_emu/api/vector_memory.hpp"

namespace asc_emu {

// Stores the active lanes of W bytes of one member.
template <uint32_t W>
ASC_EMU_INLINE void store_chunk(char* to, ChunkBits v, uint64_t bits) {
#if ASC_EMU_AVX512
    const auto x = reinterpret_cast<__m512i>(v);
    const uint64_t k = native_mask<W>(bits);
    if constexpr (W == 1)
        _mm512_mask_storeu_epi8(to, k, x);
    else if constexpr (W == 2)
        _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(k), x);
    else if constexpr (W == 4)
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(k), x);
    else
        _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(k), x);
#else
    ChunkBits old;
    __builtin_memcpy(&old, to, kChunkBytes);
    const ChunkBits merged = select_lanes<W>(bits, v, old);
    __builtin_memcpy(to, &merged, kChunkBytes);
#endif
}

// Whether a store writes all lanes without a look at the mask: where a masked one costs the same,
// if that is known beforehand.
template <uint32_t W>
ASC_EMU_INLINE bool whole(const MaskRegister& mask) {
#if ASC_EMU_AVX512
    return surely_all<W>(mask);
#else
    return mask.template all<W>();
#endif
}

struct StoreNorm {
    template <class T>
    static ASC_EMU_INLINE void run(T* dst, const VectorRegister<T>& src, const MaskRegister& mask) {
        constexpr uint32_t W = sizeof(T);
        ASC_EMU_TIMED_CALL(moved_lanes<W, W>(VectorClass::store, dst, mask, src));
        auto* to = reinterpret_cast<char*>(ub_target<W, W>(dst, mask, 32));
        if (whole<W>(mask)) {
            ASC_EMU_EACH_CHUNK(k, __builtin_memcpy(to + k * kChunkBytes, &src.part[k], kChunkBytes))
        } else {
            ASC_EMU_EACH_CHUNK(k, store_chunk<W>(to + k * kChunkBytes, src.part[k], mask.chunk(k)))
        }
    }
};
// The low 1 / kTimes of every lane, packed.
template <uint32_t kTimes>
struct StorePack {
    template <class T>
    static ASC_EMU_INLINE void run(T* dst, const VectorRegister<T>& src, const MaskRegister& mask) {
        static_assert(kTimes == 2 ? sizeof(T) >= 2 : sizeof(T) == 4,
                      "asc_storealign_pack halves lanes of 2, 4 or 8 bytes, "
                      "asc_storealign_pack_quarter quarters lanes of 4");
        ASC_EMU_TIMED_CALL(
            moved_lanes<sizeof(T), sizeof(T) / kTimes>(VectorClass::store, dst, mask, src));
        constexpr uint32_t W = sizeof(T), kLanes = kVectorBytes / W;
        using Packed = LaneBits<W / kTimes>;
        auto* to = reinterpret_cast<Packed*>(ub_target<W, W / kTimes>(dst, mask, 32));
        const auto lanes = lanes_of<LaneBits<W>>(src);
        Packed packed[kLanes];
        for (uint32_t i = 0; i < kLanes; ++i) packed[i] = static_cast<Packed>(lanes[i]);
        if (mask.template all<W>()) {
            __builtin_memcpy(to, packed, sizeof(packed));
        } else {
            for (uint32_t i = 0; i < kLanes; ++i)
                if (mask.template lane<W>(i)) to[i] = packed[i];
        }
    }
};
template <class T>
ASC_EMU_INLINE void store_first(T* dst, const VectorRegister<T>& src) {
    ASC_EMU_TIMED_MOVE(VectorClass::store, dst, sizeof(T), src);
    __builtin_memcpy(ub_target(dst, sizeof(T), sizeof(T)), &src, sizeof(T));
}
template <class T>
ASC_EMU_INLINE void store_interleaved(T* dst, const VectorRegister<T>& src0,
                                      const VectorRegister<T>& src1) {
    ASC_EMU_TIMED_MOVE(VectorClass::store, dst, kVectorBytes, src0, src1);
    ASC_EMU_TIMED_MOVE(VectorClass::store, dst + kVectorBytes / sizeof(T), kVectorBytes, src0,
                       src1);
    using U = BitsOf<T>;
    constexpr uint32_t kLanes = kVectorBytes / sizeof(T);
    const auto a = lanes_of<U>(src0), b = lanes_of<U>(src1);
    alignas(64) U z[2 * kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) {
        z[2 * i] = a[i];
        z[2 * i + 1] = b[i];
    }
    __builtin_memcpy(ub_target(dst, 512, 32), z, 512);
}
// Block k of 32 bytes goes to base + 32 * block_stride * k.
template <class T>
inline ASC_EMU_FORCED void store_blocks(void* base, const VectorRegister<T>& src,
                                        uint32_t block_stride, const MaskRegister& mask) {
    constexpr uint32_t W = sizeof(T);
    ASC_EMU_TIMED_CALL(moved_blocks<W>(VectorClass::store_blocks, base, block_stride, mask, src));
    const auto lanes = lanes_of<BitsOf<T>>(src);
    bool more = false;
    for (uint32_t k = 0; k < 8; ++k) {
        const uint64_t bits = mask.word[k / 2] >> (k % 2 * 32) & 0xffffffffu & kLaneLow<W>;
        if (bits == 0) continue;
        auto* to = static_cast<char*>(base) + 32 * size_t{block_stride} * k;
        const auto* from = lanes.lane + 32 / W * k;
        if (bits == (kLaneLow<W> & 0xffffffffu)) {
            __builtin_memcpy(ub_part(to, 32, 32, more), from, 32);
            more = true;
            continue;
        }
        to = ub_pointer(to, 32, 32);
        for (uint32_t i = 0; i < 32 / W; ++i) {
            if (!((bits >> (i * W)) & 1)) continue;
            __builtin_memcpy(ub_part(to + i * W, W, W, more), from + i, W);
            more = true;
        }
    }
}
// NOTE: as a vector, since g++ 12 computes copies of 32 constant bytes wrongly under AVX-512.
inline ASC_EMU_FORCED void store_mask(void* dst, const MaskRegister& src) {
    ASC_EMU_TIMED_MOVE(VectorClass::store, dst, 32, src);
    typedef uint64_t Words __attribute__((vector_size(32), may_alias));
    *static_cast<Words*>(ub_target(dst, 32, 32)) =
        Words{src.word[0], src.word[1], src.word[2], src.word[3]};
}
inline ASC_EMU_FORCED void store_mask_packed(void* dst, const MaskRegister& src) {
    ASC_EMU_TIMED_MOVE(VectorClass::store, dst, 16, src);
    MaskRegister packed;
    pack_mask(packed, src, 0);
    __builtin_memcpy(ub_target(dst, 16, 16), &packed, 16);
}

}  // namespace asc_emu

#define ASC_EMU_STORE(name, rule)                                                           \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src, \
                                    const vector_bool& mask) {                              \
        asc_emu::rule::run(dst, src, mask);                                                 \
    }                                                                                       \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src, \
                                    int32_t offset, const vector_bool& mask) {              \
        asc_emu::rule::run(dst + offset, src, mask);                                        \
    }                                                                                       \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src, \
                                    addr_reg offset, const vector_bool& mask) {             \
        asc_emu::rule::run(asc_emu::moved(dst, offset), src, mask);                         \
    }
#define ASC_EMU_STORE_POST(name, rule)                                                       \
    template <class T>                                                                       \
    inline ASC_EMU_FORCED void name(__ubuf__ T*& dst, const asc_emu::VectorRegister<T>& src, \
                                    int32_t offset, const vector_bool& mask) {               \
        asc_emu::rule::run(dst, src, mask);                                                  \
        dst += offset;                                                                       \
    }
ASC_EMU_STORE(asc_storealign, StoreNorm)
ASC_EMU_STORE_POST(asc_storealign_postupdate, StoreNorm)
ASC_EMU_STORE(asc_storealign_pack, StorePack<2>)
ASC_EMU_STORE_POST(asc_storealign_pack_postupdate, StorePack<2>)
ASC_EMU_STORE(asc_storealign_pack_quarter, StorePack<4>)
ASC_EMU_STORE_POST(asc_storealign_pack_quarter_postupdate, StorePack<4>)
// Names of the older generation.
ASC_EMU_STORE(asc_storealign_pack_v2, StorePack<4>)
ASC_EMU_STORE_POST(asc_storealign_pack_postupdate_v2, StorePack<4>)
#undef ASC_EMU_STORE
#undef ASC_EMU_STORE_POST

// Lane 0 only.
template <class T>
inline ASC_EMU_FORCED void asc_storealign_1st(__ubuf__ T* dst,
                                              const asc_emu::VectorRegister<T>& src) {
    asc_emu::store_first(dst, src);
}
template <class T, class Offset>
inline ASC_EMU_FORCED void asc_storealign_1st(__ubuf__ T* dst,
                                              const asc_emu::VectorRegister<T>& src,
                                              Offset offset) {
    asc_emu::store_first(asc_emu::moved(dst, offset), src);
}
template <class T>
inline ASC_EMU_FORCED void asc_storealign_1st_postupdate(__ubuf__ T*& dst,
                                                         const asc_emu::VectorRegister<T>& src,
                                                         int32_t offset) {
    asc_emu::store_first(dst, src);
    dst += offset;
}

// Two registers, their lanes in turn.
template <class T>
inline ASC_EMU_FORCED void asc_storealign_intlv(__ubuf__ T* dst,
                                                const asc_emu::VectorRegister<T>& src0,
                                                const asc_emu::VectorRegister<T>& src1) {
    asc_emu::store_interleaved(dst, src0, src1);
}
template <class T, class Offset>
inline ASC_EMU_FORCED void asc_storealign_intlv(__ubuf__ T* dst,
                                                const asc_emu::VectorRegister<T>& src0,
                                                const asc_emu::VectorRegister<T>& src1,
                                                Offset offset) {
    asc_emu::store_interleaved(asc_emu::moved(dst, offset), src0, src1);
}

// Strided blocks; strides in 32 bytes. The plain form starts one repeat_stride behind dst.
template <class T>
inline ASC_EMU_FORCED void asc_storealign(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                                          uint16_t block_stride, uint16_t repeat_stride,
                                          const vector_bool& mask) {
    asc_emu::store_blocks(asc_emu::moved_bytes(dst, 32 * int64_t{repeat_stride}), src, block_stride,
                          mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_storealign_postupdate(__ubuf__ T*& dst,
                                                     const asc_emu::VectorRegister<T>& src,
                                                     uint16_t block_stride, uint16_t repeat_stride,
                                                     const vector_bool& mask) {
    asc_emu::store_blocks(dst, src, block_stride, mask);
    dst = asc_emu::moved_bytes(dst, 32 * int64_t{repeat_stride});
}

// Masks; offsets and advances in bytes.
#define ASC_EMU_STORE_MASK(name, rule)                                                          \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const vector_bool& src) {                  \
        asc_emu::rule(dst, src);                                                                \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const vector_bool& src, int32_t offset) {  \
        asc_emu::rule(asc_emu::moved_bytes(dst, offset), src);                                  \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name(__ubuf__ T* dst, const vector_bool& src, addr_reg offset) { \
        asc_emu::rule(asc_emu::moved(dst, offset), src);                                        \
    }                                                                                           \
    template <class T>                                                                          \
    inline ASC_EMU_FORCED void name##_postupdate(__ubuf__ T*& dst, const vector_bool& src,      \
                                                 int32_t offset) {                              \
        asc_emu::rule(dst, src);                                                                \
        dst = asc_emu::moved_bytes(dst, offset);                                                \
    }
ASC_EMU_STORE_MASK(asc_storealign, store_mask)
ASC_EMU_STORE_MASK(asc_storealign_pack, store_mask_packed)
#undef ASC_EMU_STORE_MASK
