// Matrix multiply-add and its mode switches (ascend_c_cube.md section 10).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/mmad.hpp"

namespace asc_emu {

// Operand pairs of asc_mmad and asc_mmad_mx, and the accumulator type.
template <class C, class A, class B>
constexpr bool is_mmad_pair() {
    constexpr Dtype a = dtype_of<A>(), b = dtype_of<B>(), c = dtype_of<C>();
    constexpr bool fp8 =
        (a == Dtype::e4m3 || a == Dtype::e5m2) && (b == Dtype::e4m3 || b == Dtype::e5m2);
    if (a == Dtype::i8 && b == Dtype::i8) return c == Dtype::i32;
    if (c != Dtype::f32) return false;
    return fp8 ||
           (a == b && (a == Dtype::f16 || a == Dtype::bf16 || a == Dtype::f32 || a == Dtype::hif8));
}
template <class A, class B>
constexpr bool is_mx_pair() {
    constexpr Dtype a = dtype_of<A>(), b = dtype_of<B>();
    return ((a == Dtype::e4m3 || a == Dtype::e5m2) && (b == Dtype::e4m3 || b == Dtype::e5m2)) ||
           ((a == Dtype::e2m1 || a == Dtype::e1m2) && (b == Dtype::e2m1 || b == Dtype::e1m2));
}

// BT address in the upper half of the accumulator's address; a host address gives what was added to
// it.
inline uint32_t bias_address(const void* c) {
    uint64_t address = reinterpret_cast<uintptr_t>(c);
    const uint64_t base = reinterpret_cast<uintptr_t>(asc_emu_base(static_cast<int>(Space::l0c)));
    if (address >= base) address -= base;
    return static_cast<uint32_t>(address >> 32);
}

template <class C, class A, class B>
inline void issue_mmad(const C* c, const A* a, const B* b, uint16_t m, uint16_t k, uint16_t n,
                       uint8_t unit_flag, bool disable_gemv, MmadInit init, uint32_t bt, bool mx) {
    const Registers& r = registers();
    Mmad i;
    i.a = offset_of(a);
    i.b = offset_of(b);
    i.c = offset_of(c);
    i.bt = bt;
    i.m = m;
    i.k = k;
    i.n = n;
    i.a_type = dtype_of<A>();
    i.b_type = dtype_of<B>();
    i.c_type = dtype_of<C>();
    i.init = init;
    i.unit_flag = unit_flag;
    i.gemv = !disable_gemv && m == 1;
    i.mx = mx;
    i.hf32 = ctrl_bit(r, kCtrlHf32);
    i.hf32_ties_away = ctrl_bit(r, kCtrlHf32TiesAway);
    i.hif8 = ctrl_bit(r, kCtrlHif8);
    issue(i);
}

inline MmadInit mmad_init(bool source_is_bias, bool init_zero) {
    return init_zero ? MmadInit::zero : source_is_bias ? MmadInit::bias : MmadInit::accumulate;
}

}  // namespace asc_emu

// C[m, n] = A[m, k] * B[k, n] + (c_matrix_init_val ? 0 : c_matrix_source ? bias from BT : C).
template <class C, class A, class B>
inline void asc_mmad(__cc__ C* c_matrix, __ca__ A* a_matrix, __cb__ B* b_matrix,
                     uint16_t left_height, uint16_t n_dim, uint16_t right_width,
                     asc_emu::UnitFlagMode unit_flag, bool disable_gemv, bool c_matrix_source,
                     bool c_matrix_init_val) {
    static_assert(
        asc_emu::is_mmad_pair<C, A, B>(),
        "asc_mmad multiplies half, bfloat16_t, float or hifloat8_t with its own kind, or two fp8 "
        "types, into float; and int8_t into int32_t");
    const auto init = asc_emu::mmad_init(c_matrix_source, c_matrix_init_val);
    const uint32_t bt = init == asc_emu::MmadInit::bias ? asc_emu::bias_address(c_matrix) : 0;
    asc_emu::issue_mmad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width,
                        unit_flag.value, disable_gemv, init, bt, false);
}
// C = A * B + bias, one row of right_width 4-byte elements at BT byte address `bias`.
template <class C, class A, class B>
inline void asc_mmad(__cc__ C* c_matrix, __ca__ A* a_matrix, __cb__ B* b_matrix, uint64_t bias,
                     uint16_t left_height, uint16_t n_dim, uint16_t right_width,
                     asc_emu::UnitFlagMode unit_flag, bool disable_gemv) {
    static_assert(asc_emu::is_mmad_pair<C, A, B>(),
                  "see the ten-argument asc_mmad for the operand types");
    asc_emu::issue_mmad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width,
                        unit_flag.value, disable_gemv, asc_emu::MmadInit::bias,
                        static_cast<uint32_t>(bias & asc_emu::kOffsetMask), false);
}
ASC_EMU_SYNC_TWIN(asc_mmad)

// The same with one e8m0 scale for 32 elements along K, read from the scale memories at operand
// / 16.
template <class A, class B>
inline void asc_mmad_mx(__cc__ float* c_matrix, __ca__ A* a_matrix, __cb__ B* b_matrix,
                        uint16_t left_height, uint16_t n_dim, uint16_t right_width,
                        asc_emu::UnitFlagMode unit_flag, bool disable_gemv, bool c_matrix_source,
                        bool c_matrix_init_val) {
    static_assert(asc_emu::is_mx_pair<A, B>(), "asc_mmad_mx multiplies two fp8 or two fp4 types");
    const auto init = asc_emu::mmad_init(c_matrix_source, c_matrix_init_val);
    const uint32_t bt = init == asc_emu::MmadInit::bias ? asc_emu::bias_address(c_matrix) : 0;
    asc_emu::issue_mmad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width,
                        unit_flag.value, disable_gemv, init, bt, true);
}
template <class A, class B>
inline void asc_mmad_mx(__cc__ float* c_matrix, __ca__ A* a_matrix, __cb__ B* b_matrix,
                        uint64_t bias, uint16_t left_height, uint16_t n_dim, uint16_t right_width,
                        asc_emu::UnitFlagMode unit_flag, bool disable_gemv) {
    static_assert(asc_emu::is_mx_pair<A, B>(), "asc_mmad_mx multiplies two fp8 or two fp4 types");
    asc_emu::issue_mmad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width,
                        unit_flag.value, disable_gemv, asc_emu::MmadInit::bias,
                        static_cast<uint32_t>(bias & asc_emu::kOffsetMask), true);
}
ASC_EMU_SYNC_TWIN(asc_mmad_mx)

// Mode switches: CTRL bits that persist -----------------------------------------------------------
inline void asc_enable_hf32() { asc_emu::set_ctrl_bit(asc_emu::kCtrlHf32, true); }
inline void asc_disable_hf32() { asc_emu::set_ctrl_bit(asc_emu::kCtrlHf32, false); }
inline void asc_set_fp32_mode() { asc_disable_hf32(); }
// NOTE: 1 is documented as "nearest toward zero" and, in the newer API, as ties away from zero; the
// newer reading is used.
inline void asc_enable_hf32_trans(uint32_t mode) {
    asc_emu::set_ctrl_bit(asc_emu::kCtrlHf32TiesAway, mode != 0);
}
inline void asc_set_hf32_round_mode(asc_hf32_round_mode mode) {
    asc_emu::set_ctrl_bit(asc_emu::kCtrlHf32TiesAway, mode == asc_hf32_round_mode::NEAREST_AWAY);
}
inline void asc_enable_hif8() { asc_emu::set_ctrl_bit(asc_emu::kCtrlHif8, true); }
inline void asc_disable_hif8() { asc_emu::set_ctrl_bit(asc_emu::kCtrlHif8, false); }
inline void asc_enable_fp8() { asc_disable_hif8(); }
// The direction changes speed only.
inline void asc_set_mmad_direction_m() {
    asc_emu::set_ctrl_bit(asc_emu::kCtrlMmadDirectionN, false);
}
inline void asc_set_mmad_direction_n() {
    asc_emu::set_ctrl_bit(asc_emu::kCtrlMmadDirectionN, true);
}
