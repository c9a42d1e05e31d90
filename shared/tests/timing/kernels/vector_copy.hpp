// Copies GM -> UB -> GM on vector cores, two UB buffers in turn.
#include "c_api/asc_simd.h"

constexpr uint32_t kBytes = 64 * 1024;

__global__ __vector__ void vector_copy(__gm__ uint8_t* dst, __gm__ uint8_t* src, int32_t num) {
    const uint64_t base = static_cast<uint64_t>(block_idx) * static_cast<uint64_t>(num) * kBytes;
    for (uint32_t i = 0; i < 2; ++i) asc_sync_notify(PIPE_MTE3, PIPE_MTE2, static_cast<event_t>(i));
    for (uint32_t i = 0; i < static_cast<uint32_t>(num); ++i) {
        const auto event = static_cast<event_t>(i % 2);
        auto* buffer = reinterpret_cast<__ubuf__ uint8_t*>(static_cast<uintptr_t>(i % 2 * kBytes));
        asc_sync_wait(PIPE_MTE3, PIPE_MTE2, event);
        asc_copy_gm2ub_align(buffer, src + base + static_cast<uint64_t>(i) * kBytes, kBytes);
        asc_sync_notify(PIPE_MTE2, PIPE_MTE3, event);
        asc_sync_wait(PIPE_MTE2, PIPE_MTE3, event);
        asc_copy_ub2gm_align(dst + base + static_cast<uint64_t>(i) * kBytes, buffer, kBytes);
        asc_sync_notify(PIPE_MTE3, PIPE_MTE2, event);
    }
    for (uint32_t i = 0; i < 2; ++i) asc_sync_wait(PIPE_MTE3, PIPE_MTE2, static_cast<event_t>(i));
}
