// What a running vector function sees of its core: its UB and the modes of CTRL that change results
// (ascend_c_vector.md sections 1.3 and 8.5). The runtime fills it when PIPE_V starts the function.
#pragma once

#include <cstdint>

extern "C" {

struct asc_emu_vector_state {
    uintptr_t ub;    // host address of UB; a value that no address is near outside vector functions
    uint32_t modes;  // asc_emu::VectorMode
    uint32_t serial;  // number of the vector function on its core
    // `ub` as accesses compare with it, of kernels built without and with the timing model. While
    // something wants to be told of accesses, no address is near it either: then all come to the
    // runtime.
    uintptr_t near[2];
    uint32_t barriers;  // since the last access that the runtime was told of: a bit for each type
};
extern __thread asc_emu_vector_state asc_emu_vector;

// Host address of an access that is not plainly inside UB: a literal offset, one that is watched,
// or an error that ends the kernel. `access`: 0 load, 1 store, 2 neither, which nobody is told of;
// 4 is added in kernels built for the timing model, 8 where the instruction has told of itself
// before.
void* asc_emu_ub_place(const volatile void* address, uint32_t bytes, uint32_t align,
                       uint32_t access);
// The same for a store of the lanes of `width` bytes that a mask (a bit per byte, 256) has active,
// `bytes` each in UB; `access` is 1 or 5.
void* asc_emu_ub_lanes(const volatile void* address, const uint64_t* mask, uint32_t width,
                       uint32_t bytes, uint32_t align, uint32_t access);
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
