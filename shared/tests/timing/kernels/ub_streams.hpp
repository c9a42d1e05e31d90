// Streams of loads and stores at chosen places of UB; the words of a gather are chosen by their distance.
#include "c_api/asc_simd.h"

// Kinds: 0 loads, 1 stores, 2 a load and a store a turn, 3 strided loads, 4 strided stores, 5 gathers, 6 scatters,
// 7 gathers of blocks, 8 unaligned loads, 9 loads of one element, 10 a load and a store of 32 bytes a
// turn, 11 gathers of two elements in turn.
__simd_vf__ inline void streams(__ubuf__ float* from, __ubuf__ float* to, int32_t kind, int32_t num, int32_t step) {
    vector_bool all = asc_create_mask_b32(PAT_ALL), block = asc_create_mask_b32(PAT_VL8);
    vector_float v;
    vector_uint32_t index, kept;
    vector_load_unalign state;
    asc_duplicate_scalar(v, 1.0f);
    asc_arange(reinterpret_cast<vector_int32_t&>(index), 0);
    asc_duplicate_scalar(kept, kind == 11 ? 1u : ~0u);
    asc_and(index, index, kept, all);
    asc_mul_scalar(index, index, static_cast<uint32_t>(step), all);
    asc_mem_bar(VV_ALL);
    if (kind == 8) asc_loadunalign_pre(state, from);
    for (int32_t i = 0; i < num; ++i) {
        if (kind == 0 || kind == 2) asc_loadalign(v, from + i * step);
        if (kind == 1 || kind == 2) asc_storealign(to + i * step, v, all);
        if (kind == 3) {
            auto* p = from;
            asc_loadalign_postupdate(v, p, static_cast<uint16_t>(step), 0, all);
        }
        if (kind == 4) {
            auto* p = to;
            asc_storealign_postupdate(p, v, static_cast<uint16_t>(step), 0, all);
        }
        if (kind == 5 || kind == 11) asc_gather(v, from, index, all);
        if (kind == 6) asc_scatter(to, v, index, all);
        if (kind == 7) asc_gather_datablock(v, from, index, all);
        if (kind == 8) asc_loadunalign_postupdate(v, state, from, 64);
        if (kind == 9) asc_loadalign_brc_elem(v, from + i * step);
        if (kind == 10) {
            asc_loadalign(v, from + i * step);
            asc_storealign(to + i * step, v, block);
        }
    }
}

__global__ __vector__ void ub_streams(int32_t from, int32_t to, int32_t kind, int32_t num, int32_t step) {
    auto* ub = reinterpret_cast<__ubuf__ float*>(0);
    asc_vf_call<streams>(ub + from, ub + to, kind, num, step);
}
