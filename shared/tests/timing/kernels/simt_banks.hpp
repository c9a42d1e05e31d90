// A SIMT function whose threads read an element of UB 100 times and add it up, when `on`. Lane i of a warp reads
// element i / share * step.
#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"

__simt_vf__ __launch_bounds__(2048) inline void reads(__ubuf__ float* place, int32_t on, int32_t step, int32_t share) {
    volatile __ubuf__ float* at = place;
    const int32_t index = threadIdx.x % 32 / share * step;
    float sum = 0.0f;
    if (on) {
#pragma unroll
        for (int32_t i = 0; i < 100; ++i) {
            sum += at[index];
        }
    }
    if (sum != 0.0f) {
        place[0] = sum;
    }
}

__global__ __vector__ void simt_banks(int32_t threads, int32_t on, int32_t step, int32_t share) {
    auto* ub = reinterpret_cast<__ubuf__ float*>(0);
    asc_vf_call<reads>(dim3(threads), ub, on, step, share);
}
