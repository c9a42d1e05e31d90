// Fixpipe copies from L0C and their registers (ascend_c_cube.md section 9).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/fixpipe.hpp"

// Registers --------------------------------------------------------------------------------------
// LOOP3: matrices, source distance in 64 bytes, destination distance in elements.
inline void asc_set_l0c2gm_nz2nd(uint64_t nd_num, uint64_t src_nd_stride, uint64_t dst_nd_stride) {
    auto& r = asc_emu::registers();
    r.loop3_para = (nd_num & 0xffff) | (src_nd_stride & 0xffff) << 16 | dst_nd_stride << 32;
    r.loop3_written = 1;
}
inline void asc_set_l0c_copy_nz_para(uint64_t nd_num, uint64_t src_nd_stride,
                                     uint64_t dst_nd_stride) {
    asc_set_l0c2gm_nz2nd(nd_num, src_nd_stride, dst_nd_stride);
}
// Row pitch of NZ2DN in [63:48], 64 bytes.
inline void asc_set_l0c2gm_channel_para(uint64_t raw) { asc_emu::registers().channel_para = raw; }
inline void asc_set_l0c_copy_channel_para(uint16_t src_row_pitch) {
    asc_set_l0c2gm_channel_para(static_cast<uint64_t>(src_row_pitch) << 48);
}
// FB addresses of the vector parameters in 128-byte units.
inline void asc_set_l0c2gm_config(uint64_t relu_pre, uint64_t quant_pre, bool enable_unit_flag) {
    asc_emu::registers().fpc =
        (relu_pre & 0xff) | (quant_pre & 0xff) << 8 | static_cast<uint64_t>(enable_unit_flag) << 63;
}
inline void asc_set_l0c_copy_config(uint64_t relu_pre, uint64_t quant_pre, bool enable_unit_flag) {
    asc_set_l0c2gm_config(relu_pre, quant_pre, enable_unit_flag);
}
// M1 in [31:13], offset in [45:37], signed result in [46].
inline void asc_set_l0c_copy_prequant(uint64_t config) { asc_emu::registers().quant_pre = config; }
inline void asc_set_l0c_copy_prequant(float scale, float offset, bool sign) {
    const auto offset_bits = static_cast<uint64_t>(static_cast<int64_t>(offset)) & 0x1ff;
    asc_set_l0c_copy_prequant((asc_emu::float_bits(scale) & 0xffffe000u) | offset_bits << 37 |
                              static_cast<uint64_t>(sign) << 46);
}
inline void asc_set_l0c2gm_quant_post(uint64_t config) { asc_emu::registers().quant_post = config; }
inline void asc_set_l0c2gm_relu_alpha(uint64_t raw) { asc_emu::registers().relu_alpha = raw; }
inline void asc_set_l0c_copy_relu_alpha(float alpha) {
    asc_set_l0c2gm_relu_alpha(asc_emu::float_bits(alpha) & 0xffffe000u);
}
inline void asc_set_l0c2gm_lrelu_alpha(const float& alpha) {
    asc_emu::registers().lrelu_alpha = alpha;
}
inline void asc_set_l0c2gm_lrelu_alpha(const half& alpha) {
    asc_emu::registers().lrelu_alpha = alpha;
}
inline void asc_set_l0c_copy_lrelu_alpha(const float& alpha) { asc_set_l0c2gm_lrelu_alpha(alpha); }
inline void asc_set_l0c_copy_lrelu_alpha(const half& alpha) { asc_set_l0c2gm_lrelu_alpha(alpha); }

namespace asc_emu {

struct FixpipeShape {
    uint16_t n, m;
    uint32_t dst_stride;
    uint16_t src_stride;
};
struct FixpipeModes {
    uint8_t unit_flag, quant, relu, clip_relu;
    bool channel_split, nz2nd, nz2dn;
    bool post_stage;
};

template <class Insn, class D, class S>
inline Insn make_fixpipe(const D* dst, const S* src, FixpipeShape shape, FixpipeModes modes) {
    static_assert(std::is_same_v<S, float> || std::is_same_v<S, int32_t>,
                  "L0C holds float or int32_t elements");
    static_assert(dtype_of<D>() != Dtype::none, "no number format of the device has this type");
    const Registers& r = registers();
    Insn i;
    i.dst = reinterpret_cast<uintptr_t>(dst);
    i.src = offset_of(src);
    i.n = shape.n;
    i.m = shape.m;
    i.dst_stride = shape.dst_stride;
    i.src_stride = shape.src_stride;
    i.num = static_cast<uint16_t>(r.loop3_para);
    i.src_matrix_stride = static_cast<uint16_t>(r.loop3_para >> 16);
    i.dst_matrix_stride = static_cast<uint32_t>(r.loop3_para >> 32);
    i.row_pitch = static_cast<uint16_t>(r.channel_para >> 48);
    i.quant_scalar = r.quant_pre;
    i.quant_address = static_cast<uint8_t>(r.fpc >> 8);
    i.relu_address = static_cast<uint8_t>(r.fpc);
    i.relu_alpha = r.relu_alpha;
    i.src_type = dtype_of<S>();
    i.dst_type = dtype_of<D>();
    i.quant_mode = modes.quant;
    i.relu = modes.relu;
    i.unit_flag = modes.unit_flag;
    i.nz2nd = modes.nz2nd;
    i.nz2dn = modes.nz2dn;
    i.channel_split = modes.channel_split;
    i.clip_relu = modes.clip_relu != 0;
    i.loop3_written = r.loop3_written != 0;
    i.keep_inf_nan = ctrl_bit(r, kCtrlKeepInfNan);
    i.e4m3_keep_nan = ctrl_bit(r, kCtrlE4m3KeepNan);
    i.post_stage = modes.post_stage;
    i.l2_hint = 0;
    return i;
}

template <class D, class S>
inline void issue_l0c_to_gm(const D* dst, const S* src, FixpipeShape shape, FixpipeModes modes,
                            L2Hint hint) {
    auto i = make_fixpipe<CopyL0cToGm>(dst, src, shape, modes);
    const Registers& r = registers();
    i.atomic_op = r.atomic_op;
    i.atomic_type = r.atomic_type;
    i.l2_hint = hint.value;
    issue(i);
}
template <class D, class S>
inline void issue_l0c_to_ub(const D* dst, const S* src, FixpipeShape shape, FixpipeModes modes,
                            uint8_t sub_block, uint8_t dual) {
    auto i = make_fixpipe<CopyL0cToUb>(dst, src, shape, modes);
    i.dst = offset_of(dst);
    i.sub_block = sub_block;
    i.dual = dual;
    issue(i);
}
template <class D, class S>
inline void issue_l0c_to_l1(const D* dst, const S* src, FixpipeShape shape, FixpipeModes modes) {
    auto i = make_fixpipe<CopyL0cToL1>(dst, src, shape, modes);
    i.dst = offset_of(dst);
    issue(i);
}

}  // namespace asc_emu

// L0C -> GM
// ---------------------------------------------------------------------------------------- Older
// form, 21 arguments. dst_stride in elements, src_stride in 64 bytes.
template <class D, class S>
inline void asc_copy_l0c2gm(__gm__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride, asc_emu::L2Hint l2_cache_ctl,
                            uint8_t clip_relu_pre, asc_emu::UnitFlagMode unit_flag,
                            asc_emu::QuantMode quant_pre, asc_emu::ReluMode relu_pre, bool split_en,
                            bool nz2nd_en, uint64_t quant_post, uint8_t relu_post,
                            bool clip_relu_post, uint8_t eltwise_op, bool eltwise_antq_en,
                            bool c0_pad_en, bool broadcast_en, bool nz2dn_en) {
    const bool post = quant_post || relu_post || clip_relu_post || eltwise_op || eltwise_antq_en ||
                      c0_pad_en || broadcast_en;
    asc_emu::issue_l0c_to_gm(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_pre.value, relu_pre.value, clip_relu_pre,
                              split_en, nz2nd_en, nz2dn_en, post},
                             l2_cache_ctl);
}
// Newer form, 14 arguments.
template <class D, class S>
inline void asc_copy_l0c2gm(__gm__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride, asc_emu::L2Hint l2_cache_mode,
                            asc_emu::UnitFlagMode unit_flag, asc_emu::QuantMode quant_mode,
                            asc_emu::ReluMode relu_pre, bool channel_split, bool nz2nd_en,
                            bool nz2dn_en, bool clip_relu_pre) {
    asc_emu::issue_l0c_to_gm(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_mode.value, relu_pre.value, clip_relu_pre,
                              channel_split, nz2nd_en, nz2dn_en, false},
                             l2_cache_mode);
}
ASC_EMU_SYNC_TWIN(asc_copy_l0c2gm)

// L0C -> UB
// ---------------------------------------------------------------------------------------- Older
// form, 22 arguments: dual mode before the vector core's number.
template <class D, class S>
inline void asc_copy_l0c2ub(__ubuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride, asc_emu::EnumArg dual_dst_ctl,
                            bool sub_blockid, uint8_t clip_relu_pre,
                            asc_emu::UnitFlagMode unit_flag, asc_emu::QuantMode quant_pre,
                            asc_emu::ReluMode relu_pre, bool split_en, bool nz2nd_en,
                            uint64_t quant_post, uint8_t relu_post, bool clip_relu_post,
                            uint8_t eltwise_op, bool eltwise_antq_en, bool c0_pad_en,
                            bool broadcast_en, bool nz2dn_en) {
    const bool post = quant_post || relu_post || clip_relu_post || eltwise_op || eltwise_antq_en ||
                      c0_pad_en || broadcast_en;
    asc_emu::issue_l0c_to_ub(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_pre.value, relu_pre.value, clip_relu_pre,
                              split_en, nz2nd_en, nz2dn_en, post},
                             sub_blockid, dual_dst_ctl.value);
}
// Newer form, 15 arguments: the vector core's number before the dual mode.
template <class D, class S>
inline void asc_copy_l0c2ub(__ubuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride, int8_t sub_blockid,
                            asc_emu::EnumArg dual_dst_mode, asc_emu::UnitFlagMode unit_flag,
                            asc_emu::QuantMode quant_mode, asc_emu::ReluMode relu_pre,
                            bool channel_split, bool nz2nd_en, bool nz2dn_en, bool clip_relu_pre) {
    asc_emu::issue_l0c_to_ub(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_mode.value, relu_pre.value, clip_relu_pre,
                              channel_split, nz2nd_en, nz2dn_en, false},
                             static_cast<uint8_t>(sub_blockid), dual_dst_mode.value);
}
ASC_EMU_SYNC_TWIN(asc_copy_l0c2ub)

// L0C -> L1
// ---------------------------------------------------------------------------------------- Older
// form, 18 arguments.
template <class D, class S>
inline void asc_copy_l0c2l1(__cbuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride, uint8_t clip_relu_pre,
                            asc_emu::UnitFlagMode unit_flag, asc_emu::QuantMode quant_pre,
                            asc_emu::ReluMode relu_pre, bool channel_split, bool nz2nd_en,
                            uint64_t quant_post, uint8_t relu_post, bool clip_relu_post,
                            uint8_t eltwise_op, uint8_t eltwise_antq, bool c0_pad_en) {
    const bool post =
        quant_post || relu_post || clip_relu_post || eltwise_op || eltwise_antq || c0_pad_en;
    asc_emu::issue_l0c_to_l1(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_pre.value, relu_pre.value, clip_relu_pre,
                              channel_split, nz2nd_en, false, post});
}
// Newer form, 13 arguments.
template <class D, class S>
inline void asc_copy_l0c2l1(__cbuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t dst_stride, uint16_t src_stride,
                            asc_emu::UnitFlagMode unit_flag, asc_emu::QuantMode quant_mode,
                            asc_emu::ReluMode relu_pre, bool channel_split, bool nz2nd_en,
                            bool nz2dn_en, bool clip_relu_pre) {
    asc_emu::issue_l0c_to_l1(dst, src, {n_size, m_size, dst_stride, src_stride},
                             {unit_flag.value, quant_mode.value, relu_pre.value, clip_relu_pre,
                              channel_split, nz2nd_en, nz2dn_en, false});
}
ASC_EMU_SYNC_TWIN(asc_copy_l0c2l1)
