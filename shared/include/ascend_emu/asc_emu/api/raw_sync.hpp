// Compiler-level names of synchronisation and movement (ascend_c_vector.md section 15): the same
// instructions as asc_lock, asc_sync_* and the UB copies.
#pragma once

#include "asc_emu/api/ub_copy.hpp"

inline void get_buf(pipe_t pipe, uint32_t id, uint32_t mode = ASC_LOCK_BLOCK) {
    asc_lock(pipe, id, static_cast<asc_mutex_execute_mode>(mode));
}
inline void rls_buf(pipe_t pipe, uint32_t id, uint32_t mode = ASC_LOCK_BLOCK) {
    asc_unlock(pipe, id, static_cast<asc_mutex_execute_mode>(mode));
}

// Modes 0 to 2 go between cores, 4 inside one AI Core.
template <uint8_t kMode, pipe_t kPipe>
inline void CrossCoreSetFlag(uint32_t id) {
    static_assert(kMode <= 2 || kMode == 4, "cross-core flags have the modes 0, 1, 2 and 4");
    if constexpr (kMode == 4)
        asc_sync_intra_arrive(kPipe, id);
    else
        asc_emu::issue_on(asc_emu::to_pipe(kPipe),
                          asc_emu::CrossArrive{asc_emu::to_pipe(kPipe), kMode, id & 15});
}
template <uint8_t kMode, pipe_t kPipe>
inline void CrossCoreWaitFlag(uint32_t id) {
    static_assert(kMode <= 2 || kMode == 4, "cross-core flags have the modes 0, 1, 2 and 4");
    if constexpr (kMode == 4)
        asc_sync_intra_wait(kPipe, id);
    else
        asc_emu::issue_on(asc_emu::to_pipe(kPipe),
                          asc_emu::CounterWait{asc_emu::to_pipe(kPipe), kMode, id & 15});
}

// The stream id has no meaning here; no burst at all is allowed.
template <class T>
inline void copy_gm_to_ubuf_align_v2(__ubuf__ T* dst, __gm__ T* src, uint8_t /*sid*/,
                                     uint32_t n_burst, uint32_t len_burst,
                                     uint8_t left_padding_count, uint8_t right_padding_count,
                                     bool constant_padding_ctl, asc_emu::L2Hint l2_cache_mode,
                                     uint64_t src_stride, uint32_t dst_stride) {
    if (n_burst == 0) return;
    asc_emu::issue_gm_to_ub(dst, src, {n_burst, len_burst, src_stride, dst_stride}, sizeof(T),
                            left_padding_count, right_padding_count, constant_padding_ctl,
                            l2_cache_mode);
}
template <class T>
inline void copy_ubuf_to_gm_align_v2(__gm__ T* dst, __ubuf__ T* src, uint8_t /*sid*/,
                                     uint32_t n_burst, uint32_t len_burst,
                                     asc_emu::L2Hint l2_cache_mode, uint64_t dst_stride,
                                     uint32_t src_stride) {
    if (n_burst == 0) return;
    asc_emu::issue_ub_to_gm(dst, src, {n_burst, len_burst, src_stride, dst_stride}, sizeof(T),
                            l2_cache_mode);
}
inline void copy_ubuf_to_cbuf(__cbuf__ void* dst, __ubuf__ void* src, uint8_t /*sid*/,
                              uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                              uint16_t dst_gap) {
    asc_copy_ub2l1(dst, src, n_burst, len_burst, src_gap, dst_gap);
}
