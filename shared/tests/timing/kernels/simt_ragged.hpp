// A SIMT function whose lane i takes i turns, then reads once more; lanes meet again behind the loop. All elements
// are in one bank, a row for each lane.
#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"

__simt_vf__ __launch_bounds__(2048) inline void ragged(__ubuf__ float* place) {
    volatile __ubuf__ float* at = place;
    const int32_t lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int32_t i = 0; i < lane; ++i) {
        sum += at[lane * 128];
    }
    sum += at[lane * 128 + 32 * 128];
    if (sum != 0.0f) {
        place[0] = sum;
    }
}

__global__ __vector__ void simt_ragged(int32_t threads) {
    asc_vf_call<ragged>(dim3(threads), reinterpret_cast<__ubuf__ float*>(0));
}
