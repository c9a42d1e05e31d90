// Scenarios of test_flags.py and test_progress.py: flags, locks, polling and faults on cube cores.
#include <c_api/asc_simd.h>

extern "C" __global__ __cube__ void sync_cube(__gm__ int32_t* out, int32_t scenario, int32_t num) {
    const uint32_t block = asc_get_block_idx();
    volatile __gm__ int32_t* shared = out;
    switch (scenario) {
        case 0:   // flags across three pipes back to the scalar unit
            for (int32_t i = 0; i < num; ++i) {
                asc_sync_notify(PIPE_MTE2, PIPE_MTE1, i % 8);
                asc_sync_wait(PIPE_MTE2, PIPE_MTE1, i % 8);
                asc_sync_notify(PIPE_MTE1, PIPE_S, 0);
                asc_sync_wait(PIPE_MTE1, PIPE_S, 0);
                out[block] += 1;
            }
            break;
        case 1:   // a wait issued before its notify is legal: the pipe waits, the scalar unit goes on
            asc_sync_wait(PIPE_M, PIPE_FIX, 2);
            asc_sync_notify(PIPE_M, PIPE_FIX, 2);
            asc_sync_pipe(PIPE_ALL);
            out[block] = 7;
            break;
        case 2:   // notify twice
            asc_sync_notify(PIPE_M, PIPE_FIX, 2);
            asc_sync_notify(PIPE_M, PIPE_FIX, 2);
            break;
        case 3:   // event id out of range
            asc_sync_notify(PIPE_M, PIPE_FIX, static_cast<uint32_t>(num));
            break;
        case 4:   // nobody sets this flag
            asc_sync_wait(PIPE_MTE2, PIPE_MTE1, 3);
            asc_sync_pipe(PIPE_ALL);
            break;
        case 5:   // blocks pass a token on by polling GM
            while (block != 0 && shared[block - 1] == 0) asc_emu_spin_hint();
            shared[block] = static_cast<int32_t>(block) + 1;
            break;
        case 6:   // polls what nobody writes
            while (shared[block] == 0) asc_emu_spin_hint();
            break;
        case 7:   // scalar atomics from all blocks
            for (int32_t i = 0; i < num; ++i) asc_atomic_add(out, 1);
            break;
        case 8:   // a lock waits for the unlock that another pipe issued before it
            for (int32_t i = 0; i < num; ++i) {
                asc_lock(PIPE_MTE1, 4);
                asc_unlock(PIPE_MTE1, 4);
                asc_lock(PIPE_M, 4);
                asc_unlock(PIPE_M, 4);
            }
            asc_sync_pipe(PIPE_ALL);
            out[block] = num;
            break;
        case 9:   // pairs of one id do not nest
            asc_lock(PIPE_MTE1, 4);
            asc_lock(PIPE_M, 4);
            break;
        case 10:  // unlock without lock
            asc_unlock(PIPE_M, 4);
            break;
        case 11:  // PIPE_S alone is no barrier
            asc_sync_pipe(PIPE_S);
            break;
        case 12:  // two locks of different ids may overlap
            asc_lock(PIPE_MTE1, 0);
            asc_lock(PIPE_MTE1, 1);
            asc_unlock(PIPE_MTE1, 0);
            asc_unlock(PIPE_MTE1, 1);
            asc_sync_pipe(PIPE_ALL);
            out[block] = 1;
            break;
        case 13:  // place of the core
            out[block] = static_cast<int32_t>(asc_get_block_num() * 1000 + asc_get_core_id());
            break;
    }
}
