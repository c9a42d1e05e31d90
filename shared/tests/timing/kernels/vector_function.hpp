// A vector function of `num` vectors: one load, one product and one store each, `loads` more loads in all.
#include "c_api/asc_simd.h"

__simd_vf__ inline void twice(__ubuf__ float* x, int32_t num, int32_t loads) {
    vector_bool all = asc_create_mask_b32(PAT_ALL);
    vector_float v;
    for (int32_t i = 0; i < loads; ++i) asc_loadalign(v, x);
    for (int32_t i = 0; i < num; ++i) {
        asc_loadalign(v, x + 64 * i);
        asc_mul_scalar(v, v, 2.0f, all);
        asc_storealign(x + 64 * i, v, all);
    }
}

__global__ __vector__ void vector_function(int32_t num, int32_t loads, int32_t calls) {
    auto* x = reinterpret_cast<__ubuf__ float*>(0);
    for (int32_t i = 0; i < calls; ++i) asc_vf_call<twice>(x, num, loads);
}
