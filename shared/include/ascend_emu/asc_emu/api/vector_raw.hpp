// Compiler-level names below the C API (ascend_c_vector.md section 15): arithmetic, conversions,
// lane movement. The last argument says what inactive lanes become: zero, or (MODE_MERGING) what
// they were. Loads and stores are in vector_raw_memory.hpp.
#pragma once

#include "asc_emu/api/vector_arith.hpp"
#include "asc_emu/api/vector_convert.hpp"
#include "asc_emu/api/vector_float.hpp"
#include "asc_emu/api/vector_gather.hpp"
#include "asc_emu/api/vector_logic.hpp"
#include "asc_emu/api/vector_mask.hpp"
#include "asc_emu/api/vector_permute.hpp"
#include "asc_emu/api/vector_reduce.hpp"
#include "asc_emu/api/vector_select.hpp"
#include "asc_emu/api/vector_squeeze.hpp"

namespace asc_emu {

template <uint32_t kMode>
using Mode = Constant<ModeKind, kMode>;
constexpr uint32_t kMerging = 1, kZeroing = 2;

// `result` has zeros in inactive lanes of W bytes.
template <uint32_t kMode, uint32_t W, class T>
ASC_EMU_INLINE void finish(VectorRegister<T>& dst, const VectorRegister<T>& result,
                           const MaskRegister& mask) {
    if constexpr (kMode == kMerging) {
        ASC_EMU_EACH_CHUNK(
            k, dst.part[k] = select_lanes<W>(mask.chunk(k), result.part[k], dst.part[k]))
        ASC_EMU_SAME_STAMP(dst, result);
    } else {
        dst = result;
    }
}

// First control of a kind in a list, or `otherwise`.
template <class Kind, uint32_t kOtherwise>
constexpr uint32_t control() {
    return kOtherwise;
}
template <class Kind, uint32_t kOtherwise, class OtherKind, uint32_t kValue, class... Rest>
constexpr uint32_t control(Constant<OtherKind, kValue>, Rest... rest) {
    if constexpr (std::is_same_v<Kind, OtherKind>)
        return kValue;
    else
        return control<Kind, kOtherwise>(rest...);
}

}  // namespace asc_emu

#define ASC_EMU_RAW_BINARY(raw, name)                                                              \
    template <class T, class Second, uint32_t kMode = asc_emu::kZeroing>                           \
    ASC_EMU_INLINE void raw(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a,  \
                            const Second& b, const vector_bool& mask, asc_emu::Mode<kMode> = {}) { \
        if constexpr (kMode == asc_emu::kZeroing) {                                                \
            name(dst, a, b, mask);                                                                 \
        } else {                                                                                   \
            asc_emu::VectorRegister<T> r;                                                          \
            name(r, a, b, mask);                                                                   \
            asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);                                       \
        }                                                                                          \
    }
ASC_EMU_RAW_BINARY(vadd, asc_add)
ASC_EMU_RAW_BINARY(vsub, asc_sub)
ASC_EMU_RAW_BINARY(vmul, asc_mul)
ASC_EMU_RAW_BINARY(vdiv, asc_div)
ASC_EMU_RAW_BINARY(vmax, asc_max)
ASC_EMU_RAW_BINARY(vmin, asc_min)
ASC_EMU_RAW_BINARY(vand, asc_and)
ASC_EMU_RAW_BINARY(vor, asc_or)
ASC_EMU_RAW_BINARY(vxor, asc_xor)
ASC_EMU_RAW_BINARY(vshl, asc_shiftleft)
ASC_EMU_RAW_BINARY(vshr, asc_shiftright)
ASC_EMU_RAW_BINARY(vabsdif, asc_abs_sub)
ASC_EMU_RAW_BINARY(vprelu, asc_prelu)
ASC_EMU_RAW_BINARY(vlrelu, asc_leakyrelu)
ASC_EMU_RAW_BINARY(vadds, asc_add_scalar)
ASC_EMU_RAW_BINARY(vmuls, asc_mul_scalar)
ASC_EMU_RAW_BINARY(vmaxs, asc_max_scalar)
ASC_EMU_RAW_BINARY(vmins, asc_min_scalar)
ASC_EMU_RAW_BINARY(vshls, asc_shiftleft_scalar)
ASC_EMU_RAW_BINARY(vshrs, asc_shiftright_scalar)
#undef ASC_EMU_RAW_BINARY

#define ASC_EMU_RAW_UNARY(raw, name)                                                              \
    template <class T, uint32_t kMode = asc_emu::kZeroing>                                        \
    ASC_EMU_INLINE void raw(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a, \
                            const vector_bool& mask, asc_emu::Mode<kMode> = {}) {                 \
        if constexpr (kMode == asc_emu::kZeroing) {                                               \
            name(dst, a, mask);                                                                   \
        } else {                                                                                  \
            asc_emu::VectorRegister<T> r;                                                         \
            name(r, a, mask);                                                                     \
            asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);                                      \
        }                                                                                         \
    }
ASC_EMU_RAW_UNARY(vabs, asc_abs)
ASC_EMU_RAW_UNARY(vneg, asc_neg)
ASC_EMU_RAW_UNARY(vrelu, asc_relu)
ASC_EMU_RAW_UNARY(vnot, asc_not)
ASC_EMU_RAW_UNARY(vexp, asc_exp)
ASC_EMU_RAW_UNARY(vln, asc_ln)
ASC_EMU_RAW_UNARY(vsqrt, asc_sqrt)
#undef ASC_EMU_RAW_UNARY

// d = a * b + d, d = d * a + b, d = a * scalar + d
template <class T, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vmula(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a,
                          const asc_emu::VectorRegister<T>& b, const vector_bool& mask,
                          asc_emu::Mode<kMode> = {}) {
    static_assert(asc_emu::is_multiplied<T>,
                  "vmula takes vectors of integers of 2 or 4 bytes, half, bf16 or float");
    asc_emu::VectorRegister<T> r;
    asc_emu::multiply_add(r, a, b, dst, mask);
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}
template <class T, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vmadd(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a,
                          const asc_emu::VectorRegister<T>& b, const vector_bool& mask,
                          asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r = dst;
    asc_madd(r, a, b, mask);
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}
template <class T, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vaxpy(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a,
                          std::type_identity_t<T> value, const vector_bool& mask,
                          asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r = dst;
    asc_axpy(r, a, value, mask);
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}

// Conversions: rounding, saturation, part and mode in any order.
template <class D, class S, class... Controls>
ASC_EMU_INLINE void vcvt(asc_emu::VectorRegister<D>& dst, const asc_emu::VectorRegister<S>& src,
                         const vector_bool& mask, Controls... controls) {
    using namespace asc_emu;
    constexpr auto kRound = static_cast<Round>(control<RoundKind, 0>(Controls{}...));
    constexpr bool kSat = control<SaturationKind, 0>(Controls{}...) != 0;
    constexpr uint32_t kPart = control<PartKind, 0>(Controls{}...);
    constexpr uint32_t kMode = control<ModeKind, kZeroing>(Controls{}...);
    (void)std::initializer_list<int>{((void)controls, 0)...};
    VectorRegister<D> r;
    convert<D, S, kRound, kSat, kPart>(r, src, mask);
    finish<kMode, kConvertMaskWidth<D, S>>(dst, r, mask);
}
// To integer-valued floats.
template <class T, uint32_t kRound, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vtrc(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                         asc_emu::Constant<asc_emu::RoundKind, kRound>, const vector_bool& mask,
                         asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r;
    asc_emu::unary(r, src, mask, asc_emu::RoundTo{static_cast<asc_emu::Round>(kRound)});
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}

// Reductions; merging keeps what the result does not fill.
#define ASC_EMU_RAW_REDUCE(raw, name, lanes)                                                \
    template <class D, class S, uint32_t kMode = asc_emu::kZeroing>                         \
    ASC_EMU_INLINE void raw(asc_emu::VectorRegister<D>& dst,                                \
                            const asc_emu::VectorRegister<S>& src, const vector_bool& mask, \
                            asc_emu::Mode<kMode> = {}) {                                    \
        asc_emu::VectorRegister<D> r;                                                       \
        name(r, src, mask);                                                                 \
        asc_emu::finish<kMode, sizeof(D)>(dst, r, asc_emu::first_lanes<sizeof(D)>(lanes));  \
    }
ASC_EMU_RAW_REDUCE(vcadd, asc_reduce_sum, 1)
ASC_EMU_RAW_REDUCE(vcmax, asc_reduce_max, 2)
ASC_EMU_RAW_REDUCE(vcmin, asc_reduce_min, 2)
ASC_EMU_RAW_REDUCE(vcgadd, asc_reduce_sum_datablock, 8)
ASC_EMU_RAW_REDUCE(vcgmax, asc_reduce_max_datablock, 8)
ASC_EMU_RAW_REDUCE(vcgmin, asc_reduce_min_datablock, 8)
ASC_EMU_RAW_REDUCE(vcpadd, asc_pair_reduce_sum, (asc_emu::VectorRegister<D>::kLanes / 2))
#undef ASC_EMU_RAW_REDUCE

// Comparisons, selection, broadcasts -------------------------------------------------------------
#define ASC_EMU_RAW_COMPARE(op)                                                                   \
    template <class T>                                                                            \
    ASC_EMU_INLINE void vcmp_##op(vector_bool& dst, const asc_emu::VectorRegister<T>& a,          \
                                  const asc_emu::VectorRegister<T>& b, const vector_bool& mask) { \
        asc_##op(dst, a, b, mask);                                                                \
    }                                                                                             \
    template <class T>                                                                            \
    ASC_EMU_INLINE void vcmps_##op(vector_bool& dst, const asc_emu::VectorRegister<T>& a,         \
                                   std::type_identity_t<T> value, const vector_bool& mask) {      \
        asc_##op##_scalar(dst, a, value, mask);                                                   \
    }
ASC_EMU_RAW_COMPARE(eq)
ASC_EMU_RAW_COMPARE(ne)
ASC_EMU_RAW_COMPARE(gt)
ASC_EMU_RAW_COMPARE(ge)
ASC_EMU_RAW_COMPARE(lt)
ASC_EMU_RAW_COMPARE(le)
#undef ASC_EMU_RAW_COMPARE
template <class T>
ASC_EMU_INLINE void vsel(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& a,
                         const asc_emu::VectorRegister<T>& b, const vector_bool& mask) {
    asc_select(dst, a, b, mask);
}
template <class T, class I>
inline void vselr(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                  const asc_emu::VectorRegister<I>& index) {
    asc_gather(dst, src, index);
}
template <class T, uint32_t kMode = asc_emu::kMerging>
ASC_EMU_INLINE void vmov(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                         const vector_bool& mask, asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r;
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::logic, dst, src, mask);
    asc_emu::zeroing<sizeof(T)>(r, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return src.part[k]; });
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}
template <class T, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vdup(asc_emu::VectorRegister<T>& dst, std::type_identity_t<T> value,
                         const vector_bool& mask, asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r;
    asc_duplicate_scalar(r, value, mask);
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}
template <class T, uint32_t kPlace, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vdup(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                         const vector_bool& mask, asc_emu::Constant<asc_emu::PlaceKind, kPlace>,
                         asc_emu::Mode<kMode> = {}) {
    asc_emu::VectorRegister<T> r;
    if constexpr (kPlace == POS_LOWEST)
        asc_duplicate(r, src, mask);
    else
        asc_duplicate_highest(r, src, mask);
    asc_emu::finish<kMode, sizeof(T)>(dst, r, mask);
}
template <class T>
ASC_EMU_INLINE void vbr(asc_emu::VectorRegister<T>& dst, std::type_identity_t<T> value) {
    asc_duplicate_scalar(dst, value);
}
template <class T, uint32_t kOrder = 0>
ASC_EMU_INLINE void vci(asc_emu::VectorRegister<T>& dst, std::type_identity_t<T> value,
                        asc_emu::Constant<asc_emu::OrderKind, kOrder> = {}) {
    asc_emu::ramp(dst, value, kOrder == DEC_ORDER);
}

// Lane movement ----------------------------------------------------------------------------------
template <class T>
ASC_EMU_INLINE void vintlv(asc_emu::VectorRegister<T>& dst0, asc_emu::VectorRegister<T>& dst1,
                           const asc_emu::VectorRegister<T>& a,
                           const asc_emu::VectorRegister<T>& b) {
    asc_intlv(dst0, dst1, a, b);
}
template <class T>
ASC_EMU_INLINE void vdintlv(asc_emu::VectorRegister<T>& dst0, asc_emu::VectorRegister<T>& dst1,
                            const asc_emu::VectorRegister<T>& a,
                            const asc_emu::VectorRegister<T>& b) {
    asc_deintlv(dst0, dst1, a, b);
}
template <class D, class S, uint32_t kHalf, uint32_t kMode = asc_emu::kZeroing>
ASC_EMU_INLINE void vpack(asc_emu::VectorRegister<D>& dst, const asc_emu::VectorRegister<S>& src,
                          asc_emu::Constant<asc_emu::HalfKind, kHalf>, asc_emu::Mode<kMode> = {}) {
    asc_emu::pack_lanes(dst, src, kHalf);
}
template <class D, class S, uint32_t kHalf>
ASC_EMU_INLINE void vunpack(asc_emu::VectorRegister<D>& dst, const asc_emu::VectorRegister<S>& src,
                            asc_emu::Constant<asc_emu::HalfKind, kHalf>) {
    asc_emu::unpack_lanes(dst, src, kHalf);
}
template <class T, uint32_t kStatus = 0>
inline void vsqz(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                 const vector_bool& mask, asc_emu::Constant<asc_emu::StatusKind, kStatus> = {}) {
    if constexpr (kStatus == MODE_STORED)
        asc_squeeze_with_status(dst, src, mask);
    else
        asc_squeeze(dst, src, mask);
}
template <class T>
inline void vusqz(asc_emu::VectorRegister<T>& dst, const vector_bool& mask) {
    asc_unsqueeze(dst, mask);
}
template <uint32_t kBin>
inline void dhistv2(vector_uint16_t& dst, const vector_uint8_t& src, const vector_bool& mask,
                    asc_emu::Constant<asc_emu::BinKind, kBin>) {
    asc_emu::histogram<128 * kBin, false>(dst, src, mask);
}
template <uint32_t kBin>
inline void chistv2(vector_uint16_t& dst, const vector_uint8_t& src, const vector_bool& mask,
                    asc_emu::Constant<asc_emu::BinKind, kBin>) {
    asc_emu::histogram<128 * kBin, true>(dst, src, mask);
}

// Carries, products, difference of exponents -----------------------------------------------------
template <class T>
inline void vaddc(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                  const asc_emu::VectorRegister<T>& a, const asc_emu::VectorRegister<T>& b,
                  const vector_bool& mask) {
    asc_add(carry, dst, a, b, mask);
}
template <class T>
inline void vsubc(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                  const asc_emu::VectorRegister<T>& a, const asc_emu::VectorRegister<T>& b,
                  const vector_bool& mask) {
    asc_sub(carry, dst, a, b, mask);
}
template <class T>
inline void vaddcs(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                   const asc_emu::VectorRegister<T>& a, const asc_emu::VectorRegister<T>& b,
                   const vector_bool& carry_in, const vector_bool& mask) {
    asc_addc(carry, dst, a, b, carry_in, mask);
}
template <class T>
inline void vsubcs(vector_bool& carry, asc_emu::VectorRegister<T>& dst,
                   const asc_emu::VectorRegister<T>& a, const asc_emu::VectorRegister<T>& b,
                   const vector_bool& carry_in, const vector_bool& mask) {
    asc_subc(carry, dst, a, b, carry_in, mask);
}
template <class T>
inline void vmull(asc_emu::VectorRegister<T>& low, asc_emu::VectorRegister<T>& high,
                  const asc_emu::VectorRegister<T>& a, const asc_emu::VectorRegister<T>& b,
                  const vector_bool& mask) {
    asc_mull(low, high, a, b, mask);
}
template <class T, uint32_t kPart = 0>
inline ASC_EMU_FORCED void vexpdif(vector_float& dst, const asc_emu::VectorRegister<T>& a,
                                   const asc_emu::VectorRegister<T>& b, const vector_bool& mask,
                                   asc_emu::Constant<asc_emu::PartKind, kPart> = {}) {
    asc_emu::exp_of_difference<kPart>(dst, a, b, mask);
}
