// Values of Fixpipe: quantisation and ReLU of up to 16 neighbouring columns of one row
// (ascend_c_cube.md sections 9.4 and 9.6).
#pragma once

#include <cstddef>
#include <cstdint>

#include "asc_emu/insn/fixpipe.hpp"

namespace asc_emu {

// What a quantisation mode turns into what; `vector` modes read one parameter a column from FB.
struct QuantInfo {
    const char* name = nullptr;  // null: no such mode
    Dtype from = Dtype::none;
    Dtype to = Dtype::none;  // i8 stands for i8 and u8; none: the type of `from`
    bool scaled = false;     // multiplies by M1
    bool vector = false;
    bool hybrid = false;  // hif8 rounding
};
QuantInfo quant_info(uint8_t mode);

// Constants of one copy.
struct ValueRule {
    QuantInfo quant;
    Dtype from, to;
    uint8_t relu;
    bool keep_inf_nan, e4m3_keep_nan;
    uint64_t quant_scalar;
    float relu_alpha;
    const std::byte* quant_vector;  // 8 bytes a column
    const std::byte* relu_vector;   // 8 bytes a column
};
// The copy moves bits only, or is the plain conversion to bf16 or half that keeps infinities.
enum class FastRule : uint8_t { none, bits32, bf16, f16 };
FastRule fast_rule(const ValueRule& rule);

// `count` elements (at most 16) of columns [column, column + count).
void convert_values(const ValueRule& rule, const std::byte* src, std::byte* out, uint32_t column,
                    uint32_t count);

}  // namespace asc_emu
