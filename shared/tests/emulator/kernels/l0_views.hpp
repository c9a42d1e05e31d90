// Copies L1 -> L0 mixed with writes to their source: GM fills L1 first, then `count` steps of 7 numbers run.
extern "C" __global__ __cube__ void l0_views(__gm__ uint8_t* src, __gm__ Params* steps, int32_t count) {
    asc_init();
    asc_copy_gm2l1(at<void>(0), src, 1, 16384, 0, 0, 0);
    asc_sync();
    for (int32_t s = 0; s < count; ++s) {
        __gm__ Params* p = steps + s * 7;
        switch (p[0]) {
            case 0:  // 2D: dst, src, m step, k step, src stride, dst stride
                asc_copy_l12l0b(at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), 0, 0, p[3], p[4], p[5], p[6]);
                break;
            case 1:  // the same to L0A
                asc_copy_l12l0a_sync(at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), 0, 0, p[3], p[4], p[5], p[6]);
                break;
            case 2:  // transposed, to L0B
                asc_copy_l12l0b_transpose(at<bfloat16_t>(p[1]), at<bfloat16_t>(p[2]), 0, 0, p[3], p[4], p[5],
                                          p[6]);
                break;
            case 3: {  // fill L1: dst, blocks of 32 bytes, pattern
                asc_fill_value_config fill;
                fill.repeat = 1;
                fill.blk_num = p[2];
                asc_sync();
                asc_fill_l1(at<uint32_t>(p[1]), static_cast<uint32_t>(p[3]), fill);
                asc_sync();
                break;
            }
            case 4:  // GM -> L1: dst, source offset, blocks of 32 bytes
                asc_sync();
                asc_copy_gm2l1(at<void>(p[1]), src + p[2], 1, p[3], 0, 0, 0);
                asc_sync();
                break;
        }
    }
    asc_sync_pipe(PIPE_ALL);
}
