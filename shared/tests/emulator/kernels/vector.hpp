// Vector functions: masks, aligned loads and stores, arithmetic and bf16 conversions of an
// epilogue.
__simd_vf__ void scale_to_bf16(__ubuf__ float* x, __ubuf__ bfloat16_t* y, float alpha,
                               uint32_t count) {
    for (uint32_t left = count; left > 0;) {
        vector_bool mask = asc_update_mask_b32(left);
        vector_float v;
        vector_bfloat16_t b;
        asc_loadalign_postupdate(v, x, 64);
        asc_mul_scalar(v, v, alpha, mask);
        asc_float2bfloat16_rn(b, v, mask);
        asc_storealign_pack((__ubuf__ uint32_t*)y, (vector_uint32_t)b, mask);
        y += 64;
    }
}

template <class T>
__simd_vf__ void arithmetic(__ubuf__ T* a, __ubuf__ T* b, __ubuf__ T* out, T scalar,
                            uint32_t lanes) {
    constexpr int32_t kLanes = 256 / sizeof(T);
    vector_bool mask = sizeof(T) == 4   ? asc_update_mask_b32(lanes)
                       : sizeof(T) == 2 ? asc_update_mask_b16(lanes)
                                        : asc_update_mask_b8(lanes);
    vector_bool all = asc_create_mask_b8(PAT_ALL);
    asc_emu::VectorRegister<T> x, y, r;
    asc_loadalign(x, a);
    asc_loadalign(y, b, 0);
    asc_add(r, x, y, mask);
    asc_storealign(out, r, all);
    asc_sub(r, x, y, mask);
    asc_storealign(out, r, kLanes, all);
    asc_mul(r, x, y, mask);
    asc_storealign(out + 2 * kLanes, r, all);
    asc_add_scalar(r, x, scalar, mask);
    asc_storealign(out + 3 * kLanes, r, all);
    asc_mul_scalar(r, x, scalar, all);
    asc_storealign(out + 4 * kLanes, r, mask);  // inactive lanes keep memory
    asc_duplicate_scalar(r, scalar);
    out += 5 * kLanes;
    asc_storealign_postupdate(out, r, kLanes, all);
    asc_duplicate_scalar(r, scalar, mask);
    asc_storealign(out, r, all);
}

// Masks land as 32 bytes each, through bytes of ones.
template <uint32_t kWidth>
__simd_vf__ void masks(__ubuf__ uint8_t* out) {
    for (uint32_t p = 0; p < 16; ++p) {
        const auto pattern = static_cast<mask_pattern_t>(p == 14 ? 15 : p);
        vector_bool mask = kWidth == 1   ? asc_create_mask_b8(pattern)
                           : kWidth == 2 ? asc_create_mask_b16(pattern)
                                         : asc_create_mask_b32(pattern);
        vector_uint8_t ones;
        asc_duplicate_scalar(ones, 1, mask);
        asc_storealign(out, ones, static_cast<int32_t>(p * 256), asc_create_mask_b8(PAT_ALL));
    }
}

__simd_vf__ void widen(__ubuf__ bfloat16_t* x, __ubuf__ float* even, __ubuf__ float* odd,
                       __ubuf__ bfloat16_t* back) {
    vector_bool all = asc_create_mask_b16(PAT_ALL);
    vector_bfloat16_t v, lo, hi;
    vector_float e, o;
    asc_loadalign(v, x);
    asc_bfloat162float(e, v, all);
    asc_bfloat162float_v2(o, v, all);
    asc_storealign(even, e, all);
    asc_storealign(odd, o, all);
    asc_float2bfloat16_rn(lo, e, all);
    asc_float2bfloat16_rn_v2(hi, o, all);
    asc_mem_bar(VST_VLD);
    vector_uint32_t both;
    asc_add(both, (vector_uint32_t)lo, (vector_uint32_t)hi, all);
    asc_storealign(back, (vector_bfloat16_t)both, all);
}

__simd_vf__ void misaligned(__ubuf__ float* x, int32_t shift) {
    vector_float v;
    asc_loadalign(v, x, shift);
    asc_storealign(x, v, asc_create_mask_b32(PAT_ALL));
}

struct Scales {
    float first;
    int16_t second;
};
__simd_vf__ void by_value(__ubuf__ float* out, const Scales& s, bool on) {
    vector_float v;
    asc_duplicate_scalar(v, on ? s.first * s.second : 0.0f);
    asc_storealign(out, v, asc_create_mask_b32(PAT_ALL));
}

extern "C" __global__ __vector__ void vector(__gm__ uint8_t* in, __gm__ uint8_t* out, float alpha,
                                             int32_t scenario, int32_t count) {
    asc_init();
    asc_copy_gm2ub(at<void>(0), in, uint32_t{65536});
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
    constexpr int64_t kOut = 131072;
    switch (scenario) {
        case 0:
            asc_vf_call<scale_to_bf16>(at<float>(0), at<bfloat16_t>(kOut), alpha,
                                       static_cast<uint32_t>(count));
            break;
        case 1:
            asc_vf_call<arithmetic<float>>(at<float>(0), at<float>(256), at<float>(kOut), alpha,
                                           count);
            break;
        case 2:
            asc_vf_call<arithmetic<half>>(at<half>(0), at<half>(256), at<half>(kOut), half(alpha),
                                          count);
            break;
        case 3:
            asc_vf_call<arithmetic<int32_t>>(at<int32_t>(0), at<int32_t>(256), at<int32_t>(kOut),
                                             static_cast<int32_t>(alpha), count);
            break;
        case 4:
            asc_vf_call<arithmetic<bfloat16_t>>(at<bfloat16_t>(0), at<bfloat16_t>(256),
                                                at<bfloat16_t>(kOut), bfloat16_t(alpha), count);
            break;
        case 5:
            if (count == 1) asc_vf_call<masks<1>>(at<uint8_t>(kOut));
            if (count == 2) asc_vf_call<masks<2>>(at<uint8_t>(kOut));
            if (count == 4) asc_vf_call<masks<4>>(at<uint8_t>(kOut));
            break;
        case 6:
            asc_vf_call<widen>(at<bfloat16_t>(0), at<float>(kOut), at<float>(kOut + 256),
                               at<bfloat16_t>(kOut + 512));
            break;
        case 7:
            asc_vf_call<misaligned>(at<float>(0), count);
            break;
        case 8:
            asc_vf_call<by_value>(at<float>(kOut), Scales{alpha, static_cast<int16_t>(count)},
                                  true);
            break;
    }
    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm(out, at<void>(kOut), uint32_t{8192});
    asc_sync();
}
