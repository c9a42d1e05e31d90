// Fixpipe copies: L0C is filled through the matrix unit, then copied to GM, UB or L1.
// Sources of L0C: 0 fp32 image (1024 rows of 16 a product with the identity), 1 int32 values as
// digits (low + 100 * high), 2 one bias row over 1024 columns of 16 rows.
inline void fill_floats(__gm__ uint8_t* image, int64_t unit_flag) {
    asc_set_gm2l1_nz_para(1, 1, 16, 0);
    asc_copy_gm2l1_nd2nz(at<float>(131072), reinterpret_cast<float*>(image + 262144), 64, 0, 16, 16,
                         0, false);
    asc_set_gm2l1_nz_para(1, 1, 1024, 0);
    asc_sync();
    asc_copy_l12l0b_sync(at<float>(0), at<float>(131072), 0, 0, 1, 2, 1, 1);
    for (int64_t i = 0; i < 4; ++i) {
        asc_copy_gm2l1_nd2nz_sync(at<float>(0), reinterpret_cast<float*>(image + i * 65536), 64, 0,
                                  1024, 16, 0, false);
        asc_copy_l12l0a_sync(at<float>(0), at<float>(0), 0, 0, 64, 2, 64, 64);
        asc_mmad_sync(at<float>(i * 65536), at<float>(0), at<float>(0), 1024, 16, 16, unit_flag,
                      true, false, true);
    }
}

inline void fill_integers(__gm__ uint8_t* image) {
    asc_set_gm2l1_nz_para(1, 1, 16, 0);
    asc_copy_gm2l1_nd2nz(at<int8_t>(131072), reinterpret_cast<int8_t*>(image + 262144), 32, 0, 16,
                         32, 0, false);
    asc_set_gm2l1_nz_para(1, 1, 1024, 0);
    asc_sync();
    asc_copy_l12l0b_sync(at<int8_t>(0), at<int8_t>(131072), 0, 0, 1, 1, 1, 1);
    for (int64_t i = 0; i < 4; ++i) {
        asc_copy_gm2l1_nd2nz_sync(at<int8_t>(0), reinterpret_cast<int8_t*>(image + i * 32768), 32,
                                  0, 1024, 32, 0, false);
        asc_copy_l12l0a_sync(at<int8_t>(0), at<int8_t>(0), 0, 0, 64, 1, 64, 64);
        asc_mmad_sync(at<int32_t>(i * 65536), at<int8_t>(0), at<int8_t>(0), 1024, 32, 16, 0, true,
                      false, true);
    }
}

inline void fill_row(__gm__ uint8_t* image) {
    asc_copy_gm2l1(at<void>(0), image, 1, 128, 0, 0, 0);
    // Operands of zeros: 1 and 64 fractals of 16 x 8
    asc_fill_value_config zeros;
    zeros.repeat = 1;
    zeros.blk_num = 1024;
    asc_fill_l1(at<uint32_t>(4096), 0u, zeros);
    asc_sync();
    asc_copy_l12l0a_sync(at<float>(0), at<float>(4096), 0, 0, 1, 1, 1, 1);
    asc_copy_l12l0b_sync(at<float>(0), at<float>(4096), 0, 0, 64, 1, 64, 64);
    asc_copy_l12bt_sync(0, at<float>(0), 4096);
    asc_mmad_sync(at<float>(0), at<float>(0), at<float>(0), uint64_t{0}, 16, 8, 1024, 0, true);
}

struct Copy {
    int64_t target, newer, dst_type, int_source, dst, src, n, m, dst_stride, src_stride;
    int64_t quant, relu, split, nd, dn, unit_flag, sub_block, dual;
    int64_t num, src_matrix, dst_matrix, write_loop3, pitch, word, quant_fb, relu_fb, relu_alpha,
        ctrl, atomic;
    int64_t fill, fill_unit_flag, sync;
};

inline void set_registers(const Copy& c) {
    asc_set_ctrl(c.ctrl);
    if (c.newer) {
        if (c.write_loop3) asc_set_l0c_copy_nz_para(c.num, c.src_matrix, c.dst_matrix);
        asc_set_l0c_copy_channel_para(c.pitch);
        asc_set_l0c_copy_config(c.relu_fb, c.quant_fb, false);
        asc_set_l0c_copy_relu_alpha(asc_emu::bits_float(static_cast<uint32_t>(c.relu_alpha)));
    } else {
        if (c.write_loop3) asc_set_l0c2gm_nz2nd(c.num, c.src_matrix, c.dst_matrix);
        asc_set_l0c2gm_channel_para(static_cast<uint64_t>(c.pitch) << 48);
        asc_set_l0c2gm_config(c.relu_fb, c.quant_fb, false);
        asc_set_l0c2gm_relu_alpha(c.relu_alpha);
    }
    asc_set_l0c_copy_prequant(static_cast<uint64_t>(c.word));
    if (c.atomic == 1) asc_set_atomic_add_float();
    if (c.atomic == 2) asc_set_atomic_max_float();
    if (c.atomic == 3) asc_set_atomic_min_float();
    if (c.atomic == 4) asc_set_atomic_add_bfloat();
    if (c.atomic == 5) asc_set_atomic_add_float16();
    if (c.atomic == 6) asc_set_atomic_add_int32();
    if (c.atomic == 7) asc_set_atomic_max_int8();
}

template <class D, class S>
void copy(const Copy& c, __gm__ uint8_t* gm) {
    const auto quant = static_cast<QuantMode_t>(c.quant);
    const auto relu = static_cast<asc_relu_pre_mode>(c.relu);
    const auto flag = static_cast<asc_unit_flag_mode>(c.unit_flag);
    auto* src = at<S>(c.src);
    auto* out = reinterpret_cast<D*>(gm + c.dst);
    if (c.target == 0 && c.newer)
        asc_copy_l0c2gm(out, src, c.n, c.m, c.dst_stride, c.src_stride,
                        asc_store_l2_cache_mode::NOTALLOC_CLEAN, flag, quant, relu, c.split, c.nd,
                        c.dn, false);
    else if (c.target == 0)
        asc_copy_l0c2gm(
            out, src, c.n, c.m, c.dst_stride, c.src_stride, 0, 0, static_cast<uint8_t>(c.unit_flag),
            static_cast<uint64_t>(c.quant), static_cast<uint8_t>(c.relu), c.split, c.nd,
            static_cast<uint64_t>(QuantMode_post::NoConv), 0, false, 0, false, false, false, c.dn);
    else if (c.target == 1 && c.newer)
        asc_copy_l0c2ub(at<D>(c.dst), src, c.n, c.m, c.dst_stride, c.src_stride, c.sub_block,
                        static_cast<asc_dual_dst_mode>(c.dual), flag, quant, relu, c.split, c.nd,
                        c.dn, false);
    else if (c.target == 1)
        asc_copy_l0c2ub(
            at<D>(c.dst), src, c.n, c.m, c.dst_stride, c.src_stride, static_cast<uint8_t>(c.dual),
            c.sub_block, 0, static_cast<uint8_t>(c.unit_flag), static_cast<uint64_t>(c.quant),
            static_cast<uint8_t>(c.relu), c.split, c.nd, 0, 0, false, 0, false, false, false, c.dn);
    else if (c.newer)
        asc_copy_l0c2l1(at<D>(c.dst), src, c.n, c.m, c.dst_stride, c.src_stride, flag, quant, relu,
                        c.split, c.nd, c.dn, false);
    else
        asc_copy_l0c2l1(at<D>(c.dst), src, c.n, c.m, c.dst_stride, c.src_stride, 0,
                        static_cast<uint8_t>(c.unit_flag), static_cast<uint64_t>(c.quant),
                        static_cast<uint8_t>(c.relu), c.split, c.nd, 0, 0, false, 0, 0, false);
}

// vectors: 4 KiB for FB.
inline void run(__gm__ uint8_t* image, __gm__ uint8_t* vectors, __gm__ uint8_t* gm, const Copy& c) {
    if (c.fill == 0) fill_floats(image, c.fill_unit_flag);
    if (c.fill == 1) fill_integers(image);
    if (c.fill == 2) fill_row(image);
    asc_copy_gm2l1(at<void>(0), vectors, 1, 128, 0, 0, 0);
    asc_sync();
    asc_copy_l12fb(at<void>(0), at<void>(0), 1, 64, 0, 0);
    if (c.sync) asc_sync();
    set_registers(c);
    with_type(c.dst_type, [&](auto type) {
        if (c.int_source)
            copy<decltype(type), int32_t>(c, gm);
        else
            copy<decltype(type), float>(c, gm);
    });
    asc_sync();
}

extern "C" __global__ __mix__(1, 2) void fixpipe(__gm__ uint8_t* image, __gm__ uint8_t* vectors,
                                                 __gm__ uint8_t* gm, __gm__ const Copy* copy) {
    if ASC_IS_AIC {
        run(image, vectors, gm, *copy);
    }
}
