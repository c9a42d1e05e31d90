// Casts between fp32 and integers (ascend_c_vector.md section 14.5).
#pragma once

#include "asc_emu/simt/integer.hpp"
#include "asc_emu/simt/rounding.hpp"

ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __float2int, int, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __float2uint, unsigned int, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __float2ll, long long, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __float2ull, unsigned long long, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __int2float, float, int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __uint2float, float, unsigned int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ll2float, float, long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ull2float, float, unsigned long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_WHOLE, __float2float, float)
