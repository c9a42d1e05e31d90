// Conversions of registers (ascend_c_vector.md section 9): one line for each name of section 9.3.
// Of a wide and a narrow type, the narrow elements sit at the even (4:1: first) places of the wide
// lanes; the forms `_v2` to `_v4`, or a position as last argument, take the other places.
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/on_use.hpp"
#include "asc_emu/vector/conversion.hpp"

#define ASC_EMU_CONVERT_1(name, D, S, round, saturates)                                          \
    ASC_EMU_ON_USE                                                                               \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<D>& dst,                             \
                                    const asc_emu::VectorRegister<S>& src,                       \
                                    const vector_bool& mask) {                                   \
        asc_emu::convert<D, S, asc_emu::Round::round, saturates, 0>(dst, src, mask);             \
    }                                                                                            \
    ASC_EMU_ON_USE                                                                               \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<D> name(const asc_emu::VectorRegister<S>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<D> dst;                                                          \
        name(dst, src, mask);                                                                    \
        return dst;                                                                              \
    }
// Part `part` under another name.
#define ASC_EMU_CONVERT_PART(name, part, D, S, round, saturates)                        \
    ASC_EMU_ON_USE                                                                      \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<D>& dst,                    \
                                    const asc_emu::VectorRegister<S>& src,              \
                                    const vector_bool& mask) {                          \
        asc_emu::convert<D, S, asc_emu::Round::round, saturates, part>(dst, src, mask); \
    }
// Positions as arguments.
#define ASC_EMU_CONVERT_POSITION(name, D, S, round, saturates, parts)                    \
    template <uint32_t kPart>                                                            \
    inline ASC_EMU_FORCED void name(                                                     \
        asc_emu::VectorRegister<D>& dst, const asc_emu::VectorRegister<S>& src,          \
        const vector_bool& mask, asc_emu::Constant<asc_emu::PartKind, kPart>) {          \
        static_assert(kPart < parts, #name " has " #parts " positions");                 \
        asc_emu::convert<D, S, asc_emu::Round::round, saturates, kPart>(dst, src, mask); \
    }                                                                                    \
    template <uint32_t kPart>                                                            \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<D> name(                               \
        const asc_emu::VectorRegister<S>& src, const vector_bool& mask,                  \
        asc_emu::Constant<asc_emu::PartKind, kPart> position) {                          \
        asc_emu::VectorRegister<D> dst;                                                  \
        name(dst, src, mask, position);                                                  \
        return dst;                                                                      \
    }
#define ASC_EMU_CONVERT_2(name, D, S, round, saturates)        \
    ASC_EMU_CONVERT_1(name, D, S, round, saturates)            \
    ASC_EMU_CONVERT_PART(name##_v2, 1, D, S, round, saturates) \
    ASC_EMU_CONVERT_POSITION(name, D, S, round, saturates, 2)
#define ASC_EMU_CONVERT_4(name, D, S, round, saturates)        \
    ASC_EMU_CONVERT_1(name, D, S, round, saturates)            \
    ASC_EMU_CONVERT_PART(name##_v2, 1, D, S, round, saturates) \
    ASC_EMU_CONVERT_PART(name##_v3, 2, D, S, round, saturates) \
    ASC_EMU_CONVERT_PART(name##_v4, 3, D, S, round, saturates) \
    ASC_EMU_CONVERT_POSITION(name, D, S, round, saturates, 4)

// NOTE: one release wires asc_bfloat162half_rn to rounding up; here it rounds to nearest even.
ASC_EMU_CONVERT_2(asc_float2half_rn, half, float, rn, false)
ASC_EMU_CONVERT_2(asc_float2half_rn_sat, half, float, rn, true)
ASC_EMU_CONVERT_2(asc_float2half_rna, half, float, rna, false)
ASC_EMU_CONVERT_2(asc_float2half_rna_sat, half, float, rna, true)
ASC_EMU_CONVERT_2(asc_float2half_rd, half, float, rd, false)
ASC_EMU_CONVERT_2(asc_float2half_rd_sat, half, float, rd, true)
ASC_EMU_CONVERT_2(asc_float2half_ru, half, float, ru, false)
ASC_EMU_CONVERT_2(asc_float2half_ru_sat, half, float, ru, true)
ASC_EMU_CONVERT_2(asc_float2half_rz, half, float, rz, false)
ASC_EMU_CONVERT_2(asc_float2half_rz_sat, half, float, rz, true)
ASC_EMU_CONVERT_2(asc_float2half_ro, half, float, ro, false)
ASC_EMU_CONVERT_2(asc_float2half_ro_sat, half, float, ro, true)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rn, bfloat16_t, float, rn, false)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rn_sat, bfloat16_t, float, rn, true)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rna, bfloat16_t, float, rna, false)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rna_sat, bfloat16_t, float, rna, true)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rd, bfloat16_t, float, rd, false)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rd_sat, bfloat16_t, float, rd, true)
ASC_EMU_CONVERT_2(asc_float2bfloat16_ru, bfloat16_t, float, ru, false)
ASC_EMU_CONVERT_2(asc_float2bfloat16_ru_sat, bfloat16_t, float, ru, true)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rz, bfloat16_t, float, rz, false)
ASC_EMU_CONVERT_2(asc_float2bfloat16_rz_sat, bfloat16_t, float, rz, true)
ASC_EMU_CONVERT_2(asc_float2int16_rn, int16_t, float, rn, false)
ASC_EMU_CONVERT_2(asc_float2int16_rn_sat, int16_t, float, rn, true)
ASC_EMU_CONVERT_2(asc_float2int16_rna, int16_t, float, rna, false)
ASC_EMU_CONVERT_2(asc_float2int16_rna_sat, int16_t, float, rna, true)
ASC_EMU_CONVERT_2(asc_float2int16_rd, int16_t, float, rd, false)
ASC_EMU_CONVERT_2(asc_float2int16_rd_sat, int16_t, float, rd, true)
ASC_EMU_CONVERT_2(asc_float2int16_ru, int16_t, float, ru, false)
ASC_EMU_CONVERT_2(asc_float2int16_ru_sat, int16_t, float, ru, true)
ASC_EMU_CONVERT_2(asc_float2int16_rz, int16_t, float, rz, false)
ASC_EMU_CONVERT_2(asc_float2int16_rz_sat, int16_t, float, rz, true)
ASC_EMU_CONVERT_1(asc_float2int32_rn, int32_t, float, rn, false)
ASC_EMU_CONVERT_1(asc_float2int32_rn_sat, int32_t, float, rn, true)
ASC_EMU_CONVERT_1(asc_float2int32_rna, int32_t, float, rna, false)
ASC_EMU_CONVERT_1(asc_float2int32_rna_sat, int32_t, float, rna, true)
ASC_EMU_CONVERT_1(asc_float2int32_rd, int32_t, float, rd, false)
ASC_EMU_CONVERT_1(asc_float2int32_rd_sat, int32_t, float, rd, true)
ASC_EMU_CONVERT_1(asc_float2int32_ru, int32_t, float, ru, false)
ASC_EMU_CONVERT_1(asc_float2int32_ru_sat, int32_t, float, ru, true)
ASC_EMU_CONVERT_1(asc_float2int32_rz, int32_t, float, rz, false)
ASC_EMU_CONVERT_1(asc_float2int32_rz_sat, int32_t, float, rz, true)
ASC_EMU_CONVERT_2(asc_float2int64_rn, int64_t, float, rn, false)
ASC_EMU_CONVERT_2(asc_float2int64_rn_sat, int64_t, float, rn, true)
ASC_EMU_CONVERT_2(asc_float2int64_rna, int64_t, float, rna, false)
ASC_EMU_CONVERT_2(asc_float2int64_rna_sat, int64_t, float, rna, true)
ASC_EMU_CONVERT_2(asc_float2int64_rd, int64_t, float, rd, false)
ASC_EMU_CONVERT_2(asc_float2int64_rd_sat, int64_t, float, rd, true)
ASC_EMU_CONVERT_2(asc_float2int64_ru, int64_t, float, ru, false)
ASC_EMU_CONVERT_2(asc_float2int64_ru_sat, int64_t, float, ru, true)
ASC_EMU_CONVERT_2(asc_float2int64_rz, int64_t, float, rz, false)
ASC_EMU_CONVERT_2(asc_float2int64_rz_sat, int64_t, float, rz, true)
ASC_EMU_CONVERT_4(asc_float2e4m3_rn, fp8_e4m3fn_t, float, rn, false)
ASC_EMU_CONVERT_4(asc_float2e4m3_rn_sat, fp8_e4m3fn_t, float, rn, true)
ASC_EMU_CONVERT_4(asc_float2e5m2_rn, fp8_e5m2_t, float, rn, false)
ASC_EMU_CONVERT_4(asc_float2e5m2_rn_sat, fp8_e5m2_t, float, rn, true)
ASC_EMU_CONVERT_4(asc_float2hif8_rna, hifloat8_t, float, rna, false)
ASC_EMU_CONVERT_4(asc_float2hif8_rna_sat, hifloat8_t, float, rna, true)
ASC_EMU_CONVERT_4(asc_float2hif8_rh, hifloat8_t, float, rh, false)
ASC_EMU_CONVERT_4(asc_float2hif8_rh_sat, hifloat8_t, float, rh, true)
ASC_EMU_CONVERT_2(asc_half2float, float, half, rn, false)
ASC_EMU_CONVERT_1(asc_half2bfloat16_rn, bfloat16_t, half, rn, false)
ASC_EMU_CONVERT_1(asc_half2bfloat16_rna, bfloat16_t, half, rna, false)
ASC_EMU_CONVERT_1(asc_half2bfloat16_rd, bfloat16_t, half, rd, false)
ASC_EMU_CONVERT_1(asc_half2bfloat16_ru, bfloat16_t, half, ru, false)
ASC_EMU_CONVERT_1(asc_half2bfloat16_rz, bfloat16_t, half, rz, false)
ASC_EMU_CONVERT_2(asc_half2int32_rn, int32_t, half, rn, false)
ASC_EMU_CONVERT_2(asc_half2int32_rna, int32_t, half, rna, false)
ASC_EMU_CONVERT_2(asc_half2int32_rd, int32_t, half, rd, false)
ASC_EMU_CONVERT_2(asc_half2int32_ru, int32_t, half, ru, false)
ASC_EMU_CONVERT_2(asc_half2int32_rz, int32_t, half, rz, false)
ASC_EMU_CONVERT_1(asc_half2int16_rn, int16_t, half, rn, false)
ASC_EMU_CONVERT_1(asc_half2int16_rn_sat, int16_t, half, rn, true)
ASC_EMU_CONVERT_1(asc_half2int16_rna, int16_t, half, rna, false)
ASC_EMU_CONVERT_1(asc_half2int16_rna_sat, int16_t, half, rna, true)
ASC_EMU_CONVERT_1(asc_half2int16_rd, int16_t, half, rd, false)
ASC_EMU_CONVERT_1(asc_half2int16_rd_sat, int16_t, half, rd, true)
ASC_EMU_CONVERT_1(asc_half2int16_ru, int16_t, half, ru, false)
ASC_EMU_CONVERT_1(asc_half2int16_ru_sat, int16_t, half, ru, true)
ASC_EMU_CONVERT_1(asc_half2int16_rz, int16_t, half, rz, false)
ASC_EMU_CONVERT_1(asc_half2int16_rz_sat, int16_t, half, rz, true)
ASC_EMU_CONVERT_2(asc_half2int8_rn, int8_t, half, rn, false)
ASC_EMU_CONVERT_2(asc_half2int8_rn_sat, int8_t, half, rn, true)
ASC_EMU_CONVERT_2(asc_half2int8_rna, int8_t, half, rna, false)
ASC_EMU_CONVERT_2(asc_half2int8_rna_sat, int8_t, half, rna, true)
ASC_EMU_CONVERT_2(asc_half2int8_rd, int8_t, half, rd, false)
ASC_EMU_CONVERT_2(asc_half2int8_rd_sat, int8_t, half, rd, true)
ASC_EMU_CONVERT_2(asc_half2int8_ru, int8_t, half, ru, false)
ASC_EMU_CONVERT_2(asc_half2int8_ru_sat, int8_t, half, ru, true)
ASC_EMU_CONVERT_2(asc_half2int8_rz, int8_t, half, rz, false)
ASC_EMU_CONVERT_2(asc_half2int8_rz_sat, int8_t, half, rz, true)
ASC_EMU_CONVERT_2(asc_half2uint8_rn, uint8_t, half, rn, false)
ASC_EMU_CONVERT_2(asc_half2uint8_rn_sat, uint8_t, half, rn, true)
ASC_EMU_CONVERT_2(asc_half2uint8_rna, uint8_t, half, rna, false)
ASC_EMU_CONVERT_2(asc_half2uint8_rna_sat, uint8_t, half, rna, true)
ASC_EMU_CONVERT_2(asc_half2uint8_rd, uint8_t, half, rd, false)
ASC_EMU_CONVERT_2(asc_half2uint8_rd_sat, uint8_t, half, rd, true)
ASC_EMU_CONVERT_2(asc_half2uint8_ru, uint8_t, half, ru, false)
ASC_EMU_CONVERT_2(asc_half2uint8_ru_sat, uint8_t, half, ru, true)
ASC_EMU_CONVERT_2(asc_half2uint8_rz, uint8_t, half, rz, false)
ASC_EMU_CONVERT_2(asc_half2uint8_rz_sat, uint8_t, half, rz, true)
ASC_EMU_CONVERT_2(asc_half2hif8_rna, hifloat8_t, half, rna, false)
ASC_EMU_CONVERT_2(asc_half2hif8_rna_sat, hifloat8_t, half, rna, true)
ASC_EMU_CONVERT_2(asc_half2hif8_rh, hifloat8_t, half, rh, false)
ASC_EMU_CONVERT_2(asc_half2hif8_rh_sat, hifloat8_t, half, rh, true)
ASC_EMU_CONVERT_4(asc_half2int4x2_rn, int4x2_t, half, rn, false)
ASC_EMU_CONVERT_4(asc_half2int4x2_rn_sat, int4x2_t, half, rn, true)
ASC_EMU_CONVERT_4(asc_half2int4x2_rna, int4x2_t, half, rna, false)
ASC_EMU_CONVERT_4(asc_half2int4x2_rna_sat, int4x2_t, half, rna, true)
ASC_EMU_CONVERT_4(asc_half2int4x2_rd, int4x2_t, half, rd, false)
ASC_EMU_CONVERT_4(asc_half2int4x2_rd_sat, int4x2_t, half, rd, true)
ASC_EMU_CONVERT_4(asc_half2int4x2_ru, int4x2_t, half, ru, false)
ASC_EMU_CONVERT_4(asc_half2int4x2_ru_sat, int4x2_t, half, ru, true)
ASC_EMU_CONVERT_4(asc_half2int4x2_rz, int4x2_t, half, rz, false)
ASC_EMU_CONVERT_4(asc_half2int4x2_rz_sat, int4x2_t, half, rz, true)
ASC_EMU_CONVERT_2(asc_bfloat162float, float, bfloat16_t, rn, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_rn, half, bfloat16_t, rn, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_rn_sat, half, bfloat16_t, rn, true)
ASC_EMU_CONVERT_1(asc_bfloat162half_rna, half, bfloat16_t, rna, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_rna_sat, half, bfloat16_t, rna, true)
ASC_EMU_CONVERT_1(asc_bfloat162half_rd, half, bfloat16_t, rd, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_rd_sat, half, bfloat16_t, rd, true)
ASC_EMU_CONVERT_1(asc_bfloat162half_ru, half, bfloat16_t, ru, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_ru_sat, half, bfloat16_t, ru, true)
ASC_EMU_CONVERT_1(asc_bfloat162half_rz, half, bfloat16_t, rz, false)
ASC_EMU_CONVERT_1(asc_bfloat162half_rz_sat, half, bfloat16_t, rz, true)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rn, int32_t, bfloat16_t, rn, false)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rn_sat, int32_t, bfloat16_t, rn, true)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rna, int32_t, bfloat16_t, rna, false)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rna_sat, int32_t, bfloat16_t, rna, true)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rd, int32_t, bfloat16_t, rd, false)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rd_sat, int32_t, bfloat16_t, rd, true)
ASC_EMU_CONVERT_2(asc_bfloat162int32_ru, int32_t, bfloat16_t, ru, false)
ASC_EMU_CONVERT_2(asc_bfloat162int32_ru_sat, int32_t, bfloat16_t, ru, true)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rz, int32_t, bfloat16_t, rz, false)
ASC_EMU_CONVERT_2(asc_bfloat162int32_rz_sat, int32_t, bfloat16_t, rz, true)
ASC_EMU_CONVERT_4(asc_bfloat162e2m1x2_rn, fp4x2_e2m1_t, bfloat16_t, rn, false)
ASC_EMU_CONVERT_4(asc_bfloat162e2m1x2_rna, fp4x2_e2m1_t, bfloat16_t, rna, false)
ASC_EMU_CONVERT_4(asc_bfloat162e2m1x2_rd, fp4x2_e2m1_t, bfloat16_t, rd, false)
ASC_EMU_CONVERT_4(asc_bfloat162e2m1x2_ru, fp4x2_e2m1_t, bfloat16_t, ru, false)
ASC_EMU_CONVERT_4(asc_bfloat162e2m1x2_rz, fp4x2_e2m1_t, bfloat16_t, rz, false)
ASC_EMU_CONVERT_4(asc_bfloat162e1m2x2_rn, fp4x2_e1m2_t, bfloat16_t, rn, false)
ASC_EMU_CONVERT_4(asc_bfloat162e1m2x2_rna, fp4x2_e1m2_t, bfloat16_t, rna, false)
ASC_EMU_CONVERT_4(asc_bfloat162e1m2x2_rd, fp4x2_e1m2_t, bfloat16_t, rd, false)
ASC_EMU_CONVERT_4(asc_bfloat162e1m2x2_ru, fp4x2_e1m2_t, bfloat16_t, ru, false)
ASC_EMU_CONVERT_4(asc_bfloat162e1m2x2_rz, fp4x2_e1m2_t, bfloat16_t, rz, false)
ASC_EMU_CONVERT_4(asc_e2m1x22bfloat16, bfloat16_t, fp4x2_e2m1_t, rn, false)
ASC_EMU_CONVERT_4(asc_e1m2x22bfloat16, bfloat16_t, fp4x2_e1m2_t, rn, false)
ASC_EMU_CONVERT_4(asc_e4m32float, float, fp8_e4m3fn_t, rn, false)
ASC_EMU_CONVERT_4(asc_e5m22float, float, fp8_e5m2_t, rn, false)
ASC_EMU_CONVERT_4(asc_hif82float, float, hifloat8_t, rn, false)
ASC_EMU_CONVERT_2(asc_hif82half, half, hifloat8_t, rn, false)
ASC_EMU_CONVERT_2(asc_int82half, half, int8_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint82half, half, uint8_t, rn, false)
ASC_EMU_CONVERT_2(asc_int82int16, int16_t, int8_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint82uint16, uint16_t, uint8_t, rn, false)
ASC_EMU_CONVERT_4(asc_int82int32, int32_t, int8_t, rn, false)
ASC_EMU_CONVERT_4(asc_uint82uint32, uint32_t, uint8_t, rn, false)
ASC_EMU_CONVERT_1(asc_int162half_rn, half, int16_t, rn, false)
ASC_EMU_CONVERT_1(asc_int162half_rna, half, int16_t, rna, false)
ASC_EMU_CONVERT_1(asc_int162half_rd, half, int16_t, rd, false)
ASC_EMU_CONVERT_1(asc_int162half_ru, half, int16_t, ru, false)
ASC_EMU_CONVERT_1(asc_int162half_rz, half, int16_t, rz, false)
ASC_EMU_CONVERT_2(asc_int162float, float, int16_t, rn, false)
ASC_EMU_CONVERT_2(asc_int162int32, int32_t, int16_t, rn, false)
ASC_EMU_CONVERT_2(asc_int162uint32, uint32_t, int16_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint162uint32, uint32_t, uint16_t, rn, false)
ASC_EMU_CONVERT_2(asc_int162uint8, uint8_t, int16_t, rn, false)
ASC_EMU_CONVERT_2(asc_int162uint8_sat, uint8_t, int16_t, rn, true)
ASC_EMU_CONVERT_2(asc_uint162uint8, uint8_t, uint16_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint162uint8_sat, uint8_t, uint16_t, rn, true)
ASC_EMU_CONVERT_1(asc_int322float_rn, float, int32_t, rn, false)
ASC_EMU_CONVERT_1(asc_int322float_rna, float, int32_t, rna, false)
ASC_EMU_CONVERT_1(asc_int322float_rd, float, int32_t, rd, false)
ASC_EMU_CONVERT_1(asc_int322float_ru, float, int32_t, ru, false)
ASC_EMU_CONVERT_1(asc_int322float_rz, float, int32_t, rz, false)
ASC_EMU_CONVERT_2(asc_int322int16, int16_t, int32_t, rn, false)
ASC_EMU_CONVERT_2(asc_int322int16_sat, int16_t, int32_t, rn, true)
ASC_EMU_CONVERT_2(asc_int322uint16, uint16_t, int32_t, rn, false)
ASC_EMU_CONVERT_2(asc_int322uint16_sat, uint16_t, int32_t, rn, true)
ASC_EMU_CONVERT_2(asc_uint322int16, int16_t, uint32_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint322int16_sat, int16_t, uint32_t, rn, true)
ASC_EMU_CONVERT_2(asc_uint322uint16, uint16_t, uint32_t, rn, false)
ASC_EMU_CONVERT_2(asc_uint322uint16_sat, uint16_t, uint32_t, rn, true)
ASC_EMU_CONVERT_4(asc_int322uint8, uint8_t, int32_t, rn, false)
ASC_EMU_CONVERT_4(asc_int322uint8_sat, uint8_t, int32_t, rn, true)
ASC_EMU_CONVERT_4(asc_uint322uint8, uint8_t, uint32_t, rn, false)
ASC_EMU_CONVERT_4(asc_uint322uint8_sat, uint8_t, uint32_t, rn, true)
ASC_EMU_CONVERT_2(asc_int322int64, int64_t, int32_t, rn, false)
ASC_EMU_CONVERT_2(asc_int642float_rn, float, int64_t, rn, false)
ASC_EMU_CONVERT_2(asc_int642float_rna, float, int64_t, rna, false)
ASC_EMU_CONVERT_2(asc_int642float_rd, float, int64_t, rd, false)
ASC_EMU_CONVERT_2(asc_int642float_ru, float, int64_t, ru, false)
ASC_EMU_CONVERT_2(asc_int642float_rz, float, int64_t, rz, false)
ASC_EMU_CONVERT_2(asc_int642int32, int32_t, int64_t, rn, false)
ASC_EMU_CONVERT_2(asc_int642int32_sat, int32_t, int64_t, rn, true)
ASC_EMU_CONVERT_4(asc_int4x22half, half, int4x2_t, rn, false)
ASC_EMU_CONVERT_4(asc_int4x22bfloat16, bfloat16_t, int4x2_t, rn, false)
ASC_EMU_CONVERT_4(asc_int4x22int16, int16_t, int4x2_t, rn, false)
ASC_EMU_CONVERT_4(asc_int162int4x2, int4x2_t, int16_t, rn, false)
ASC_EMU_CONVERT_4(asc_int162int4x2_sat, int4x2_t, int16_t, rn, true)
#undef ASC_EMU_CONVERT_1
#undef ASC_EMU_CONVERT_2
#undef ASC_EMU_CONVERT_4
#undef ASC_EMU_CONVERT_PART
#undef ASC_EMU_CONVERT_POSITION

// fp32 times a scalar as half, rounded half away from zero, in the even or the odd lanes.
namespace asc_emu {
template <uint32_t kPart>
ASC_EMU_INLINE void scaled_half(VectorRegister<half>& dst, const VectorRegister<float>& src,
                                float value, const MaskRegister& mask) {
    VectorRegister<float> product;
    binary(product, src, value, mask, Mul{});
    convert<half, float, Round::rna, false, kPart>(dst, product, mask);
}
}  // namespace asc_emu
ASC_EMU_ON_USE inline void asc_muls(asc_emu::VectorRegister<half>& dst,
                                    const asc_emu::VectorRegister<float>& src, float value,
                                    const vector_bool& mask) {
    asc_emu::scaled_half<0>(dst, src, value, mask);
}
ASC_EMU_ON_USE inline void asc_muls_v2(asc_emu::VectorRegister<half>& dst,
                                       const asc_emu::VectorRegister<float>& src, float value,
                                       const vector_bool& mask) {
    asc_emu::scaled_half<1>(dst, src, value, mask);
}
