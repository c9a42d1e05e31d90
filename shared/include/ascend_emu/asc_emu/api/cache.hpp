// Cache control (ascend_c_cube.md section 14). The emulated data cache is transparent: host memory
// is coherent, so these only order the scalar unit's accesses.
#pragma once

#include "asc_emu/api/common.hpp"

namespace asc_emu {
inline void scalar_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}  // namespace asc_emu

namespace __asc_aicore {
inline void asc_dcci_single(__gm__ void*) { asc_emu::scalar_fence(); }
}  // namespace __asc_aicore
using namespace __asc_aicore;

inline void asc_ub_dcci_single(__ubuf__ void*) { asc_emu::scalar_fence(); }
inline void asc_dcci_entire_all() { asc_emu::scalar_fence(); }
inline void asc_dcci_entire_out() { asc_emu::scalar_fence(); }
inline void asc_dcci_entire_atomic() { asc_emu::scalar_fence(); }
// NOTE: on the device this drops dirty lines; here every store has reached memory already.
inline void asc_dci() { asc_emu::scalar_fence(); }
inline void asc_datacache_preload(__gm__ uint64_t*, int64_t) {}
inline void asc_icache_preload(const void*, int64_t) {}
inline int64_t asc_get_icache_preload_status() { return 0; }
