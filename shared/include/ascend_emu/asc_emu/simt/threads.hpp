// Coordinates of the running thread, barriers and fences (ascend_c_vector.md sections 14.1
// and 14.2).
#pragma once

#include <cstdint>

#include "asc_emu/keywords.hpp"
#include "asc_emu/simt/runtime_api.h"

// Objects, not macros: kernels also use these names for local variables. A thread's coordinates
// never change, so they are constants to the compiler.
extern __thread const uint3 threadIdx __asm__("asc_emu_simt_thread_idx");
extern __thread const dim3 blockDim __asm__("asc_emu_simt_block_dim");
extern __thread const uint3 blockIdx __asm__("asc_emu_simt_block_idx");
extern __thread const dim3 gridDim __asm__("asc_emu_simt_grid_dim");
constexpr int32_t warpSize = 32;

#define __SIMT_DEVICE_FUNCTIONS_DECL__

// Namespaces that device code opens or imports. Functions for both kinds of cores live in two of
// them on the device; here either may be called.
namespace AscendC {}
namespace __asc_aicore {}
namespace __asc_simt_vf {}
using namespace __asc_simt_vf;

// Barrier over the live threads of the block.
inline __attribute__((always_inline)) void asc_syncthreads(const char* file = __builtin_FILE(),
                                                           int line = __builtin_LINE()) {
    asc_emu_simt_barrier(file + line);
}

// Device-wide and block-wide order of the caller's accesses.
inline void asc_threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void asc_threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

inline int32_t laneid() { return static_cast<int32_t>(asc_emu_simt_lane()); }
inline uint32_t lanemask_eq() { return 1u << asc_emu_simt_lane(); }
inline uint32_t lanemask_lt() { return lanemask_eq() - 1; }
inline uint32_t lanemask_le() { return lanemask_lt() | lanemask_eq(); }
inline uint32_t lanemask_gt() { return ~lanemask_le(); }
inline uint32_t lanemask_ge() { return ~lanemask_lt(); }
