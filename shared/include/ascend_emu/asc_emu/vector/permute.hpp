// Lane movement inside registers (ascend_c_vector.md section 10.1): shuffles of members whose
// indices are constants.
#pragma once

#include "asc_emu/vector/registers.hpp"

namespace asc_emu {

// Lanes a[0], b[0], a[1], b[1], ... of two members: the lower and the upper half of them.
template <class U, uint32_t kHalf, size_t... I>
ASC_EMU_INLINE ChunkBits zip_chunk(ChunkBits a, ChunkBits b, std::index_sequence<I...>) {
    constexpr int N = kChunkLanes<U>;
    constexpr int kFirst = kHalf * N / 2;
    return reinterpret_cast<ChunkBits>(
        __builtin_shufflevector(reinterpret_cast<Chunk<U>>(a), reinterpret_cast<Chunk<U>>(b),
                                static_cast<int>(kFirst + I / 2 + (I % 2) * N)...));
}
template <class U, uint32_t kHalf>
ASC_EMU_INLINE ChunkBits zip_chunk(ChunkBits a, ChunkBits b) {
    return zip_chunk<U, kHalf>(a, b, std::make_index_sequence<kChunkLanes<U>>());
}
// The even (kOdd 1: odd) lanes of two members.
template <class U, uint32_t kOdd, size_t... I>
ASC_EMU_INLINE ChunkBits unzip_chunk(ChunkBits a, ChunkBits b, std::index_sequence<I...>) {
    return reinterpret_cast<ChunkBits>(__builtin_shufflevector(reinterpret_cast<Chunk<U>>(a),
                                                               reinterpret_cast<Chunk<U>>(b),
                                                               static_cast<int>(2 * I + kOdd)...));
}
template <class U, uint32_t kOdd>
ASC_EMU_INLINE ChunkBits unzip_chunk(ChunkBits a, ChunkBits b) {
    return unzip_chunk<U, kOdd>(a, b, std::make_index_sequence<kChunkLanes<U>>());
}

template <class T>
ASC_EMU_INLINE void interleave(VectorRegister<T>& dst0, VectorRegister<T>& dst1,
                               const VectorRegister<T>& src0, const VectorRegister<T>& src1) {
    ASC_EMU_TIMED_OP(VectorClass::interleave, dst0, src0, src1);
    using U = BitsOf<T>;
    ChunkBits r[2 * kChunks];
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        r[2 * k] = zip_chunk<U, 0>(src0.part[k], src1.part[k]);
        r[2 * k + 1] = zip_chunk<U, 1>(src0.part[k], src1.part[k]);
    });
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        dst0.part[k] = r[k];
        dst1.part[k] = r[kChunks + k];
    });
}
template <class T>
ASC_EMU_INLINE void deinterleave(VectorRegister<T>& dst0, VectorRegister<T>& dst1,
                                 const VectorRegister<T>& src0, const VectorRegister<T>& src1) {
    ASC_EMU_TIMED_OP(VectorClass::interleave, dst0, src0, src1);
    using U = BitsOf<T>;
    ChunkBits z[2 * kChunks];
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        z[k] = src0.part[k];
        z[kChunks + k] = src1.part[k];
    });
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        dst0.part[k] = unzip_chunk<U, 0>(z[2 * k], z[2 * k + 1]);
        dst1.part[k] = unzip_chunk<U, 1>(z[2 * k], z[2 * k + 1]);
    });
}

}  // namespace asc_emu
