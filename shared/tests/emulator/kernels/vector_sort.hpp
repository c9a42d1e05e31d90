// Sorting, merging and transposing in UB, n-dimensional copies and the fill behind short bursts.
// The image is UB [0, 65536) before, and is given back.
template <class T>
void sort(int32_t scenario, Params* p) {
    if (scenario == 0) asc_bitsort(at<T>(p[0]), at<T>(p[1]), at<uint32_t>(p[2]), p[3]);
    if (scenario == 1) {
        __ubuf__ T* queues[ASC_C_API_MRGSORT_ELEMENT_LEN] = {at<T>(p[1]), at<T>(p[2]), at<T>(p[3]),
                                                             at<T>(p[4])};
        asc_mrgsort4(at<T>(p[0]), queues, p[5], p[6], p[7], p[8], p[9], p[10] != 0, p[11]);
    }
}

template <class T>
void ndim(__gm__ uint8_t* gm, Params* p) {
    asc_set_ndim_loop0_stride(p[7], p[2]);
    asc_set_ndim_loop1_stride(p[8], p[3]);
    asc_set_ndim_loop2_stride(p[9], p[4]);
    asc_set_ndim_loop3_stride(p[10], p[5]);
    asc_set_ndim_loop4_stride(p[11], p[6]);
    asc_ndim_pad_count_config pads;
    pads.loop1_lp_count = p[19];
    pads.loop1_rp_count = p[20];
    pads.loop2_lp_count = p[21];
    pads.loop2_rp_count = p[22];
    pads.loop3_lp_count = p[23];
    pads.loop3_rp_count = p[24];
    pads.loop4_lp_count = p[25];
    pads.loop4_rp_count = p[26];
    asc_set_ndim_pad_count(pads);
    asc_set_ndim_pad_value(static_cast<T>(p[27]));
    asc_ndim_copy_dci();
    asc_ndim_copy_gm2ub(at<T>(p[0]), (__gm__ T*)(gm + p[1]), p[12], p[13], p[14], p[15], p[16],
                        p[17], p[18], p[28] != 0, 0);
}

// Raw names of copies and buffers: GM -> UB -> GM.
inline void raw_copies(__gm__ uint8_t* image, __gm__ uint8_t* gm, Params* p) {
    get_buf(PIPE_MTE2, 0, 0);
    copy_gm_to_ubuf_align_v2(at<uint8_t>(0), image, 0, 0, 64, 0, 0, false, 0, 64, 64);
    copy_gm_to_ubuf_align_v2(at<uint8_t>(p[0]), image + p[1], 0, 3, 64, 0, 0, false, 0, 128, 96);
    rls_buf(PIPE_MTE2, 0, 0);
    get_buf(PIPE_MTE3, 0, 0);
    copy_ubuf_to_gm_align_v2(gm, at<uint8_t>(p[0]), 0, 3, 64, 0, 70, 96);
    rls_buf(PIPE_MTE3, 0, 0);
}

extern "C" __global__ __vector__ void vector_sort(__gm__ uint8_t* image, __gm__ uint8_t* gm,
                                                  __gm__ Params* p, int32_t scenario,
                                                  int32_t width) {
    asc_init();
    asc_copy_gm2ub(at<void>(0), image, uint32_t{65536});
    asc_sync();
    if (scenario <= 1) {
        if (width == 2) sort<half>(scenario, p);
        if (width == 4) sort<float>(scenario, p);
    }
    if (scenario == 2) asc_transpose(at<uint16_t>(p[0]), at<uint16_t>(p[1]));
    if (scenario == 3) {
        if (width == 1) ndim<uint8_t>(gm, p);
        if (width == 2) ndim<int16_t>(gm, p);
        if (width == 4) ndim<uint32_t>(gm, p);
    }
    if (scenario == 4) {
        if (p[5] != 0) asc_set_copy_pad_val(static_cast<uint16_t>(p[5]));
        asc_copy_gm2ub_align(at<uint16_t>(p[0]), (__gm__ uint16_t*)gm, p[1], p[2], p[3], p[4],
                             p[6] != 0, 0, p[7], p[8]);
    }
    if (scenario == 5) raw_copies(image, gm, p);
    asc_sync();
    asc_copy_ub2gm(image, at<void>(0), uint32_t{65536});
    asc_sync();
}
