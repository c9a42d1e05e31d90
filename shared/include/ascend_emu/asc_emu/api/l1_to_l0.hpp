// L1 -> L0A, L0B and their scale memories (ascend_c_cube.md sections 7.1-7.3 and 8.1).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/l1_to_l0.hpp"

namespace asc_emu {

template <class Insn, class T>
inline void issue_l0_load(bool to_l0b, const T* dst, const T* src, uint16_t m_start,
                          uint16_t k_start, uint8_t m_step, uint8_t k_step, int16_t src_stride,
                          uint16_t dst_stride) {
    static_assert(sizeof(T) <= 4, "L0 operands have elements of at most 4 bytes");
    Insn i;
    i.src = offset_of(src);
    i.dst = offset_of(dst);
    i.m_start = m_start;
    i.k_start = k_start;
    i.m_step = m_step;
    i.k_step = k_step;
    i.src_stride = src_stride;
    i.dst_stride = dst_stride;
    i.to_l0b = to_l0b;
    if constexpr (requires { i.element_bits; }) i.element_bits = element_bits_of<T>();
    issue(i);
}

}  // namespace asc_emu

// Positions and steps: m in 16 rows, k in 32 bytes; strides in 512-byte fractals between K columns.
template <class T>
inline void asc_copy_l12l0a(__ca__ T* dst, __cbuf__ T* src, uint16_t m_start_position,
                            uint16_t k_start_position, uint8_t m_step, uint8_t k_step,
                            int16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_l0_load<asc_emu::CopyL1ToL0>(false, dst, src, m_start_position, k_start_position,
                                                m_step, k_step, src_stride, dst_stride);
}
template <class T>
inline void asc_copy_l12l0b(__cb__ T* dst, __cbuf__ T* src, uint16_t m_start_position,
                            uint16_t k_start_position, uint8_t m_step, uint8_t k_step,
                            int16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_l0_load<asc_emu::CopyL1ToL0>(true, dst, src, m_start_position, k_start_position,
                                                m_step, k_step, src_stride, dst_stride);
}
template <class T>
inline void asc_copy_l12l0a_transpose(__ca__ T* dst, __cbuf__ T* src, uint16_t m_start_position,
                                      uint16_t k_start_position, uint8_t m_step, uint8_t k_step,
                                      int16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_l0_load<asc_emu::CopyL1ToL0Transpose>(false, dst, src, m_start_position,
                                                         k_start_position, m_step, k_step,
                                                         src_stride, dst_stride);
}
template <class T>
inline void asc_copy_l12l0b_transpose(__cb__ T* dst, __cbuf__ T* src, uint16_t m_start_position,
                                      uint16_t k_start_position, uint8_t m_step, uint8_t k_step,
                                      int16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_l0_load<asc_emu::CopyL1ToL0Transpose>(
        true, dst, src, m_start_position, k_start_position, m_step, k_step, src_stride, dst_stride);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12l0a)
ASC_EMU_SYNC_TWIN(asc_copy_l12l0b)
ASC_EMU_SYNC_TWIN(asc_copy_l12l0a_transpose)
ASC_EMU_SYNC_TWIN(asc_copy_l12l0b_transpose)

// `repeat` squares, transposed one by one; all distances in 512-byte fractals.
template <class T>
inline void asc_copy_l12l0b_trans(__cb__ T* dst, __cbuf__ T* src, uint16_t index_id, uint8_t repeat,
                                  uint16_t src_stride, uint16_t dst_gap, uint16_t dst_frac_gap,
                                  uint16_t src_frac_gap) {
    using namespace asc_emu;
    CopyL1ToL0bTrans i;
    i.src = offset_of(src);
    i.dst = offset_of(dst);
    i.index = index_id;
    i.repeat = repeat;
    i.element_bits = element_bits_of<T>();
    i.src_stride = src_stride;
    i.dst_gap = dst_gap;
    i.dst_fractal_gap = dst_frac_gap;
    i.src_fractal_gap = src_frac_gap;
    issue(i);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12l0b_trans)

namespace asc_emu {

inline void issue_mx_load(bool to_l0b, uint64_t dst, const fp8_e8m0_t* src, uint16_t x_start,
                          uint16_t y_start, uint8_t x_step, uint8_t y_step, uint16_t src_stride,
                          uint16_t dst_stride) {
    CopyL1ToL0Mx i;
    i.src = offset_of(src);
    // dst is the operand's address divided by 16: 20 address bits leave 16.
    i.dst = static_cast<uint32_t>(dst & 0xffff);
    i.x_start = x_start;
    i.y_start = y_start;
    i.x_step = x_step;
    i.y_step = y_step;
    i.src_stride = src_stride;
    i.dst_stride = dst_stride;
    i.to_l0b = to_l0b;
    issue(i);
}

}  // namespace asc_emu

// x in 16 rows, y in 32-byte scale fractals along K, strides in 32 bytes.
inline void asc_copy_l12l0a_mx(uint64_t dst, __cbuf__ fp8_e8m0_t* src, uint16_t x_start_position,
                               uint16_t y_start_position, uint8_t x_step, uint8_t y_step,
                               uint16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_mx_load(false, dst, src, x_start_position, y_start_position, x_step, y_step,
                           src_stride, dst_stride);
}
inline void asc_copy_l12l0b_mx(uint64_t dst, __cbuf__ fp8_e8m0_t* src, uint16_t x_start_position,
                               uint16_t y_start_position, uint8_t x_step, uint8_t y_step,
                               uint16_t src_stride, uint16_t dst_stride) {
    asc_emu::issue_mx_load(true, dst, src, x_start_position, y_start_position, x_step, y_step,
                           src_stride, dst_stride);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12l0a_mx)
ASC_EMU_SYNC_TWIN(asc_copy_l12l0b_mx)
