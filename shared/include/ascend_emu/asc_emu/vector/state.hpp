// What a running vector function sees of its core: its UB and the modes of CTRL that change results
// (ascend_c_vector.md sections 1.3 and 8.5). The runtime fills it when PIPE_V starts the function.
#pragma once

#include <cstdint>

extern "C" {

struct asc_emu_vector_state {
    uintptr_t ub;    // host address of UB; a value that no address is near outside vector functions
    uint32_t modes;  // asc_emu::VectorMode
    uint32_t serial;  // number of the vector function on its core
};
extern __thread asc_emu_vector_state asc_emu_vector;

// Host address of an access that is not plainly inside UB: a literal offset, or an error that ends
// the kernel.
void* asc_emu_ub_place(const volatile void* address, uint32_t bytes, uint32_t align);
// Evaluations of one call site since the vector function started, before this one.
uint32_t asc_emu_loop_index(uint32_t line, uint32_t column);
}

namespace asc_emu {

enum VectorMode : uint32_t {
    kIntSaturate = 1,    // CTRL[53]
    kFloatSaturate = 2,  // CTRL[60] and not CTRL[48]
    kCastGlobal = 4,     // CTRL[60]
    kCastTruncate = 8,   // CTRL[59]
    kKeepNan = 16,       // CTRL[50]
};

inline __attribute__((always_inline)) bool vector_mode(uint32_t bits) {
    return __builtin_expect((asc_emu_vector.modes & bits) != 0, 0);
}

}  // namespace asc_emu
