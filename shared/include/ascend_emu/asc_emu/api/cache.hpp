// Cache control (ascend_c_cube.md section 14). The emulated data cache is transparent: host memory
// is coherent, so these only order the scalar unit's accesses, and tell the checkers what is
// written back.
#pragma once

#include "asc_emu/api/atomics.hpp"
#include "asc_emu/api/common.hpp"

namespace asc_emu {
inline void scalar_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void write_back(const volatile void* address, int kind) {
    scalar_fence();
    tell_scalar(address, 1, kind);
}
}  // namespace asc_emu

namespace __asc_aicore {
inline void asc_dcci_single(__gm__ void* address) { asc_emu::write_back(address, 3); }
}  // namespace __asc_aicore
using namespace __asc_aicore;

inline void asc_ub_dcci_single(__ubuf__ void*) { asc_emu::scalar_fence(); }
inline void asc_dcci_entire_all() { asc_emu::write_back(nullptr, 4); }
inline void asc_dcci_entire_out() { asc_emu::write_back(nullptr, 4); }
inline void asc_dcci_entire_atomic() { asc_emu::scalar_fence(); }
// NOTE: on the device this drops dirty lines; here every store has reached memory already.
inline void asc_dci() { asc_emu::scalar_fence(); }
inline void asc_datacache_preload(__gm__ uint64_t*, int64_t) {}
inline void asc_icache_preload(const void*, int64_t) {}
inline int64_t asc_get_icache_preload_status() { return 0; }
