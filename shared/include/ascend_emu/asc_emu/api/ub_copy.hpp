// UB-side movement and its registers (ascend_c_cube.md section 11).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/ub_copy.hpp"
#include "asc_emu/on_use.hpp"

// Registers --------------------------------------------------------------------------------------
inline void asc_set_gm2ub_loop_size(uint64_t loop1_size, uint64_t loop2_size) {
    auto& loop = asc_emu::registers().gm2ub_loop;
    loop.size1 = static_cast<uint32_t>(loop1_size);
    loop.size2 = static_cast<uint32_t>(loop2_size);
}
inline void asc_set_gm2ub_loop1_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().gm2ub_loop;
    loop.src_stride1 = src_stride;
    loop.dst_stride1 = dst_stride;
}
inline void asc_set_gm2ub_loop2_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().gm2ub_loop;
    loop.src_stride2 = src_stride;
    loop.dst_stride2 = dst_stride;
}
inline void asc_set_ub2gm_loop_size(uint64_t loop1_size, uint64_t loop2_size) {
    auto& loop = asc_emu::registers().ub2gm_loop;
    loop.size1 = static_cast<uint32_t>(loop1_size);
    loop.size2 = static_cast<uint32_t>(loop2_size);
}
inline void asc_set_ub2gm_loop1_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().ub2gm_loop;
    loop.src_stride1 = src_stride;
    loop.dst_stride1 = dst_stride;
}
inline void asc_set_ub2gm_loop2_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().ub2gm_loop;
    loop.src_stride2 = src_stride;
    loop.dst_stride2 = dst_stride;
}
// The value's bit pattern; 1-, 2- and 4-byte types.
template <class T>
inline void asc_set_copy_pad_val(T pad_value) {
    static_assert(sizeof(T) <= 4, "pad values have 1, 2 or 4 bytes");
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &pad_value, sizeof(T));
    asc_emu::registers().copy_pad_value = bits;
    asc_emu::registers().copy_pad_set = true;
}
ASC_EMU_ON_USE inline void asc_set_gm2ub_pad(uint32_t pad_value) {
    asc_set_copy_pad_val(pad_value);
}

// GM -> UB ---------------------------------------------------------------------------------------
namespace asc_emu {

struct BurstShape {
    uint32_t count, bytes;
    uint64_t src_stride, dst_stride;
};

ASC_EMU_ON_USE inline void issue_gm_to_ub(const void* dst, const void* src, BurstShape shape,
                                          uint8_t element_bytes, uint32_t left_pad,
                                          uint32_t right_pad, bool pad_from_register, L2Hint hint) {
    const Registers& r = registers();
    CopyGmToUb i;
    i.src = gm_address(src);
    i.dst = offset_of(dst);
    i.count = shape.count;
    i.bytes = shape.bytes;
    i.src_stride = shape.src_stride;
    i.dst_stride = shape.dst_stride;
    i.left_pad = static_cast<uint8_t>(left_pad * element_bytes);
    i.right_pad = static_cast<uint8_t>(right_pad * element_bytes);
    i.element_bytes = element_bytes;
    // NOTE: without constant_padding_ctl the sources differ (ascend_c_vector.md section 12.1): the
    // register where the kernel has set it, else the first element.
    i.pad_from_register = pad_from_register || r.copy_pad_set;
    i.fill_from_register = i.pad_from_register;
    i.pad_value = static_cast<uint32_t>(r.copy_pad_value);
    i.loops = r.gm2ub_loop;
    i.l2_hint = hint.value;
    issue(i);
}

ASC_EMU_ON_USE inline void issue_ub_to_gm(const void* dst, const void* src, BurstShape shape,
                                          uint8_t element_bytes, L2Hint hint) {
    const Registers& r = registers();
    CopyUbToGm i;
    i.src = offset_of(src);
    i.dst = gm_address(dst);
    i.count = shape.count;
    i.bytes = shape.bytes;
    i.src_stride = shape.src_stride;
    i.dst_stride = shape.dst_stride;
    i.left_pad = i.right_pad = 0;
    i.element_bytes = element_bytes;
    i.pad_from_register = false;
    i.pad_value = 0;
    i.loops = r.ub2gm_loop;
    i.l2_hint = hint.value;
    i.atomic_op = r.atomic_op;
    i.atomic_type = r.atomic_type;
    issue(i);
}

}  // namespace asc_emu

// Lengths and strides in bytes, strides head to head; the loop registers apply.
ASC_EMU_ON_USE inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint16_t n_burst,
                                          uint16_t len_burst, uint16_t src_stride,
                                          uint16_t dst_stride) {
    asc_emu::issue_gm_to_ub(dst, src, {n_burst, len_burst, src_stride, dst_stride}, 1, 0, 0, false,
                            0);
}
ASC_EMU_ON_USE inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint32_t size) {
    asc_emu::issue_gm_to_ub(dst, src, {1, size, size, size}, 1, 0, 0, false, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_gm2ub)

// Pads in elements; they hold the value of asc_set_copy_pad_val, if it was called or
// constant_padding_ctl is true, else the first element of the burst. The same value fills up to the
// next 32 bytes.
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint16_t n_burst,
                                 uint32_t len_burst, uint8_t left_padding_count,
                                 uint8_t right_padding_count, bool constant_padding_ctl,
                                 asc_emu::L2Hint l2_cache_mode, uint64_t src_stride,
                                 uint32_t dst_stride) {
    static_assert(sizeof(T) <= 4, "asc_copy_gm2ub_align copies elements of 1, 2 or 4 bytes");
    asc_emu::issue_gm_to_ub(dst, src, {n_burst, len_burst, src_stride, dst_stride}, sizeof(T),
                            left_padding_count, right_padding_count, constant_padding_ctl,
                            l2_cache_mode);
}
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint32_t size) {
    asc_emu::issue_gm_to_ub(dst, src, {1, size, size, size}, 1, 0, 0, false, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_gm2ub_align)

// UB -> GM: destination stride first --------------------------------------------------------------
ASC_EMU_ON_USE inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint16_t n_burst,
                                          uint16_t len_burst, uint16_t dst_stride,
                                          uint16_t src_stride) {
    asc_emu::issue_ub_to_gm(dst, src, {n_burst, len_burst, src_stride, dst_stride}, 1, 0);
}
ASC_EMU_ON_USE inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint32_t size) {
    asc_emu::issue_ub_to_gm(dst, src, {1, size, size, size}, 1, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_ub2gm)

template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint16_t n_burst,
                                 uint32_t len_burst, asc_emu::L2Hint l2_cache_mode,
                                 uint64_t dst_stride, uint32_t src_stride) {
    asc_emu::issue_ub_to_gm(dst, src, {n_burst, len_burst, src_stride, dst_stride}, sizeof(T),
                            l2_cache_mode);
}
template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint32_t size) {
    asc_emu::issue_ub_to_gm(dst, src, {1, size, size, size}, sizeof(T), 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_ub2gm_align)

// UB -> L1, UB -> UB: lengths and gaps in 32 bytes ------------------------------------------------
namespace asc_emu {

template <class Insn>
inline void issue_blocks(const void* dst, const void* src, uint32_t count, uint32_t blocks,
                         uint32_t src_gap, uint32_t dst_gap) {
    Insn i;
    i.src = offset_of(src);
    i.dst = offset_of(dst);
    i.count = count;
    i.bytes = blocks * 32;
    i.src_gap = src_gap * 32;
    i.dst_gap = dst_gap * 32;
    issue(i);
}

}  // namespace asc_emu

ASC_EMU_ON_USE inline void asc_copy_ub2l1(__cbuf__ void* dst, __ubuf__ void* src, uint16_t n_burst,
                                          uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap) {
    asc_emu::issue_blocks<asc_emu::CopyUbToL1>(dst, src, n_burst, len_burst, src_gap, dst_gap);
}
ASC_EMU_ON_USE inline void asc_copy_ub2l1(__cbuf__ void* dst, __ubuf__ void* src, uint32_t size) {
    asc_emu::issue_blocks<asc_emu::CopyUbToL1>(dst, src, 1, size / 32, 0, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_ub2l1)

ASC_EMU_ON_USE inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint16_t n_burst,
                                          uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap) {
    asc_emu::issue_blocks<asc_emu::CopyUbToUb>(dst, src, n_burst, len_burst, src_gap, dst_gap);
}
ASC_EMU_ON_USE inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint32_t size) {
    asc_emu::issue_blocks<asc_emu::CopyUbToUb>(dst, src, 1, size / 32, 0, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_ub2ub)
