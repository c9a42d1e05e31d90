// A vector function that stops at a zero in UB.
#include "c_api/asc_simd.h"

__simd_vf__ inline void until_zero(__ubuf__ float* values, __ubuf__ int32_t* numbers) {
    vector_bool all = asc_create_mask_b32(PAT_ALL);
    vector_float x;
    for (int i = 0; i < 4 && numbers[i] != 0; ++i) {
        asc_loadalign(x, values);
        asc_storealign(values, x, all);
    }
}

__global__ __vector__ void data_dependent(__gm__ uint8_t* data) {
    auto* values = reinterpret_cast<__ubuf__ float*>(0);
    asc_copy_gm2ub_align(reinterpret_cast<__ubuf__ uint8_t*>(values), data, 256);
    asc_sync_pipe(PIPE_ALL);
    asc_vf_call<until_zero>(values, reinterpret_cast<__ubuf__ int32_t*>(values) + 64);
}
