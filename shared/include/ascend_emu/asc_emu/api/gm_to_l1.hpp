// GM -> L1 copies and their registers (ascend_c_cube.md section 5).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/gm_to_l1.hpp"

// Registers --------------------------------------------------------------------------------------
// matrix_num [15:0], row stride [31:16], C0 column stride [47:32], matrix stride [63:48]; 32-byte
// blocks.
inline void asc_set_gm2l1_nz_para(uint64_t packed) { asc_emu::registers().gm2l1_nz_para = packed; }
inline void asc_set_gm2l1_nz_para(uint16_t matrix_num, uint16_t dst_nz_n_stride,
                                  uint16_t dst_nz_c0_stride, uint16_t dst_nz_matrix_stride) {
    asc_set_gm2l1_nz_para(static_cast<uint64_t>(matrix_num) |
                          static_cast<uint64_t>(dst_nz_n_stride) << 16 |
                          static_cast<uint64_t>(dst_nz_c0_stride) << 32 |
                          static_cast<uint64_t>(dst_nz_matrix_stride) << 48);
}
inline void asc_set_gm2l1_loop_size(uint64_t loop1_size, uint64_t loop2_size) {
    auto& loop = asc_emu::registers().gm2l1_loop;
    loop.size1 = static_cast<uint32_t>(loop1_size);
    loop.size2 = static_cast<uint32_t>(loop2_size);
}
inline void asc_set_gm2l1_loop1_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().gm2l1_loop;
    loop.src_stride1 = src_stride;
    loop.dst_stride1 = dst_stride;
}
inline void asc_set_gm2l1_loop2_stride(uint64_t src_stride, uint64_t dst_stride) {
    auto& loop = asc_emu::registers().gm2l1_loop;
    loop.src_stride2 = src_stride;
    loop.dst_stride2 = dst_stride;
}
inline void asc_set_gm2l1_pad(uint32_t pad_value) { asc_emu::registers().gm2l1_pad = pad_value; }

// nd2nz, dn2nz -----------------------------------------------------------------------------------
namespace asc_emu {

template <class T>
inline CopyGmToL1Nz make_nz_copy(const T* dst, const T* src, uint64_t line_stride, L2Hint hint,
                                 uint16_t n, uint32_t d, uint64_t matrix_stride, bool small_c0) {
    static_assert(sizeof(T) <= 4, "nd2nz and dn2nz copy elements of 1, 2 or 4 bytes");
    const uint64_t nz = registers().gm2l1_nz_para;
    CopyGmToL1Nz i;
    i.src = gm_address(src);
    i.dst = offset_of(dst);
    i.line_stride = line_stride;
    i.src_matrix_stride = matrix_stride;
    i.n = n;
    i.d = d;
    i.num = static_cast<uint16_t>(nz);
    i.n_stride = static_cast<uint16_t>(nz >> 16);
    i.c0_stride = static_cast<uint16_t>(nz >> 32);
    i.dst_matrix_stride = static_cast<uint16_t>(nz >> 48);
    i.element_bytes = sizeof(T);
    i.transposed = false;
    i.small_c0 = small_c0;
    i.l2_hint = hint.value;
    return i;
}

}  // namespace asc_emu

// Rows of GM become 32-byte-wide columns of L1. Strides of the source in bytes.
template <class T>
inline void asc_copy_gm2l1_nd2nz(__cbuf__ T* dst, __gm__ T* src, uint64_t loop1_src_stride,
                                 asc_emu::L2Hint l2_cache_mode, uint16_t n_value, uint32_t d_value,
                                 uint64_t loop4_src_stride, bool smallc0_en) {
    asc_emu::issue(asc_emu::make_nz_copy(dst, src, loop1_src_stride, l2_cache_mode, n_value,
                                         d_value, loop4_src_stride, smallc0_en));
}
template <class T>
inline void asc_copy_gm2l1_dn2nz(__cbuf__ T* dst, __gm__ T* src, uint64_t loop1_src_stride,
                                 asc_emu::L2Hint l2_cache_mode, uint16_t n_value, uint32_t d_value,
                                 uint64_t loop4_src_stride, bool smallc0_en) {
    auto i = asc_emu::make_nz_copy(dst, src, loop1_src_stride, l2_cache_mode, n_value, d_value,
                                   loop4_src_stride, smallc0_en);
    i.transposed = true;
    asc_emu::issue(i);
}
ASC_EMU_SYNC_TWIN(asc_copy_gm2l1_nd2nz)
ASC_EMU_SYNC_TWIN(asc_copy_gm2l1_dn2nz)

// Plain copy and channel padding -----------------------------------------------------------------
// n_burst bursts of len_burst 32-byte blocks (mode 0); strides in 32-byte units.
inline void asc_copy_gm2l1(__cbuf__ void* dst, __gm__ void* src, uint32_t n_burst,
                           uint32_t len_burst, asc_emu::EnumArg pad_func_mode, uint64_t src_stride,
                           uint32_t dst_stride) {
    using namespace asc_emu;
    CopyGmToL1Pad i;
    i.src = gm_address(src);
    i.dst = offset_of(dst);
    i.src_stride = src_stride;
    i.dst_stride = dst_stride;
    i.count = n_burst;
    i.blocks = len_burst;
    i.pad_value = registers().gm2l1_pad;
    i.mode = pad_func_mode.value;
    issue(i);
}
// Fractals of an NZ source; m in 16 rows, k in 32 bytes, dst_stride in 512 bytes.
template <class T>
inline void asc_copy_gm2l1(__cbuf__ T* dst, __gm__ T* src, uint32_t m_start_position,
                           uint32_t k_start_position, uint16_t dst_stride, uint16_t m_step,
                           uint16_t k_step, uint8_t decomp_mode, asc_emu::L2Hint l2_cache_mode) {
    using namespace asc_emu;
    CopyGmToL1Fractal i;
    i.src = gm_address(src);
    i.dst = offset_of(dst);
    i.m_start = m_start_position;
    i.k_start = k_start_position;
    i.dst_stride = dst_stride;
    i.m_step = m_step;
    i.k_step = k_step;
    i.decompress = decomp_mode;
    i.l2_hint = l2_cache_mode.value;
    issue(i);
}
ASC_EMU_SYNC_TWIN(asc_copy_gm2l1)

// Bursts -----------------------------------------------------------------------------------------
// n_burst bursts of len_burst bytes; pads in elements, strides in bytes. data_select true: the pads
// hold the register's value, false: the first element of the burst.
template <class T>
inline void asc_copy_gm2l1_align(__cbuf__ T* dst, __gm__ T* src, uint32_t n_burst,
                                 uint32_t len_burst, uint8_t left_padding_count,
                                 uint8_t right_padding_count, bool data_select,
                                 asc_emu::L2Hint l2_cache_mode, uint64_t burst_src_stride,
                                 uint32_t burst_dst_stride) {
    using namespace asc_emu;
    static_assert(sizeof(T) <= 4, "asc_copy_gm2l1_align copies elements of 1, 2 or 4 bytes");
    const Registers& r = registers();
    CopyGmToL1Burst i;
    i.src = gm_address(src);
    i.dst = offset_of(dst);
    i.count = n_burst;
    i.bytes = len_burst;
    i.src_stride = burst_src_stride;
    i.dst_stride = burst_dst_stride;
    i.left_pad = static_cast<uint8_t>(left_padding_count * sizeof(T));
    i.right_pad = static_cast<uint8_t>(right_padding_count * sizeof(T));
    i.element_bytes = sizeof(T);
    i.pad_from_register = data_select;
    i.pad_value = r.gm2l1_pad;
    i.loops = r.gm2l1_loop;
    i.l2_hint = l2_cache_mode.value;
    issue(i);
}
ASC_EMU_SYNC_TWIN(asc_copy_gm2l1_align)
