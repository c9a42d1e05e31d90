// The few names of the C++ device API that C-API programs use beside the C API (emulator.md section
// 1): printing from a kernel and the index of the running core.
#pragma once

#include <cstdint>
#include <cstdio>

#include "c_api/asc_simd.h"

namespace AscendC {

// Index of the running core among cores of its kind.
inline int64_t GetBlockIdx() {
    if (asc_emu_is_aic() != 0) return asc_emu_block_idx();
    return static_cast<int64_t>(asc_emu_block_idx()) * asc_emu_sub_block_num() +
           asc_emu_sub_block_idx();
}

inline int64_t GetBlockNum() { return asc_emu_block_num(); }
inline int64_t GetSubBlockIdx() { return asc_emu_sub_block_idx(); }
inline int64_t GetSubBlockNum() { return asc_emu_sub_block_num(); }

// Prints at once, one call as one piece.
template <class... Args>
inline void printf(const char* format, Args... args) {
    if constexpr (sizeof...(Args) == 0) {
        std::fputs(format, stdout);
    } else {
        std::fprintf(stdout, format, args...);
    }
}

}  // namespace AscendC
