// nd2nz copies from a constant source, mixed with everything that looks at L1 or overwrites it: `count` steps of
// 7 numbers. At the end all of it that the steps use is read.
extern "C" __global__ __mix__(1, 1) void l1_views(__gm__ const uint8_t* src, __gm__ Params* steps, int32_t count) {
    asc_init();
    if ASC_IS_AIV return;
    asc_set_fp32_mode();
    for (int32_t s = 0; s < count; ++s) {
        __gm__ Params* p = steps + s * 7;
        auto* from = reinterpret_cast<__gm__ bfloat16_t*>(const_cast<__gm__ uint8_t*>(src) + p[2]);
        switch (p[0]) {
            case 0:    // nd2nz: dst, src, line bytes, rows, columns, distance of C0 columns
            case 1: {  // dn2nz
                asc_set_gm2l1_nz_para(static_cast<uint16_t>(1), static_cast<uint16_t>(1),
                                      static_cast<uint16_t>(p[6]), static_cast<uint16_t>(0));
                if (p[0] == 0)
                    asc_copy_gm2l1_nd2nz(at<bfloat16_t>(p[1]), from, p[3],
                                         asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM, p[4], p[5], 0, false);
                else
                    asc_copy_gm2l1_dn2nz(at<bfloat16_t>(p[1]), from, p[3],
                                         asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM, p[4], p[5], 0, false);
                break;
            }
            case 2: {  // fill: dst, blocks of 32 bytes, pattern
                asc_fill_value_config fill;
                fill.repeat = 1;
                fill.blk_num = p[2];
                asc_fill_l1(at<uint32_t>(p[1]), static_cast<uint32_t>(p[3]), fill);
                break;
            }
            case 3:    // plain copy: dst, source offset, blocks of 32 bytes
                asc_copy_gm2l1(at<void>(p[1]), reinterpret_cast<__gm__ uint8_t*>(from), 1, p[3], 0, 0, 0);
                break;
            case 4:    // L1 -> L0A and L0B: dst, src, m step, k step, src stride, dst stride
                asc_copy_l12l0a(at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), 0, 0, p[3], p[4], p[5], p[6]);
                break;
            case 5:
                asc_copy_l12l0b(at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), 0, 0, p[3], p[4], p[5], p[6]);
                break;
            case 6:    // product: A, B, m, k, n, C
                asc_mmad(at<float>(p[6]), at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), p[3], p[4], p[5],
                         asc_unit_flag_mode::DISABLE, false, false, true);
                break;
            case 7:    // read: UB, L1, blocks of 32 bytes
                asc_copy_l12ub(at<void>(p[1]), at<void>(p[2]), 0, 1, p[3], 0, 0);
                break;
        }
        asc_sync();
    }
}
