// Blocks of one vector core each that meet in GM.
#include "c_api/asc_simd.h"

extern "C" __global__ __vector__ void sync_vector(__gm__ int32_t* out, int32_t scenario, int32_t num) {
    asc_init();
    volatile __gm__ int32_t* const shared = out;
    const uint32_t block = asc_get_block_idx(), num_blocks = asc_get_block_num();
    if (scenario == 1) {   // the last block hands a token down to the first: all must be there at once
        while (block + 1 < num_blocks && shared[block + 1] == 0) asc_emu_spin_hint();
        shared[block] = 100 + static_cast<int32_t>(asc_get_core_id());
    }
    (void)num;
}
