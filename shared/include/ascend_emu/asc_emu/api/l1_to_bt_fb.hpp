// L1 -> bias table, Fixpipe buffer and UB (ascend_c_cube.md sections 8.2, 8.3 and 11).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/l1_to_l0.hpp"

// dst is a byte address in BT; lengths and gaps in 32 bytes. conv_control 1 widens a 16-bit float
// source.
template <class T>
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ T* src, uint16_t conv_control, uint16_t n_burst,
                           uint16_t len_burst, uint16_t source_gap, uint16_t dst_gap) {
    using namespace asc_emu;
    CopyL1ToBt i;
    i.src = offset_of(src);
    i.dst = static_cast<uint32_t>(dst & kOffsetMask);
    i.count = n_burst;
    i.bytes = len_burst * 32u;
    i.src_gap = source_gap * 32u;
    i.dst_gap = dst_gap * 32u;
    i.source_type = dtype_of<T>();
    i.widen = conv_control == 1;
    issue(i);
}
template <class T>
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ T* src, uint32_t size) {
    asc_copy_l12bt(dst, src, 0, 1, static_cast<uint16_t>(size / 32), 0, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12bt)

// len_burst and dst_gap in 64 bytes, src_gap in 32 bytes.
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint16_t n_burst,
                           uint16_t len_burst, uint16_t src_gap_size, uint16_t dst_gap_size) {
    using namespace asc_emu;
    CopyL1ToFb i;
    i.src = offset_of(src);
    i.dst = offset_of(dst);
    i.count = n_burst;
    i.bytes = len_burst * 64u;
    i.src_gap = src_gap_size * 32u;
    i.dst_gap = dst_gap_size * 64u;
    issue(i);
}
// NOTE: the device passes size / 32 as a length in 64-byte units: 2 * size bytes move.
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint32_t size) {
    asc_copy_l12fb(dst, src, 1, static_cast<uint16_t>(size / 32), 0, 0);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12fb)

// Writes UB of vector core `sub_blockid` of the block; lengths and gaps in 32 bytes.
inline void asc_copy_l12ub(__ubuf__ void* dst, __cbuf__ void* src, uint8_t sub_blockid,
                           uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                           uint16_t dst_gap) {
    using namespace asc_emu;
    CopyL1ToUb i;
    i.src = offset_of(src);
    i.dst = offset_of(dst);
    i.count = n_burst;
    i.bytes = len_burst * 32u;
    i.src_gap = src_gap * 32u;
    i.dst_gap = dst_gap * 32u;
    i.sub_block = sub_blockid;
    issue(i);
}
ASC_EMU_SYNC_TWIN(asc_copy_l12ub)
