// Keywords of device code as macros (ascend_c_cube.md section 1): address spaces and function
// qualifiers are empty on the host; the source pass reads them in the text.
#pragma once

#include <cstdint>

#include "asc_emu/core_api.h"
#include "asc_emu/enums.hpp"

// Address spaces
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __biasbuf__
#define __fbuf__
#define __ssbuf__

// Functions
#define __global__
#define __aicore__
#define __aicpu__
#define __host__
#define __device__
#define __cube__
#define __vector__
#define __mix__(num_cube, num_vector)
#define __schedmode__(mode)
#define __simd_vf__
#define __simt_vf__
// NOTE: registers of the host pass through inlined functions only.
#define __simd_callee__ __attribute__((always_inline))
#define __simt_callee__
#define __callee__
#define __launch_bounds__(...)
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 3510
#endif

// Core type of the running core; used without parentheses: `if ASC_IS_AIC { ... }`.
#define ASCEND_IS_AIC (asc_emu_is_aic() != 0)
#define ASCEND_IS_AIV (asc_emu_is_aic() == 0)
#define ASCEND_IS_NOT_AIC (asc_emu_is_aic() == 0)
#define ASCEND_IS_NOT_AIV (asc_emu_is_aic() != 0)
#define ASC_IS_AIC ASCEND_IS_AIC
#define ASC_IS_AIV ASCEND_IS_AIV
#define ASC_IS_NOT_AIC ASCEND_IS_NOT_AIC
#define ASC_IS_NOT_AIV ASCEND_IS_NOT_AIV

// Memory sizes in bytes; UB without the 6 KiB vector-function stack and the 2 KiB reserve.
constexpr uint32_t ASC_L1_SIZE = 512 * 1024;
constexpr uint32_t ASC_L0A_SIZE = 64 * 1024;
constexpr uint32_t ASC_L0B_SIZE = 64 * 1024;
constexpr uint32_t ASC_L0C_SIZE = 256 * 1024;
constexpr uint32_t ASC_BT_SIZE = 4 * 1024;
constexpr uint32_t ASC_UB_SIZE = 248 * 1024;

namespace asc_emu {

// Objects, not macros: kernels also use these names for local variables.
struct BlockIdx {
    operator int64_t() const { return asc_emu_block_idx(); }
};
struct BlockNum {
    operator int64_t() const { return asc_emu_block_num(); }
};

}  // namespace asc_emu

inline constexpr asc_emu::BlockIdx block_idx{};
inline constexpr asc_emu::BlockNum block_num{};
