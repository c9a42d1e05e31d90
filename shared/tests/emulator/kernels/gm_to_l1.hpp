// GM -> L1 copies on a cube core; the test reads L1 after the launch.
extern "C" __global__ __cube__ void gm_to_l1(__gm__ uint8_t* src, __gm__ Params* p,
                                             int32_t scenario) {
    asc_init();
    poison_l1();
    asc_sync();
    const bool newer = p[0];  // signature generation
    switch (scenario) {
        case 0:  // nd2nz, dn2nz: type, transposed, dst, src, line, n, d, matrix, small, num, nStr,
                 // c0Str, matStr
            if (newer)
                asc_set_gm2l1_nz_para(p[10], p[11], p[12], p[13]);
            else
                asc_set_gm2l1_nz_para(
                    static_cast<uint64_t>(p[10] | p[11] << 16 | p[12] << 32 | p[13] << 48));
            with_type(p[1], [=](auto type) {
                using T = decltype(type);
                auto* from = reinterpret_cast<__gm__ T*>(src + p[4]);
                if (newer && p[2])
                    asc_copy_gm2l1_dn2nz(at<T>(p[3]), from, p[5],
                                         asc_load_l2_cache_mode::NOTALLOC_KEEP, p[6], p[7], p[8],
                                         p[9]);
                else if (newer)
                    asc_copy_gm2l1_nd2nz(at<T>(p[3]), from, p[5],
                                         asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM, p[6], p[7],
                                         p[8], p[9]);
                else if (p[2])
                    asc_copy_gm2l1_dn2nz_sync(at<T>(p[3]), from, p[5], 0, p[6], p[7], p[8], p[9]);
                else
                    asc_copy_gm2l1_nd2nz_sync(at<T>(p[3]), from, p[5], uint8_t{4}, p[6], p[7], p[8],
                                              p[9]);
            });
            break;
        case 1:  // align: type, dst, src, count, bytes, left, right, select, src stride, dst
                 // stride, pad, loops
            asc_set_gm2l1_pad(static_cast<uint32_t>(p[11]));
            asc_set_gm2l1_loop_size(p[12], p[13]);
            asc_set_gm2l1_loop1_stride(p[14], p[15]);
            asc_set_gm2l1_loop2_stride(p[16], p[17]);
            with_type(p[1], [=](auto type) {
                using T = decltype(type);
                auto* from = reinterpret_cast<__gm__ T*>(src + p[3]);
                if (newer)
                    asc_copy_gm2l1_align(at<T>(p[2]), from, p[4], p[5], p[6], p[7], p[8],
                                         asc_load_l2_cache_mode::NORMAL_LAST_VICTIM, p[9], p[10]);
                else
                    asc_copy_gm2l1_align(at<T>(p[2]), from, p[4], p[5], p[6], p[7], p[8], 0, p[9],
                                         p[10]);
            });
            break;
        case 2:  // plain and padded: dst, src, count, blocks, mode, src stride, dst stride, pad
            asc_set_gm2l1_pad(static_cast<uint32_t>(p[8]));
            if (newer && p[5] == 0)
                asc_copy_gm2l1(at<void>(p[1]), src + p[2], p[3], p[4], asc_channel_pad_mode::NONE,
                               p[6], p[7]);
            else
                asc_copy_gm2l1(at<void>(p[1]), src + p[2], p[3], p[4], static_cast<uint8_t>(p[5]),
                               p[6], p[7]);
            break;
        case 3:  // fractals: dst, src, m start, k start, dst stride, m step, k step
            asc_copy_gm2l1(at<half>(p[1]), reinterpret_cast<half*>(src + p[2]), p[3], p[4], p[5],
                           p[6], p[7], 0, 0);
            break;
        case 4: {  // fill: form, dst, value, repeat, blocks, gap
            asc_fill_value_config cfg;
            cfg.repeat = p[4];
            cfg.blk_num = p[5];
            cfg.dst_gap = p[6];
            half h;
            bfloat16_t b;
            h.bits = b.bits = static_cast<uint16_t>(p[3]);
            if (p[1] == 0) asc_fill_l1(at<uint16_t>(p[2]), static_cast<uint32_t>(p[3]), cfg);
            if (p[1] == 1) asc_fill_l1(at<uint32_t>(p[2]), static_cast<uint32_t>(p[3]), cfg);
            if (p[1] == 2) asc_fill_l1(at<half>(p[2]), h, cfg);
            if (p[1] == 3) asc_fill_l1_sync(at<bfloat16_t>(p[2]), b, cfg);
            break;
        }
    }
    asc_sync_pipe(PIPE_ALL);
}
