// Vector functions whose schedule pen and paper give: chains, independent sums, exp, reductions, fences.
#include "c_api/asc_simd.h"

__simd_vf__ inline void arithmetic(__ubuf__ float* x, int32_t kind, int32_t num) {
    vector_bool all = asc_create_mask_b32(PAT_ALL);
    vector_float v, w, sum;
    asc_loadalign(v, x);
    asc_loadalign(sum, x);
    for (int32_t i = 0; i < num; ++i) {
        if (kind == 0) asc_add(sum, sum, v, all);
        if (kind == 1) asc_add(w, v, v, all);
        if (kind == 2) asc_exp(w, v, all);
        if (kind == 3) asc_reduce_sum(sum, sum, all);
        if (kind == 4) {
            asc_loadalign(w, x);
            asc_mul(w, w, w, all);
            asc_storealign(x, w, all);
            asc_mem_bar(VST_VLD);
        }
    }
    asc_storealign(x, sum, all);
}

__global__ __vector__ void vector_arithmetic(int32_t kind, int32_t num) {
    asc_vf_call<arithmetic>(reinterpret_cast<__ubuf__ float*>(0), kind, num);
}
