// L1 -> L0A, L0B, scale memories, BT and FB on a cube core: GM fills L1 first, the test reads the
// targets.
template <class T>
void load(bool to_b, bool transpose, Params* p) {
    if (to_b && transpose)
        asc_copy_l12l0b_transpose(at<T>(p[2]), at<T>(p[3]), p[4], p[5], p[6], p[7], p[8], p[9]);
    else if (to_b)
        asc_copy_l12l0b(at<T>(p[2]), at<T>(p[3]), p[4], p[5], p[6], p[7], p[8], p[9]);
    else if (transpose)
        asc_copy_l12l0a_transpose_sync(at<T>(p[2]), at<T>(p[3]), p[4], p[5], p[6], p[7], p[8],
                                       p[9]);
    else
        asc_copy_l12l0a_sync(at<T>(p[2]), at<T>(p[3]), p[4], p[5], p[6], p[7], p[8], p[9]);
}

extern "C" __global__ __cube__ void l1_to_l0(__gm__ uint8_t* src, __gm__ Params* p,
                                             int32_t scenario) {
    asc_init();
    asc_copy_gm2l1(at<void>(0), src, 1, 16384, 0, 0, 0);
    asc_sync();
    switch (scenario) {
        case 0:  // 2D: to L0B, type, dst, src, m start, k start, m step, k step, src stride, dst
                 // stride
        case 1:  // the same, transposed
            with_type(p[1], [=](auto type) { load<decltype(type)>(p[0], scenario == 1, p); });
            break;
        case 2:  // trans: type, dst, src, index, repeat, src stride, dst gap, dst fractal gap, src
                 // fractal gap
            with_type(p[1], [=](auto type) {
                using T = decltype(type);
                asc_copy_l12l0b_trans(at<T>(p[2]), at<T>(p[3]), p[4], p[5], p[6], p[7], p[8], p[9]);
            });
            break;
        case 3:  // scales: to L0B, operand address, src, x start, y start, x step, y step, strides
            if (p[0])
                asc_copy_l12l0b_mx(p[1] / 16, at<fp8_e8m0_t>(p[2]), p[3], p[4], p[5], p[6], p[7],
                                   p[8]);
            else
                asc_copy_l12l0a_mx(p[1] / 16, at<fp8_e8m0_t>(p[2]), p[3], p[4], p[5], p[6], p[7],
                                   p[8]);
            break;
        case 4:  // bias: form (0 bytes, 1 half, 2 bf16, 3 size), dst, src, count, blocks, src gap,
                 // dst gap
            if (p[0] == 0) asc_copy_l12bt(p[1], at<int32_t>(p[2]), 0, p[3], p[4], p[5], p[6]);
            if (p[0] == 1) asc_copy_l12bt(p[1], at<half>(p[2]), 1, p[3], p[4], p[5], p[6]);
            if (p[0] == 2) asc_copy_l12bt(p[1], at<bfloat16_t>(p[2]), 1, p[3], p[4], p[5], p[6]);
            if (p[0] == 3) asc_copy_l12bt_sync(p[1], at<float>(p[2]), static_cast<uint32_t>(p[4]));
            if (p[0] == 4) asc_copy_l12bt(p[1], at<float>(p[2]), 1, p[3], p[4], p[5], p[6]);
            break;
        case 5:  // Fixpipe buffer: form (0 blocks, 1 size), dst, src, count, blocks, src gap, dst
                 // gap
            if (p[0] == 0)
                asc_copy_l12fb(at<void>(p[1]), at<void>(p[2]), p[3], p[4], p[5], p[6]);
            else
                asc_copy_l12fb_sync(at<void>(p[1]), at<void>(p[2]), static_cast<uint32_t>(p[4]));
            break;
    }
    asc_sync_pipe(PIPE_ALL);
}
