"""A kernel of one's own on numpy arrays: y = factor * x, 32 blocks (deep_jit.md section 19)."""

from pathlib import Path

import numpy as np

import deep_jit

SOURCE = """
#include "c_api/asc_simd.h"

__simd_vf__ inline void scale(__ubuf__ float* tile, float factor, uint32_t n) {
    for (uint32_t i = 0; i < n; i += 64) {
        uint32_t left = n - i;
        vector_bool mask = asc_update_mask_b32(left);
        vector_float value;
        asc_loadalign(value, tile + i);
        asc_mul_scalar(value, value, factor, mask);
        asc_storealign(tile + i, value, mask);
    }
}

__global__ __vector__ void scale_kernel(__gm__ float* y, __gm__ float* x, float factor,
                                        uint32_t n) {
    __ubuf__ float tile[1024];
    asc_copy_gm2ub(tile, x + block_idx * n, n * sizeof(float));
    asc_sync();
    asc_vf_call<scale>(&tile[0], factor, n);
    asc_sync();
    asc_copy_ub2gm(y + block_idx * n, tile, n * sizeof(float));
    asc_sync();
}
"""

runtime = deep_jit.Runtime(deep_jit.Config(Path.cwd(), "DEMO"))
kernel = runtime.compile("scale", SOURCE)  # compiled once, then found in the cache
x = np.arange(32 * 1024, dtype=np.float32)
y = np.empty_like(x)
kernel({"num_blocks": 32}, y, x, 2.0, 1024)
print((y == 2 * x).all(), kernel.artifact)
