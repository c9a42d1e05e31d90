// Enumerations of the C API (ascend_c_cube.md sections 0, 9.6 and 13), both signature generations.
#pragma once

#include <cstdint>
#include <type_traits>

#include "asc_emu/command.hpp"

// Values match asc_emu::Pipe.
enum pipe_t : uint8_t {
    PIPE_S = 0,
    PIPE_V = 1,
    PIPE_M = 2,
    PIPE_MTE1 = 3,
    PIPE_MTE2 = 4,
    PIPE_MTE3 = 5,
    PIPE_FIX = 6,
    PIPE_ALL = 7,
};
static_assert(PIPE_FIX == static_cast<int>(asc_emu::Pipe::FIX));
static_assert(PIPE_ALL == static_cast<int>(asc_emu::Pipe::all));

enum event_t : uint8_t {
    EVENT_ID0 = 0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
};

enum class asc_load_l2_cache_mode : uint8_t {
    NORMAL_FIRST_VICTIM = 0,
    NORMAL_LAST_VICTIM = 1,
    NORMAL_PERSISTENT = 2,
    NOTALLOC_KEEP = 4,
    NOTALLOC_CLEAN = 5,
    NOTALLOC_DROP = 6,
};
enum class asc_store_l2_cache_mode : uint8_t {
    NORMAL_FIRST_VICTIM = 0,
    NORMAL_LAST_VICTIM = 1,
    NORMAL_PERSISTENT = 2,
    NOTALLOC_CLEAN = 4,
};

enum class asc_dual_dst_mode : uint8_t {
    DUAL_DST_DISABLE = 0,
    DUAL_DST_SPLIT_M = 1,
    DUAL_DST_SPLIT_N = 2,
};
enum class asc_unit_flag_mode : uint8_t { DISABLE = 0, ENABLE_KEEP = 2, ENABLE_UPDATE = 3 };
enum class asc_relu_pre_mode : uint8_t { NONE = 0, NORMAL = 1, SCALAR = 2, VECTOR = 3 };
enum class asc_hf32_round_mode : uint8_t { NEAREST_AWAY = 0, NEAREST_ZERO = 0, NEAREST_EVEN = 1 };
// Modes 1..8 have no published names; they are passed as numbers.
enum class asc_channel_pad_mode : uint8_t { NONE = 0 };
enum class asc_l13d_repeat_direction : uint8_t { M = 0, K = 1 };
// Values are CTRL bit numbers.
enum class asc_saturation_mode : uint8_t { FLOAT = 48, FLOAT8 = 50, INT = 53, CAST = 59 };

// NOTE: only NoQuant, F322F16 and F322BF16 have confirmed numbers; the others come from one source
// or, where no source has one, fill free places (ascend_c_cube.md section 9.6). Use the names.
enum QuantMode_t : uint64_t {
    NoQuant = 0,
    F322F16 = 1,
    VREQ8 = 2,
    REQ8 = 3,
    VDEQF16 = 4,
    DEQF16 = 5,
    F322BF16 = 16,
    REQ4 = 19,
    VREQ4 = 20,
    VQF322S4_PRE = 21,
    QF322S4_PRE = 22,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    QF322HIF8_PRE = 25,
    QF322FP8_PRE = 26,
    QF322F32_PRE = 27,
    VQF322HIF8_PRE = 28,
    QF322HIF8_PRE_HYBRID = 29,
    VQF322HIF8_PRE_HYBRID = 30,
    QF322F16_PRE = 32,
    VQF322F16_PRE = 33,
    QF322BF16_PRE = 34,
    QS322BF16_PRE = 35,
    VQF322BF16_PRE = 36,
    VQF322FP8_PRE = 37,
    VQF322F32_PRE = 38,
    VQS322BF16_PRE = 39,
};
using asc_quant_mode = QuantMode_t;

enum QuantMode_post : uint64_t { NoConv = 0 };

namespace asc_emu {

// Argument that takes an enumerator or any integer (hints outside the enumeration occur in
// generated code): one signature then serves both generations of the API.
struct EnumArg {
    uint8_t value;
    template <class T, class = std::enable_if_t<std::is_enum_v<T> || std::is_integral_v<T>>>
    constexpr EnumArg(T v) : value(static_cast<uint8_t>(v)) {}
};
using L2Hint = EnumArg;
using UnitFlagMode = EnumArg;
using ReluMode = EnumArg;
using QuantMode = EnumArg;

}  // namespace asc_emu
