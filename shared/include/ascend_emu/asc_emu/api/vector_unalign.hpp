// Unaligned loads and stores (ascend_c_vector.md section 7): any place that is a multiple of the
// element. A store keeps the bytes of its last, partial 32-byte block in its state register until
// the next store continues them or `post` writes them.
#pragma once

#include "asc_emu/api/vector_mask.hpp"
#include "asc_emu/api/vector_memory.hpp"

struct vector_load_unalign {
    uintptr_t next = 0;  // the only address it is primed for
};

struct vector_store_unalign {
    uintptr_t next = 0;         // behind the last stored byte
    mutable uint32_t held = 0;  // bytes before `next` that memory has not got yet
    uint8_t bytes[32];

    vector_store_unalign() = default;
    // An argument passed by value takes over.
    vector_store_unalign(const vector_store_unalign& other) : next(other.next), held(other.held) {
        __builtin_memcpy(bytes, other.bytes, sizeof(bytes));
        other.held = 0;
    }
    ASC_EMU_FORCED ~vector_store_unalign() {
        if (__builtin_expect(held != 0, 0))
            asc_emu_fail(
                "an unaligned store was never finished: its last bytes are still in the "
                "vector_store_unalign; call asc_storeunalign_post before it goes out of "
                "scope");
    }
};

namespace asc_emu {

template <class T>
inline ASC_EMU_FORCED void prime_load(vector_load_unalign& state, const T* src) {
    const uintptr_t block = reinterpret_cast<uintptr_t>(src) & ~uintptr_t{31};
    ASC_EMU_TIMED_MOVE(VectorClass::load, reinterpret_cast<const char*>(block), 32);
    // Of the block that is read only what belongs to the stream counts.
    const auto left = static_cast<uint32_t>(block + 32 - reinterpret_cast<uintptr_t>(src));
    ub_source(src, left, sizeof(T));
    state.next = reinterpret_cast<uintptr_t>(src);
}
template <class T>
inline ASC_EMU_FORCED void load_unaligned(VectorRegister<T>& dst, vector_load_unalign& state,
                                          const T* src) {
    // Its state register holds the block in which it begins.
    ASC_EMU_TIMED_LOAD(
        VectorClass::load, dst,
        reinterpret_cast<const char*>((reinterpret_cast<uintptr_t>(src) + 31) & ~uintptr_t{31}),
        kVectorBytes);
    if (state.next != reinterpret_cast<uintptr_t>(src))
        asc_emu_fail(
            "an unaligned load of a place its vector_load_unalign is not primed for; call "
            "asc_loadunalign_pre with the same address first");
    __builtin_memcpy(&dst, ub_source(src, kVectorBytes, sizeof(T)), kVectorBytes);
}

// Writes what a state holds.
inline ASC_EMU_FORCED void flush_store(vector_store_unalign& state) {
    if (state.held != 0) {
        auto* to = reinterpret_cast<char*>(state.next - state.held);
        __builtin_memcpy(ub_target(to, state.held, 1), state.bytes, state.held);
    }
    state.held = 0;
}
inline ASC_EMU_FORCED void store_unaligned(void* dst, vector_store_unalign& state, const void* src,
                                           uint32_t bytes, uint32_t element) {
    const auto at = reinterpret_cast<uintptr_t>(dst);
    if (state.held != 0 && state.next != at)
        asc_emu_fail(
            "an unaligned store does not continue the one before it, whose last bytes are "
            "still in the vector_store_unalign; call asc_storeunalign_post in between");
    if (bytes == 0) return;
    ub_pointer(static_cast<char*>(dst), bytes, element);
    const auto end = at + bytes;
    const uint32_t tail = static_cast<uint32_t>(end & 31);
    if (tail >= bytes) {  // the block does not get full
        __builtin_memcpy(state.bytes + state.held, src, bytes);
        state.held += bytes;
    } else {
        flush_store(state);
        const uint32_t whole = bytes - tail;
        __builtin_memcpy(ub_target(static_cast<char*>(dst), whole, 1), src, whole);
        __builtin_memcpy(state.bytes, static_cast<const char*>(src) + whole, tail);
        state.held = tail;
    }
    state.next = end;
}
template <class T>
inline ASC_EMU_FORCED void store_unaligned(T* dst, vector_store_unalign& state,
                                           const VectorRegister<T>& src, uint32_t count) {
    ASC_EMU_TIMED_CALL(moved_whole(VectorClass::store, dst, count * sizeof(T), src));
    if (count > kVectorBytes / sizeof(T))
        asc_emu_fail("an unaligned store got more elements than a register has lanes");
    store_unaligned(dst, state, &src, count * sizeof(T), sizeof(T));
}
// The instruction that writes what a state holds.
inline ASC_EMU_FORCED void post_store(vector_store_unalign& state) {
    ASC_EMU_TIMED_MOVE(VectorClass::store, reinterpret_cast<char*>(state.next - state.held),
                       state.held);
    flush_store(state);
}
inline ASC_EMU_FORCED void finish_store(const void* end, vector_store_unalign& state) {
    if (state.held != 0 && state.next != reinterpret_cast<uintptr_t>(end))
        asc_emu_fail(
            "asc_storeunalign_post got a place that is not the end of the stores before "
            "it; its address plus offset must be where they ended");
    post_store(state);
}

}  // namespace asc_emu

// Loads ------------------------------------------------------------------------------------------
template <class T>
inline ASC_EMU_FORCED void asc_loadunalign_pre(vector_load_unalign& dst, __ubuf__ T* src) {
    asc_emu::prime_load(dst, src);
}
template <class T>
inline ASC_EMU_FORCED void asc_loadunalign_pre(vector_load_unalign& dst, __ubuf__ T* src,
                                               addr_reg offset) {
    asc_emu::prime_load(dst, asc_emu::moved(src, offset));
}
template <class T>
inline ASC_EMU_FORCED void asc_loadunalign(asc_emu::VectorRegister<T>& dst,
                                           vector_load_unalign& src0, __ubuf__ T* src1) {
    asc_emu::load_unaligned(dst, src0, src1);
}
template <class T>
inline ASC_EMU_FORCED void asc_loadunalign_postupdate(asc_emu::VectorRegister<T>& dst,
                                                      vector_load_unalign& src0, __ubuf__ T*& src1,
                                                      uint32_t count) {
    asc_emu::load_unaligned(dst, src0, src1);
    src1 += count;
    src0.next = reinterpret_cast<uintptr_t>(src1);
}
template <class T>
inline ASC_EMU_FORCED void asc_loadunalign_postupdate(asc_emu::VectorRegister<T>& dst,
                                                      vector_load_unalign& src0, __ubuf__ T* src1,
                                                      addr_reg& offset, uint32_t inc = 0) {
    asc_emu::load_unaligned(dst, src0, asc_emu::moved(src1, offset));
    offset.bytes += inc * static_cast<uint32_t>(sizeof(T));
    src0.next = reinterpret_cast<uintptr_t>(asc_emu::moved(src1, offset));
}
template <class T>
inline ASC_EMU_FORCED void asc_load(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src) {
    ASC_EMU_TIMED_LOAD(asc_emu::VectorClass::load, dst, src, asc_emu::kVectorBytes);
    __builtin_memcpy(&dst, asc_emu::ub_source(src, asc_emu::kVectorBytes, sizeof(T)),
                     asc_emu::kVectorBytes);
}

// Stores -----------------------------------------------------------------------------------------
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign(__ubuf__ T* dst, vector_store_unalign& src0,
                                            const asc_emu::VectorRegister<T>& src1,
                                            uint32_t count) {
    asc_emu::store_unaligned(dst, src0, src1, count);
}
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_postupdate(__ubuf__ T*& dst, vector_store_unalign& src0,
                                                       const asc_emu::VectorRegister<T>& src1,
                                                       uint32_t count) {
    asc_emu::store_unaligned(dst, src0, src1, count);
    dst += count;
}
// A whole register at dst + count; the address register then stands behind it.
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_postupdate(__ubuf__ T* dst, vector_store_unalign& src0,
                                                       const asc_emu::VectorRegister<T>& src1,
                                                       addr_reg& count) {
    asc_emu::store_unaligned(asc_emu::moved(dst, count), src0, src1,
                             asc_emu::kVectorBytes / sizeof(T));
    count.bytes += asc_emu::kVectorBytes;
}
// What the last asc_squeeze_with_status produced, behind what was stored before it.
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_postupdate(__ubuf__ T* dst, vector_store_unalign& src0,
                                                       const asc_emu::VectorRegister<T>& src1) {
    auto& r = asc_emu::registers();
    if (!r.ar_squeezed)
        asc_emu_fail(
            "an unaligned store of squeezed elements has none to store; call "
            "asc_squeeze_with_status before each of them");
    auto* const at = asc_emu::moved_bytes(dst, static_cast<int64_t>(r.ar_stored));
    const auto bytes = static_cast<uint32_t>(r.ar - r.ar_stored);
    ASC_EMU_TIMED_CALL(asc_emu::moved_whole(asc_emu::VectorClass::store, at, bytes, src1));
    asc_emu::store_unaligned(at, src0, &src1, bytes, sizeof(T));
    r.ar_stored = r.ar;
    r.ar_squeezed = false;
}
// A mask for 16-bit lanes as 16 bytes, one for 32-bit lanes as 8.
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_postupdate(__ubuf__ T*& dst, vector_store_unalign& src0,
                                                       const vector_bool& src1) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                  "unaligned stores of masks take pointers to elements of 2 or 4 bytes");
    vector_bool packed;
    asc_emu::pack_mask(packed, src1, 0);
    if constexpr (sizeof(T) == 4) asc_emu::pack_mask(packed, packed, 0);
    constexpr uint32_t kBytes = 32 / sizeof(T);
    ASC_EMU_TIMED_CALL(asc_emu::moved_whole(asc_emu::VectorClass::store, dst, kBytes, src1));
    asc_emu::store_unaligned(dst, src0, &packed, kBytes, sizeof(T));
    dst = asc_emu::moved_bytes(dst, kBytes);
}
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_post(__ubuf__ T*, vector_store_unalign& src) {
    asc_emu::post_store(src);
}
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_post(__ubuf__ T* dst, vector_store_unalign& src,
                                                 int32_t offset) {
    asc_emu::finish_store(dst + offset, src);
}
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_post(__ubuf__ T*, vector_store_unalign& src, addr_reg) {
    asc_emu::post_store(src);
}
template <class T>
inline ASC_EMU_FORCED void asc_storeunalign_post_postupdate(__ubuf__ T*& dst,
                                                            vector_store_unalign& src,
                                                            int32_t offset) {
    asc_emu::finish_store(dst + offset, src);
    dst += offset;
}
template <class T>
inline ASC_EMU_FORCED void asc_store(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                                     uint32_t count = asc_emu::kVectorBytes / sizeof(T)) {
    if (count > asc_emu::kVectorBytes / sizeof(T))
        asc_emu_fail("asc_store got more elements than a register has lanes");
    const uint32_t bytes = count * static_cast<uint32_t>(sizeof(T));
    ASC_EMU_TIMED_CALL(asc_emu::moved_whole(asc_emu::VectorClass::store, dst, bytes, src));
    ASC_EMU_TIMED_MOVE(asc_emu::VectorClass::store, dst + count, 0);
    if (count != 0) __builtin_memcpy(asc_emu::ub_target(dst, bytes, sizeof(T)), &src, bytes);
}
