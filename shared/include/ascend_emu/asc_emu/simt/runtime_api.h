// C interface between SIMT code and the runtime (ascend_c_vector.md section 14, emulator.md section
// 2). The variables name the thread that runs; the runtime sets them before a thread goes on.
#pragma once

#include <stdint.h>

#include "asc_emu/simt/dim3.hpp"

#ifdef __cplusplus
extern "C" {
#endif

// NOTE: `__thread`, since a C++ `thread_local` would be read through an initialisation wrapper.
extern __thread uint3 asc_emu_simt_thread_idx;
extern __thread dim3 asc_emu_simt_block_dim;
extern __thread uint3 asc_emu_simt_block_idx;
extern __thread dim3 asc_emu_simt_grid_dim;

// What the lanes of a warp bring to a warp operation and get back. `active` has a bit per lane that
// takes part, `stray` one per lane that reads the value of one that does not.
typedef struct asc_emu_warp {
    uint64_t value[32];
    int32_t parameter[32];
    uint64_t result[32];
    uint32_t active, stray;
} asc_emu_warp;

// Waits until the other lanes of the warp are at the same site, then runs `combine` once for all of
// them.
uint64_t asc_emu_simt_exchange(const void* site, uint64_t value, int32_t parameter,
                               void (*combine)(asc_emu_warp*));
// Barrier over the live threads of the block.
void asc_emu_simt_barrier(const void* site);
// Lane of the running thread.
uint32_t asc_emu_simt_lane(void);
// Lanes of the warp that have not returned.
uint32_t asc_emu_simt_live_lanes(void);

// Memory of the worker for functions that run all threads in one call, given back in reverse order.
void* asc_emu_simt_take_scratch(uint64_t bytes)
    __attribute__((malloc, returns_nonnull, assume_aligned(64)));
void asc_emu_simt_give_scratch(uint64_t bytes);

// The regular modified cylindrical Bessel function of an order at x >= 0.
double asc_emu_simt_bessel_i(double order, double x);

#ifdef __cplusplus
}
#endif
