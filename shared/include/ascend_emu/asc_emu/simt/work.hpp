// Work of SIMT threads for the timing model: rewritten text says in each block of a SIMT function what
// a lane does there (jit/source_pass/simt/work.py). Builds without timing hold nothing of it.
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
}

#define ASC_EMU_SIMT_WORK(i, u, l, b)                      \
    do {                                                   \
        if (asc_emu_simt_work) {                           \
            asc_emu_simt_work->instructions += i;          \
            if (u) asc_emu_simt_work->ub += u;             \
            if (l) asc_emu_simt_work->gm_loads += l;       \
            if (b) asc_emu_simt_work->gm_bytes += b;       \
        }                                                  \
    } while (false)
// In loops over threads.
#define ASC_EMU_SIMT_LANE(lane) \
    asc_emu_simt_work = asc_emu_simt_works ? asc_emu_simt_works + (lane) : nullptr

#else

#define ASC_EMU_SIMT_WORK(i, u, l, b) static_cast<void>(0)
#define ASC_EMU_SIMT_LANE(lane) static_cast<void>(0)

#endif
