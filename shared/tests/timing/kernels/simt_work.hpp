// A SIMT function of known work: turns of UB stores, and loads from GM, by the first `busy` threads.
#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"

__simt_vf__ __launch_bounds__(2048) inline void work(__gm__ int32_t* data, __ubuf__ int32_t* place, int32_t turns,
                                                     int32_t loads, int32_t busy) {
    if (threadIdx.x < busy) {
        for (int32_t i = 0; i < turns; ++i) {
            place[threadIdx.x] = i;
        }
        for (int32_t i = 0; i < loads; ++i) {
            place[threadIdx.x] = data[threadIdx.x];
        }
    }
}

__global__ __vector__ void simt_work(__gm__ int32_t* data, int32_t threads, int32_t turns, int32_t loads,
                                     int32_t busy) {
    asc_vf_call<work>(dim3(threads), data, reinterpret_cast<__ubuf__ int32_t*>(0), turns, loads, busy);
}
