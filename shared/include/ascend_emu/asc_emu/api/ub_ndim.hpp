// N-dimensional copies GM -> UB and their registers (ascend_c_vector.md section 12.4).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/ub_ndim.hpp"

union asc_ndim_pad_count_config {
    uint64_t config = 0;
    struct {
        uint8_t loop1_lp_count;
        uint8_t loop1_rp_count;
        uint8_t loop2_lp_count;
        uint8_t loop2_rp_count;
        uint8_t loop3_lp_count;
        uint8_t loop3_rp_count;
        uint8_t loop4_lp_count;
        uint8_t loop4_rp_count;
    };
};

#define ASC_EMU_NDIM_STRIDE(name, loop)                          \
    inline void name(uint64_t dst_stride, uint64_t src_stride) { \
        asc_emu::registers().ndim_dst_stride[loop] = dst_stride; \
        asc_emu::registers().ndim_src_stride[loop] = src_stride; \
    }
ASC_EMU_NDIM_STRIDE(asc_set_ndim_loop0_stride, 0)
ASC_EMU_NDIM_STRIDE(asc_set_ndim_loop1_stride, 1)
ASC_EMU_NDIM_STRIDE(asc_set_ndim_loop2_stride, 2)
ASC_EMU_NDIM_STRIDE(asc_set_ndim_loop3_stride, 3)
ASC_EMU_NDIM_STRIDE(asc_set_ndim_loop4_stride, 4)
#undef ASC_EMU_NDIM_STRIDE

// Pads of loops 1 to 4; those of loop 0 are arguments of the copy.
inline void asc_set_ndim_pad_count(const asc_ndim_pad_count_config& config) {
    asc_emu::registers().ndim_pad_count = config.config;
}
template <class T>
inline void asc_set_ndim_pad_value(T pad_value) {
    static_assert(sizeof(T) <= 4, "pad values have 1, 2 or 4 bytes");
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &pad_value, sizeof(T));
    asc_emu::registers().ndim_pad_value = bits;
}
// The copy's own cache is not modelled: its data is always fresh.
inline void asc_ndim_copy_dci() {}

template <class T>
inline void asc_ndim_copy_gm2ub(__ubuf__ T* dst, __gm__ T* src, uint32_t loop0_size,
                                uint32_t loop1_size, uint32_t loop2_size, uint32_t loop3_size,
                                uint32_t loop4_size, uint8_t loop0_lp_count, uint8_t loop0_rp_count,
                                bool padding_mode, asc_emu::L2Hint cache_mode) {
    static_assert(sizeof(T) <= 4, "asc_ndim_copy_gm2ub copies elements of 1, 2 or 4 bytes");
    const asc_emu::Registers& r = asc_emu::registers();
    asc_emu::CopyGmToUbNd i;
    i.src = asc_emu::gm_address(src);
    i.dst = asc_emu::offset_of(dst);
    const uint32_t sizes[5] = {loop0_size, loop1_size, loop2_size, loop3_size, loop4_size};
    for (uint32_t k = 0; k < 5; ++k) {
        i.size[k] = sizes[k];
        i.src_stride[k] = r.ndim_src_stride[k];
        i.dst_stride[k] = static_cast<uint32_t>(r.ndim_dst_stride[k]);
        const uint64_t pads = k == 0 ? 0 : r.ndim_pad_count >> (16 * (k - 1));
        i.left_pad[k] = k == 0 ? loop0_lp_count : static_cast<uint8_t>(pads);
        i.right_pad[k] = k == 0 ? loop0_rp_count : static_cast<uint8_t>(pads >> 8);
    }
    i.pad_value = static_cast<uint32_t>(r.ndim_pad_value);
    i.element_bytes = sizeof(T);
    i.constant = padding_mode;
    i.l2_hint = cache_mode.value;
    asc_emu::issue(i);
}
ASC_EMU_SYNC_TWIN(asc_ndim_copy_gm2ub)
