// Compiler-level names of loads and stores (ascend_c_vector.md section 15). A distribution names
// what an aligned access does and the width of its lanes; offsets count elements of the pointer's
// type.
#pragma once

#include "asc_emu/api/vector_gather.hpp"
#include "asc_emu/api/vector_load.hpp"
#include "asc_emu/api/vector_squeeze.hpp"
#include "asc_emu/api/vector_store.hpp"
#include "asc_emu/api/vector_unalign.hpp"

namespace asc_emu {

enum Distribution : uint32_t {
    kNorm,
    kBroadcast,
    kUpsample,
    kDownsample,
    kUnpack,
    kUnpack4,
    kBlock,
    kElementToBlock,
    kDeinterleave,
    kFirst,
    kPack,
    kPackQuarter,
    kInterleave
};
// Value of a constant: distribution * 16 + bytes of a lane, 0 for the type's own width.
template <uint32_t kValue>
using Dist = Constant<DistKind, kValue>;
template <uint32_t kValue, class T>
constexpr uint32_t kDistWidth = kValue % 16 == 0 ? sizeof(T) : kValue % 16;

// A register and a pointer as lanes of W bytes.
template <uint32_t W, class T>
ASC_EMU_INLINE VectorRegister<LaneBits<W>>& lanes_as(VectorRegister<T>& v) {
    return reinterpret_cast<VectorRegister<LaneBits<W>>&>(v);
}
template <uint32_t W, class T>
ASC_EMU_INLINE const VectorRegister<LaneBits<W>>& lanes_as(const VectorRegister<T>& v) {
    return reinterpret_cast<const VectorRegister<LaneBits<W>>&>(v);
}

template <uint32_t kKind, uint32_t W, class T>
ASC_EMU_INLINE void load_distributed(VectorRegister<T>& dst, T* src) {
    auto& lanes = lanes_as<W>(dst);
    auto* from = reinterpret_cast<LaneBits<W>*>(src);
    if constexpr (kKind == kNorm) LoadNorm::run(lanes, from);
    if constexpr (kKind == kBroadcast) LoadBroadcast::run(lanes, from);
    if constexpr (kKind == kUpsample) LoadUpsample::run(lanes, from);
    if constexpr (kKind == kDownsample) LoadDownsample::run(lanes, from);
    if constexpr (kKind == kUnpack) LoadUnpack<2>::run(lanes, from);
    if constexpr (kKind == kUnpack4) LoadUnpack<4>::run(lanes, from);
    if constexpr (kKind == kBlock) LoadBlock::run(lanes, from);
    if constexpr (kKind == kElementToBlock) LoadElementToBlock::run(lanes, from);
    static_assert(kKind <= kElementToBlock,
                  "vlds with one register got a distribution of two, or "
                  "one for stores");
}
template <uint32_t kKind, uint32_t W, class T>
ASC_EMU_INLINE void store_distributed(T* dst, const VectorRegister<T>& src,
                                      const MaskRegister& mask) {
    const auto& lanes = lanes_as<W>(src);
    auto* to = reinterpret_cast<LaneBits<W>*>(dst);
    if constexpr (kKind == kNorm) StoreNorm::run(to, lanes, mask);
    if constexpr (kKind == kFirst) store_first(to, lanes);
    if constexpr (kKind == kPack) StorePack<2>::run(to, lanes, mask);
    if constexpr (kKind == kPackQuarter) StorePack<4>::run(to, lanes, mask);
    static_assert(kKind == kNorm || (kKind >= kFirst && kKind <= kPackQuarter),
                  "vsts with one register got a distribution of two, or one for loads");
}
// Where the access is, and the pointer afterwards.
template <uint32_t kPost, class T>
ASC_EMU_INLINE T* place(T*& pointer, int32_t offset) {
    T* at = kPost ? pointer : pointer + offset;
    if constexpr (kPost != 0) pointer += offset;
    return at;
}

}  // namespace asc_emu

#define ASC_EMU_DIST(name, kind, width) \
    inline constexpr asc_emu::Dist<asc_emu::kind * 16 + width> name{};
ASC_EMU_DIST(NORM, kNorm, 0)
ASC_EMU_DIST(NORM_B8, kNorm, 1)
ASC_EMU_DIST(NORM_B16, kNorm, 2)
ASC_EMU_DIST(NORM_B32, kNorm, 4)
ASC_EMU_DIST(BRC_B8, kBroadcast, 1)
ASC_EMU_DIST(BRC_B16, kBroadcast, 2)
ASC_EMU_DIST(BRC_B32, kBroadcast, 4)
ASC_EMU_DIST(US, kUpsample, 0)
ASC_EMU_DIST(US_B8, kUpsample, 1)
ASC_EMU_DIST(US_B16, kUpsample, 2)
ASC_EMU_DIST(DS, kDownsample, 0)
ASC_EMU_DIST(DS_B8, kDownsample, 1)
ASC_EMU_DIST(DS_B16, kDownsample, 2)
ASC_EMU_DIST(UNPK_B8, kUnpack, 1)
ASC_EMU_DIST(UNPK_B16, kUnpack, 2)
ASC_EMU_DIST(UNPK_B32, kUnpack, 4)
ASC_EMU_DIST(UNPK4_B8, kUnpack4, 1)
ASC_EMU_DIST(BLK, kBlock, 1)
ASC_EMU_DIST(E2B_B16, kElementToBlock, 2)
ASC_EMU_DIST(E2B_B32, kElementToBlock, 4)
ASC_EMU_DIST(DINTLV_B8, kDeinterleave, 1)
ASC_EMU_DIST(DINTLV_B16, kDeinterleave, 2)
ASC_EMU_DIST(DINTLV_B32, kDeinterleave, 4)
ASC_EMU_DIST(ONEPT_B8, kFirst, 1)
ASC_EMU_DIST(ONEPT_B16, kFirst, 2)
ASC_EMU_DIST(ONEPT_B32, kFirst, 4)
ASC_EMU_DIST(PK, kPack, 0)
ASC_EMU_DIST(PK_B16, kPack, 2)
ASC_EMU_DIST(PK_B32, kPack, 4)
ASC_EMU_DIST(PK_B64, kPack, 8)
ASC_EMU_DIST(PK4_B32, kPackQuarter, 4)
ASC_EMU_DIST(INTLV_B8, kInterleave, 1)
ASC_EMU_DIST(INTLV_B16, kInterleave, 2)
ASC_EMU_DIST(INTLV_B32, kInterleave, 4)
#undef ASC_EMU_DIST

// Aligned ----------------------------------------------------------------------------------------
template <class T, uint32_t kValue>
ASC_EMU_INLINE void vlds(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src, int32_t offset,
                         asc_emu::Dist<kValue>) {
    asc_emu::load_distributed<kValue / 16, asc_emu::kDistWidth<kValue, T>>(dst, src + offset);
}
template <class T, uint32_t kValue, uint32_t kPost>
ASC_EMU_INLINE void vlds(asc_emu::VectorRegister<T>& dst, __ubuf__ T*& src, int32_t offset,
                         asc_emu::Dist<kValue>, asc_emu::Constant<asc_emu::PostKind, kPost>) {
    T* from = asc_emu::place<kPost>(src, offset);
    asc_emu::load_distributed<kValue / 16, asc_emu::kDistWidth<kValue, T>>(dst, from);
}
template <class T, uint32_t kValue>
ASC_EMU_INLINE void vlds(asc_emu::VectorRegister<T>& dst0, asc_emu::VectorRegister<T>& dst1,
                         __ubuf__ T* src, int32_t offset, asc_emu::Dist<kValue>) {
    static_assert(kValue / 16 == asc_emu::kDeinterleave, "vlds with two registers deinterleaves");
    constexpr uint32_t W = asc_emu::kDistWidth<kValue, T>;
    asc_emu::LoadDeinterleave::run(asc_emu::lanes_as<W>(dst0), asc_emu::lanes_as<W>(dst1),
                                   reinterpret_cast<asc_emu::LaneBits<W>*>(src + offset));
}
template <class T, uint32_t kValue, uint32_t kPost>
ASC_EMU_INLINE void vlds(asc_emu::VectorRegister<T>& dst0, asc_emu::VectorRegister<T>& dst1,
                         __ubuf__ T*& src, int32_t offset, asc_emu::Dist<kValue> dist,
                         asc_emu::Constant<asc_emu::PostKind, kPost>) {
    T* from = asc_emu::place<kPost>(src, offset);
    vlds(dst0, dst1, from, 0, dist);
}
template <class T, uint32_t kValue>
ASC_EMU_INLINE void vsts(const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst, int32_t offset,
                         asc_emu::Dist<kValue>, const vector_bool& mask) {
    asc_emu::store_distributed<kValue / 16, asc_emu::kDistWidth<kValue, T>>(dst + offset, src,
                                                                            mask);
}
template <class T, uint32_t kValue, uint32_t kPost>
ASC_EMU_INLINE void vsts(const asc_emu::VectorRegister<T>& src, __ubuf__ T*& dst, int32_t offset,
                         asc_emu::Dist<kValue>, const vector_bool& mask,
                         asc_emu::Constant<asc_emu::PostKind, kPost>) {
    T* to = asc_emu::place<kPost>(dst, offset);
    asc_emu::store_distributed<kValue / 16, asc_emu::kDistWidth<kValue, T>>(to, src, mask);
}
template <class T, uint32_t kValue>
ASC_EMU_INLINE void vsts(const asc_emu::VectorRegister<T>& src0,
                         const asc_emu::VectorRegister<T>& src1, __ubuf__ T* dst, int32_t offset,
                         asc_emu::Dist<kValue>, const vector_bool& = {}) {
    static_assert(kValue / 16 == asc_emu::kInterleave, "vsts with two registers interleaves");
    constexpr uint32_t W = asc_emu::kDistWidth<kValue, T>;
    asc_emu::store_interleaved(reinterpret_cast<asc_emu::LaneBits<W>*>(dst + offset),
                               asc_emu::lanes_as<W>(src0), asc_emu::lanes_as<W>(src1));
}

// Strided blocks: block_stride << 16 | repeat_stride.
template <class T>
inline ASC_EMU_FORCED void vsldb(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src, int32_t config,
                                 const vector_bool& mask) {
    asc_loadalign(dst, src, static_cast<uint16_t>(config >> 16), static_cast<uint16_t>(config),
                  mask);
}
template <class T>
inline ASC_EMU_FORCED void vsldb(asc_emu::VectorRegister<T>& dst, __ubuf__ T*& src, int32_t config,
                                 const vector_bool& mask, asc_emu::Constant<asc_emu::PostKind, 1>) {
    asc_loadalign_postupdate(dst, src, static_cast<uint16_t>(config >> 16),
                             static_cast<uint16_t>(config), mask);
}
template <class T>
inline ASC_EMU_FORCED void vsstb(const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst,
                                 int32_t config, const vector_bool& mask) {
    asc_storealign(dst, src, static_cast<uint16_t>(config >> 16), static_cast<uint16_t>(config),
                   mask);
}
template <class T>
inline ASC_EMU_FORCED void vsstb(const asc_emu::VectorRegister<T>& src, __ubuf__ T*& dst,
                                 int32_t config, const vector_bool& mask,
                                 asc_emu::Constant<asc_emu::PostKind, 1>) {
    asc_storealign_postupdate(dst, src, static_cast<uint16_t>(config >> 16),
                              static_cast<uint16_t>(config), mask);
}

// Masks; offsets in bytes.
template <class T, uint32_t kValue>
inline ASC_EMU_FORCED void plds(vector_bool& dst, __ubuf__ T* src, int32_t offset,
                                asc_emu::Dist<kValue>) {
    static_assert(kValue / 16 == asc_emu::kNorm || kValue / 16 == asc_emu::kUpsample ||
                      kValue / 16 == asc_emu::kDownsample,
                  "plds takes NORM, US or DS");
    const T* from = asc_emu::moved_bytes(src, offset);
    if constexpr (kValue / 16 == asc_emu::kNorm) asc_emu::load_mask(dst, from);
    if constexpr (kValue / 16 == asc_emu::kUpsample) asc_emu::load_mask_upsampled(dst, from);
    if constexpr (kValue / 16 == asc_emu::kDownsample) asc_emu::load_mask_downsampled(dst, from);
}
template <class T, uint32_t kValue>
inline ASC_EMU_FORCED void plds(vector_bool& dst, __ubuf__ T*& src, int32_t offset,
                                asc_emu::Dist<kValue> dist,
                                asc_emu::Constant<asc_emu::PostKind, 1>) {
    plds(dst, src, 0, dist);
    src = asc_emu::moved_bytes(src, offset);
}
template <class T, uint32_t kValue>
inline ASC_EMU_FORCED void psts(const vector_bool& src, __ubuf__ T* dst, int32_t offset,
                                asc_emu::Dist<kValue>) {
    static_assert(kValue / 16 == asc_emu::kNorm || kValue / 16 == asc_emu::kPack,
                  "psts takes NORM or PK");
    T* to = asc_emu::moved_bytes(dst, offset);
    if constexpr (kValue / 16 == asc_emu::kNorm)
        asc_emu::store_mask(to, src);
    else
        asc_emu::store_mask_packed(to, src);
}
template <class T, uint32_t kValue>
inline ASC_EMU_FORCED void psts(const vector_bool& src, __ubuf__ T*& dst, int32_t offset,
                                asc_emu::Dist<kValue> dist,
                                asc_emu::Constant<asc_emu::PostKind, 1>) {
    psts(src, dst, 0, dist);
    dst = asc_emu::moved_bytes(dst, offset);
}
template <class T>
inline ASC_EMU_FORCED void pstu(vector_store_unalign& state, const vector_bool& src,
                                __ubuf__ T*& dst) {
    asc_storeunalign_postupdate(dst, state, src);
}

// Unaligned --------------------------------------------------------------------------------------
template <class T>
inline ASC_EMU_FORCED void vldas(vector_load_unalign& state, __ubuf__ T* src) {
    asc_loadunalign_pre(state, src);
}
template <class T>
inline ASC_EMU_FORCED void vldus(asc_emu::VectorRegister<T>& dst, vector_load_unalign& state,
                                 __ubuf__ T* src) {
    asc_loadunalign(dst, state, src);
}
template <class T>
inline ASC_EMU_FORCED void vldus(asc_emu::VectorRegister<T>& dst, vector_load_unalign& state,
                                 __ubuf__ T*& src, uint32_t count,
                                 asc_emu::Constant<asc_emu::PostKind, 1>) {
    asc_loadunalign_postupdate(dst, state, src, count);
}
template <class T>
inline ASC_EMU_FORCED void vstus(vector_store_unalign& state, uint32_t count,
                                 const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst) {
    asc_storeunalign(dst, state, src, count);
}
template <class T>
inline ASC_EMU_FORCED void vstus(vector_store_unalign& state, uint32_t count,
                                 const asc_emu::VectorRegister<T>& src, __ubuf__ T*& dst,
                                 asc_emu::Constant<asc_emu::PostKind, 1>) {
    asc_storeunalign_postupdate(dst, state, src, count);
}
template <class T>
inline ASC_EMU_FORCED void vstur(vector_store_unalign& state, const asc_emu::VectorRegister<T>& src,
                                 __ubuf__ T* dst, asc_emu::Constant<asc_emu::PostKind, 1> = {}) {
    asc_storeunalign_postupdate(dst, state, src);
}
template <class T, class Post = asc_emu::Constant<asc_emu::PostKind, 1>>
inline ASC_EMU_FORCED void vstu(vector_store_unalign& state, addr_reg& offset,
                                const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst, Post = {}) {
    asc_storeunalign_postupdate(dst, state, src, offset);
}
template <class T>
inline ASC_EMU_FORCED void vsta(vector_store_unalign& state, __ubuf__ T* dst, addr_reg offset) {
    asc_storeunalign_post(dst, state, offset);
}
template <class T>
inline ASC_EMU_FORCED void vstas(vector_store_unalign& state, __ubuf__ T* dst, int32_t offset) {
    asc_storeunalign_post(dst, state, offset);
}
template <class T>
inline ASC_EMU_FORCED void vstar(vector_store_unalign& state, __ubuf__ T* dst) {
    asc_storeunalign_post(dst, state);
}

// Gather, scatter, AR ----------------------------------------------------------------------------
template <class D, class T, class I>
inline ASC_EMU_FORCED void vgather2(asc_emu::VectorRegister<D>& dst, __ubuf__ T* src,
                                    const asc_emu::VectorRegister<I>& index,
                                    const vector_bool& mask) {
    asc_gather(dst, src, index, mask);
}
template <class D, class T, class I>
inline ASC_EMU_FORCED void vgather2_bc(asc_emu::VectorRegister<D>& dst, __ubuf__ T* src,
                                       const asc_emu::VectorRegister<I>& index,
                                       const vector_bool& mask) {
    asc_gather(dst, src, index, mask);
}
template <class T>
inline ASC_EMU_FORCED void vgatherb(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,
                                    const vector_uint32_t& index) {
    asc_gather_datablock(dst, src, index);
}
template <class T, class I>
inline ASC_EMU_FORCED void vscatter(const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst,
                                    const asc_emu::VectorRegister<I>& index,
                                    const vector_bool& mask) {
    asc_scatter(dst, src, index, mask);
}
inline ASC_EMU_FORCED void sprclr(asc_emu::Constant<asc_emu::SprKind, 0>) { asc_emu::clear_ar(); }
template <class T>
inline ASC_EMU_FORCED void sprsts(asc_emu::Constant<asc_emu::SprKind, 0>, __ubuf__ T* dst,
                                  int32_t offset) {
    asc_storealign_squeeze_status(dst, offset);
}
