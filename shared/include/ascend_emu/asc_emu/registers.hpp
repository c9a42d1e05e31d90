// Configuration registers of one core (ascend_c_cube.md section 15). All persist until rewritten; an
// instruction carries copies of those it consumes, taken when it is issued.
#pragma once

#include <cstdint>

namespace asc_emu {

// Two outer loops of the burst copies; strides in bytes.
struct LoopRegisters {
    uint32_t size1 = 1, size2 = 1;
    uint64_t src_stride1 = 0, src_stride2 = 0;
    uint64_t dst_stride1 = 0, dst_stride2 = 0;
};

enum class AtomicOp : uint8_t { none, add, max, min };

// CTRL bits (ascend_c_cube.md section 15).
enum CtrlBit : uint8_t {
    kCtrlHif8 = 45,
    kCtrlHf32 = 46,
    kCtrlHf32TiesAway = 47,
    kCtrlKeepInfNan = 48,
    kCtrlUbScalarCached = 49,
    kCtrlE4m3KeepNan = 50,
    kCtrlMmadDirectionN = 51,
    kCtrlIntSaturate = 53,
    kCtrlMaskCounter = 56,
    kCtrlCastTruncate = 59,
    kCtrlCastTruncateEnable = 60,
};

struct Registers {
    uint64_t ctrl = 1ull << kCtrlKeepInfNan;   // INF/NaN mode (ascend_c_vector.md section 8.5)
    uint64_t gm2l1_nz_para = 0;      // matrix_num, n stride, c0 stride, matrix stride: 16 bits each
    LoopRegisters gm2l1_loop, gm2ub_loop, ub2gm_loop;
    uint32_t gm2l1_pad = 0;
    uint64_t copy_pad_value = 0;
    bool copy_pad_set = false;       // by this kernel
    uint64_t loop3_para = 0;         // num, source matrix stride, destination matrix stride
    uint8_t loop3_written = 0;
    uint64_t channel_para = 0;       // row pitch of NZ2DN in [63:48]
    uint64_t quant_pre = 0, quant_post = 0;
    uint64_t fpc = 0;                // relu address [7:0], quant address [15:8] (128 B), unit flag [63]
    uint64_t relu_alpha = 0;
    float lrelu_alpha = 0;
    AtomicOp atomic_op = AtomicOp::none;
    uint8_t atomic_type = 0;         // Dtype of the armed atomic
    uint64_t fmatrix[2] = {0, 0}, l3d_rpt[2] = {0, 0}, l3d_padding[2] = {0, 0};
    uint64_t status = 0;             // sticky bits of asc_get_status
    uint64_t vector_mask[2] = {~0ull, ~0ull};
    uint64_t ar = 0, ar_stored = 0;  // bytes that squeezes produced, and those stored of them
    bool ar_squeezed = false;        // a squeeze has not been stored yet
    // Strides and counts of the n-dimensional UB copy.
    uint64_t ndim_dst_stride[5] = {}, ndim_src_stride[5] = {};
    uint64_t ndim_pad_count = 0, ndim_pad_value = 0;
};

}  // namespace asc_emu
