// UB-side copies of a mix block. UB of the vector core is loaded from GM first; the test reads UB,
// L1 or GM.
inline void load_ub(__gm__ uint8_t* image) {
    asc_copy_gm2ub_sync(at<void>(0), image, uint32_t{131072});
}

inline void set_atomic(int64_t which) {
    switch (which) {
        case 1:
            return asc_set_atomic_add_float();
        case 2:
            return asc_set_atomic_max_float();
        case 3:
            return asc_set_atomic_min_float();
        case 4:
            return asc_set_atomic_add_float16();
        case 5:
            return asc_set_atomic_max_float16();
        case 6:
            return asc_set_atomic_min_float16();
        case 7:
            return asc_set_atomic_add_bfloat();
        case 8:
            return asc_set_atomic_max_bfloat();
        case 9:
            return asc_set_atomic_min_bfloat();
        case 10:
            return asc_set_atomic_add_int();
        case 11:
            return asc_set_atomic_max_int32();
        case 12:
            return asc_set_atomic_min_int();
        case 13:
            return asc_set_atomic_add_int16();
        case 14:
            return asc_set_atomic_max_int16();
        case 15:
            return asc_set_atomic_min_int16();
        case 16:
            return asc_set_atomic_add_int8();
        case 17:
            return asc_set_atomic_max_int8();
        case 18:
            return asc_set_atomic_min_int8();
    }
}

inline void vector_side(__gm__ uint8_t* image, __gm__ uint8_t* gm, Params* p, int32_t scenario) {
    const bool newer = p[0];
    switch (scenario) {
        case 0:  // gm2ub_align: type, dst, src, count, bytes, left, right, constant, strides, pad,
                 // loops
            asc_set_copy_pad_val(static_cast<uint32_t>(p[11]));
            asc_set_gm2ub_loop_size(p[12], p[13]);
            asc_set_gm2ub_loop1_stride(p[14], p[15]);
            asc_set_gm2ub_loop2_stride(p[16], p[17]);
            with_type(p[1], [=](auto type) {
                using T = decltype(type);
                auto* from = reinterpret_cast<T*>(image + p[3]);
                if (newer)
                    asc_copy_gm2ub_align(at<T>(p[2]), from, p[4], p[5], p[6], p[7], p[8],
                                         asc_load_l2_cache_mode::NOTALLOC_DROP, p[9], p[10]);
                else
                    asc_copy_gm2ub_align_sync(at<T>(p[2]), from, p[4], p[5], p[6], p[7], p[8], 0,
                                              p[9], p[10]);
            });
            break;
        case 1:  // plain forms: form, dst, src, count, bytes, src stride, dst stride
            if (p[1] == 0) asc_copy_gm2ub(at<void>(p[2]), image + p[3], p[4], p[5], p[6], p[7]);
            if (p[1] == 1)
                asc_copy_gm2ub(at<void>(p[2]), image + p[3], static_cast<uint32_t>(p[5]));
            if (p[1] == 2)
                asc_copy_gm2ub_align(at<float>(p[2]), reinterpret_cast<float*>(image + p[3]),
                                     static_cast<uint32_t>(p[5]));
            break;
        case 2:  // ub2gm: form, dst, src, count, bytes, dst stride, src stride, loops, atomic
            load_ub(image);
            asc_set_ub2gm_loop_size(p[8], p[9]);
            asc_set_ub2gm_loop1_stride(p[10], p[11]);
            asc_set_ub2gm_loop2_stride(p[12], p[13]);
            set_atomic(p[14]);
            if (p[1] == 0) asc_copy_ub2gm(gm + p[2], at<void>(p[3]), p[4], p[5], p[6], p[7]);
            if (p[1] == 1)
                asc_copy_ub2gm_sync(gm + p[2], at<void>(p[3]), static_cast<uint32_t>(p[5]));
            if (p[1] == 2)
                asc_copy_ub2gm_align(gm + p[2], at<uint8_t>(p[3]), p[4], p[5],
                                     asc_store_l2_cache_mode::NORMAL_PERSISTENT, p[6], p[7]);
            if (p[1] == 3)
                asc_copy_ub2gm_align(reinterpret_cast<double*>(gm + p[2]), at<double>(p[3]),
                                     static_cast<uint32_t>(p[5]));
            asc_set_atomic_none();
            break;
        case 3:  // ub2ub: form, dst, src, count, blocks, src gap, dst gap
            load_ub(image);
            if (p[1] == 0)
                asc_copy_ub2ub(at<void>(p[2]), at<void>(p[3]), p[4], p[5], p[6], p[7]);
            else
                asc_copy_ub2ub_sync(at<void>(p[2]), at<void>(p[3]), static_cast<uint32_t>(p[5]));
            break;
        case 4:  // ub2l1: form, dst, src, count, blocks, src gap, dst gap
            load_ub(image);
            if (p[1] == 0)
                asc_copy_ub2l1(at<void>(p[2]), at<void>(p[3]), p[4], p[5], p[6], p[7]);
            else
                asc_copy_ub2l1(at<void>(p[2]), at<void>(p[3]), static_cast<uint32_t>(p[5]));
            break;
    }
    asc_sync();
}

inline void cube_side(__gm__ uint8_t* image, Params* p, int32_t scenario) {
    if (scenario == 5) {  // l12ub: core, dst, src, count, blocks, src gap, dst gap
        asc_copy_gm2l1(at<void>(0), image, 1, 4096, 0, 0, 0);
        asc_sync();
        asc_copy_l12ub(at<void>(p[2]), at<void>(p[3]), p[1], p[4], p[5], p[6], p[7]);
    }
    if (scenario == 6) {  // calls for the other core type do nothing
        asc_copy_gm2ub_align(at<uint8_t>(0), image, 1, 64, 0, 0, false, 0, 64, 64);
        asc_copy_ub2l1(at<void>(0), at<void>(0), 1, 2, 0, 0);
    }
    asc_sync();
}

// Vector core p[18] of each block works.
extern "C" __global__ __mix__(1, 2) void ub_copy(__gm__ uint8_t* image, __gm__ uint8_t* gm,
                                                 __gm__ Params* p, int32_t scenario) {
    asc_init();
    if ASC_IS_AIC {
        cube_side(image, p, scenario);
    }
    if ASC_IS_AIV {
        if (scenario < 5 && asc_get_sub_block_id() == p[18]) vector_side(image, gm, p, scenario);
        if (scenario == 6) {
            asc_copy_gm2l1(at<void>(0), image, 1, 16, 0, 0, 0);
            asc_mmad(at<float>(0), at<half>(0), at<half>(0), 16, 16, 16, 0, true, false, true);
        }
    }
}
