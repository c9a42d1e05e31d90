// Work of SIMT threads for the timing model: rewritten text says in each block of a SIMT function
// what a lane does there (jit/source_pass/simt/work.py). Builds without timing hold nothing of it.
#pragma once

#include <stdint.h>

#if ASC_EMU_TIMED

extern "C" {
struct asc_emu_simt_work_count {
    uint32_t instructions, ub, gm_loads, gm_bytes;
};
// Of the running thread, and of thread 0; null while nobody counts.
extern __thread asc_emu_simt_work_count* asc_emu_simt_work;
extern __thread asc_emu_simt_work_count* asc_emu_simt_works;
// The running thread reads or writes `bytes` bytes, which may lie in UB.
void asc_emu_simt_place(const volatile void* address, uint32_t bytes);
}

namespace asc_emu::simt {
template <class T>
constexpr __attribute__((always_inline)) inline T& place(T& element) {
    if (!__builtin_is_constant_evaluated() && asc_emu_simt_work)
        asc_emu_simt_place(__builtin_addressof(element), sizeof(T));
    return element;
}
// What is no place in memory.
template <class T>
constexpr __attribute__((always_inline)) inline T place(const T&& value) {
    return value;
}
}  // namespace asc_emu::simt

#define ASC_EMU_SIMT_WORK(i, u, l, b)                                  \
    do {                                                               \
        if (!__builtin_is_constant_evaluated() && asc_emu_simt_work) { \
            asc_emu_simt_work->instructions += i;                      \
            if (u) asc_emu_simt_work->ub += u;                         \
            if (l) asc_emu_simt_work->gm_loads += l;                   \
            if (b) asc_emu_simt_work->gm_bytes += b;                   \
        }                                                              \
    } while (false)
// Around an element of an array (jit/source_pass/simt/places.py).
#define ASC_EMU_SIMT_UB(...) ::asc_emu::simt::place(__VA_ARGS__)
// In loops over threads.
#define ASC_EMU_SIMT_LANE(lane) \
    asc_emu_simt_work = asc_emu_simt_works ? asc_emu_simt_works + (lane) : nullptr

#else

#define ASC_EMU_SIMT_WORK(i, u, l, b) static_cast<void>(0)
#define ASC_EMU_SIMT_UB(...) (__VA_ARGS__)
#define ASC_EMU_SIMT_LANE(lane) static_cast<void>(0)

#endif
