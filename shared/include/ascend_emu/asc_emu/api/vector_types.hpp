// Names of the register types (ascend_c_vector.md section 4), and of the constants that both API
// generations pass as arguments (sections 9.2 and 15): distinct empty types with a constant value.
#pragma once

#include "asc_emu/vector/registers.hpp"

using vector_int8_t = asc_emu::VectorRegister<int8_t>;
using vector_uint8_t = asc_emu::VectorRegister<uint8_t>;
using vector_int16_t = asc_emu::VectorRegister<int16_t>;
using vector_uint16_t = asc_emu::VectorRegister<uint16_t>;
using vector_int32_t = asc_emu::VectorRegister<int32_t>;
using vector_uint32_t = asc_emu::VectorRegister<uint32_t>;
using vector_int64_t = asc_emu::VectorRegister<int64_t>;
using vector_uint64_t = asc_emu::VectorRegister<uint64_t>;
using vector_half = asc_emu::VectorRegister<half>;
using vector_bfloat16_t = asc_emu::VectorRegister<bfloat16_t>;
using vector_float = asc_emu::VectorRegister<float>;
using vector_fp8_e4m3fn_t = asc_emu::VectorRegister<fp8_e4m3fn_t>;
using vector_fp8_e5m2_t = asc_emu::VectorRegister<fp8_e5m2_t>;
using vector_fp8_e8m0_t = asc_emu::VectorRegister<fp8_e8m0_t>;
using vector_hifloat8_t = asc_emu::VectorRegister<hifloat8_t>;
using vector_fp4x2_e2m1_t = asc_emu::VectorRegister<fp4x2_e2m1_t>;
using vector_fp4x2_e1m2_t = asc_emu::VectorRegister<fp4x2_e1m2_t>;
using vector_int4x2_t = asc_emu::VectorRegister<int4x2_t>;
using vector_bool = asc_emu::MaskRegister;

// Compiler spellings of the same registers.
using vector_s8 = vector_int8_t;
using vector_u8 = vector_uint8_t;
using vector_s16 = vector_int16_t;
using vector_u16 = vector_uint16_t;
using vector_s32 = vector_int32_t;
using vector_u32 = vector_uint32_t;
using vector_s64 = vector_int64_t;
using vector_u64 = vector_uint64_t;
using vector_f16 = vector_half;
using vector_bf16 = vector_bfloat16_t;
using vector_f32 = vector_float;
using vector_f8e4m3 = vector_fp8_e4m3fn_t;
using vector_f8e5m2 = vector_fp8_e5m2_t;
using vector_f8e8m0 = vector_fp8_e8m0_t;
using vector_hif8 = vector_hifloat8_t;
using vector_f4e2m1x2 = vector_fp4x2_e2m1_t;
using vector_f4e1m2x2 = vector_fp4x2_e1m2_t;
using vector_s4x2 = vector_int4x2_t;

namespace asc_emu {

namespace reg {
// A constant as a type; the kind keeps constants of different meaning apart.
template <class Kind, uint32_t kValue>
struct Constant {
    static constexpr uint32_t value = kValue;
    constexpr operator uint32_t() const { return kValue; }
};
}  // namespace reg
using reg::Constant;
struct ModeKind;
struct PartKind;
struct RoundKind;
struct SaturationKind;
struct DistKind;
struct HalfKind;
struct PlaceKind;
struct BinKind;
struct OrderKind;
struct PostKind;
struct StatusKind;
struct SprKind;

enum class Round : uint8_t { rn, rna, rd, ru, rz, ro, rh };

}  // namespace asc_emu

#define ASC_EMU_CONSTANT(kind, name, value) \
    inline constexpr asc_emu::Constant<asc_emu::kind##Kind, value> name{};

// Inactive lanes of raw intrinsics.
ASC_EMU_CONSTANT(Mode, MODE_UNKNOWN, 0)
ASC_EMU_CONSTANT(Mode, MODE_MERGING, 1)
ASC_EMU_CONSTANT(Mode, MODE_ZEROING, 2)
// Which of the narrow lanes of a wide one.
ASC_EMU_CONSTANT(Part, PART_EVEN, 0)
ASC_EMU_CONSTANT(Part, PART_ODD, 1)
ASC_EMU_CONSTANT(Part, PART_P0, 0)
ASC_EMU_CONSTANT(Part, PART_P1, 1)
ASC_EMU_CONSTANT(Part, PART_P2, 2)
ASC_EMU_CONSTANT(Part, PART_P3, 3)
ASC_EMU_CONSTANT(Part, ASC_POSITION_EVEN, 0)
ASC_EMU_CONSTANT(Part, ASC_POSITION_ODD, 1)
ASC_EMU_CONSTANT(Part, ASC_DISPERSE_FIRST_QUARTER, 0)
ASC_EMU_CONSTANT(Part, ASC_DISPERSE_SECOND_QUARTER, 1)
ASC_EMU_CONSTANT(Part, ASC_DISPERSE_THIRD_QUARTER, 2)
ASC_EMU_CONSTANT(Part, ASC_DISPERSE_FOURTH_QUARTER, 3)
// Rounding; values are asc_emu::Round.
ASC_EMU_CONSTANT(Round, ROUND_R, 0)
ASC_EMU_CONSTANT(Round, ROUND_A, 1)
ASC_EMU_CONSTANT(Round, ROUND_F, 2)
ASC_EMU_CONSTANT(Round, ROUND_C, 3)
ASC_EMU_CONSTANT(Round, ROUND_Z, 4)
ASC_EMU_CONSTANT(Round, ROUND_O, 5)
ASC_EMU_CONSTANT(Round, ROUND_H, 6)
ASC_EMU_CONSTANT(Saturation, RS_DISABLE, 0)
ASC_EMU_CONSTANT(Saturation, RS_ENABLE, 1)
// Halves, places and orders of lane movement.
ASC_EMU_CONSTANT(Half, LOWER, 0)
ASC_EMU_CONSTANT(Half, HIGHER, 1)
ASC_EMU_CONSTANT(Place, POS_LOWEST, 0)
ASC_EMU_CONSTANT(Place, POS_HIGHEST, 1)
ASC_EMU_CONSTANT(Bin, Bin_N0, 0)
ASC_EMU_CONSTANT(Bin, Bin_N1, 1)
ASC_EMU_CONSTANT(Order, INC_ORDER, 0)
ASC_EMU_CONSTANT(Order, DEC_ORDER, 1)
ASC_EMU_CONSTANT(Post, NO_POST_UPDATE, 0)
ASC_EMU_CONSTANT(Post, POST_UPDATE, 1)
ASC_EMU_CONSTANT(Status, MODE_NO_STORED, 0)
ASC_EMU_CONSTANT(Status, MODE_STORED, 1)
ASC_EMU_CONSTANT(Spr, SPR_AR, 0)
