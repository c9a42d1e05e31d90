// Kernels whose modelled time has a closed form: nothing, loads, mmads, drains, copies, waits.
#include "c_api/asc_simd.h"

constexpr uint32_t kTile = 64 * 1024;

inline __aicore__ void load(__gm__ uint8_t* src, uint32_t num, asc_load_l2_cache_mode hint) {
    for (uint32_t i = 0; i < num; ++i)
        asc_copy_gm2l1_align(reinterpret_cast<__cbuf__ uint8_t*>(static_cast<uintptr_t>(0)),
                             src + static_cast<uint64_t>(i) * kTile, 1, kTile, 0, 0, false, hint,
                             static_cast<uint64_t>(kTile), kTile);
}

inline __aicore__ void multiply(uint32_t num, asc_unit_flag_mode flag) {
    for (uint32_t i = 0; i < num; ++i)
        asc_mmad(reinterpret_cast<__cc__ float*>(static_cast<uintptr_t>(0)),
                 reinterpret_cast<__ca__ bfloat16_t*>(static_cast<uintptr_t>(0)),
                 reinterpret_cast<__cb__ bfloat16_t*>(static_cast<uintptr_t>(0)), 128, 128, 128, flag, true,
                 false, true);
}

inline __aicore__ void drain(uint32_t num) {
    for (uint32_t i = 0; i < num; ++i)
        asc_copy_l0c2ub(reinterpret_cast<__ubuf__ float*>(static_cast<uintptr_t>(0)),
                        reinterpret_cast<__cc__ float*>(static_cast<uintptr_t>(0)), 128, 64, 128, 64, 0,
                        asc_dual_dst_mode::DUAL_DST_DISABLE, asc_unit_flag_mode::DISABLE, QuantMode_t::NoQuant,
                        asc_relu_pre_mode::NONE, false, true, false, false);
}

// 0 nothing; 1 loads of other data by each block; 2 the same without L2; 3 all blocks load the same data;
// 4 mmads; 5 drains; 6 a chain of flags MTE2 -> MTE1 -> M and back.
__global__ __mix__(1, 1) void closed_forms(__gm__ uint8_t* data, int32_t scenario, int32_t num) {
    const uint32_t count = static_cast<uint32_t>(num);
    if ASC_IS_AIV return;
    __gm__ uint8_t* mine = data + static_cast<uint64_t>(block_idx) * count * kTile;
    asc_set_l0c2gm_nz2nd(1, 0, 0);
    switch (scenario) {
        case 1: load(mine, count, asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM); break;
        case 2: load(mine, count, asc_load_l2_cache_mode::NOTALLOC_KEEP); break;
        case 3: load(data, count, asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM); break;
        case 4: multiply(count, asc_unit_flag_mode::DISABLE); break;
        case 5: drain(count); break;
        case 6:
            for (uint32_t i = 0; i < count; ++i) {
                asc_sync_notify(PIPE_MTE2, PIPE_M, EVENT_ID0);
                asc_sync_wait(PIPE_MTE2, PIPE_M, EVENT_ID0);
                multiply(1, asc_unit_flag_mode::DISABLE);
                asc_sync_notify(PIPE_M, PIPE_MTE2, EVENT_ID0);
                asc_sync_wait(PIPE_M, PIPE_MTE2, EVENT_ID0);
            }
            break;
    }
}
