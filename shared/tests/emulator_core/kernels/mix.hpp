// Scenarios of test_counters.py: synchronisation between the cores of a block and between blocks.
#include <c_api/asc_simd.h>

// Place of this core in `out`: three per block.
__aicore__ inline uint32_t slot() {
    return asc_get_block_idx() * 3 + (asc_emu_is_aic() ? 0 : 1 + asc_get_sub_block_id());
}

// Around the data cache: other cores look at it.
__aicore__ inline void put(__gm__ int32_t* place, int32_t value) { asc_store_dev(place, value); }
__aicore__ inline int32_t get(__gm__ int32_t* place) { return asc_load_dev(place); }

extern "C" __global__ __mix__(1, 2) void sync_mix(__gm__ int32_t* out, int32_t scenario, int32_t num) {
    asc_init();
    const bool aic = asc_emu_is_aic();
    const uint32_t sub = asc_get_sub_block_id();
    switch (scenario) {
        case 0:   // mode 4: a token goes AIC -> AIV0 -> AIC -> AIV1 -> AIC, num times
            for (int32_t i = 0; i < num; ++i) {
                if (aic) {
                    asc_sync_intra_arrive(PIPE_S, 3);
                    asc_sync_intra_wait(PIPE_S, 5);
                    asc_sync_intra_arrive(PIPE_S, 16 + 3);
                    asc_sync_intra_wait(PIPE_S, 16 + 5);
                } else {
                    asc_sync_intra_wait(PIPE_S, 3);
                    put(out, get(out) * 2 + static_cast<int32_t>(sub));
                    asc_sync_intra_arrive(PIPE_S, 5);
                }
            }
            break;
        case 1:   // mode 2: the AIC goes on when both AIVs have arrived
            if (aic) {
                asc_sync_block_wait(PIPE_S, 1);
                put(out, get(out + 1) + get(out + 2));
            } else {
                put(out + 1 + sub, num + static_cast<int32_t>(sub));
                asc_sync_block_arrive(PIPE_MTE3, 1);
            }
            break;
        case 2:   // mode 1: AIV1 reads what AIV0 wrote
            if (aic) break;
            if (sub == 0) put(out + 1, num);
            asc_sync_subblock_arrive(PIPE_MTE3, 2);
            asc_sync_subblock_wait(PIPE_S, 2);
            if (sub == 1) put(out + 2, get(out + 1) + 1);
            break;
        case 3:   // mode 0: num rounds with all cores of one type; each sees the others' round
            for (int32_t i = 0; i < num; ++i) {
                put(out + slot(), get(out + slot()) + 1);
                asc_sync_inter_arrive(PIPE_MTE2, 4);
                asc_sync_inter_wait(PIPE_S, 4);
                const uint32_t other = (slot() + 3) % (asc_get_block_num() * 3);
                if (get(out + other) < i + 1) put(out + slot(), -1000);
                asc_sync_inter_arrive(PIPE_MTE2, 5);
                asc_sync_inter_wait(PIPE_S, 5);
            }
            break;
        case 4:   // more arrivals than a 4-bit counter holds
            if (aic)
                for (int32_t i = 0; i < num; ++i) asc_sync_intra_arrive(PIPE_S, 0);
            else if (sub == 0)
                asc_sync_intra_wait(PIPE_S, 1);
            break;
        case 5:   // an AIV has the ids 0..15
            if (!aic) asc_sync_intra_wait(PIPE_V, static_cast<uint32_t>(num));
            break;
        case 6:   // two cores wait for each other
            asc_sync_intra_wait(PIPE_MTE2, 7);
            asc_sync_pipe(PIPE_ALL);
            break;
        case 7: { // SSBuffer: the AIC leaves a message for each AIV
            auto* box = static_cast<__ssbuf__ int32_t*>(asc_emu_base(static_cast<int>(asc_emu::Space::ssb)));
            if (aic) {
                box[0] = num;
                box[8] = num + 1;
                asc_sync_intra_arrive(PIPE_S, 0);
                asc_sync_intra_arrive(PIPE_S, 16);
            } else {
                asc_sync_intra_wait(PIPE_S, 0);
                out[1 + sub] = box[8 * sub];
            }
            break;
        }
    }
}
