// Products on a cube core: operands come in L0 form through L1, C is read by the test.
struct Product {
    int64_t m, k, n, a, b, c;  // sizes, L0 addresses
    int64_t init;              // 0 zero, 1 previous C, 2 bias by flag, 3 bias overload
    int64_t bt;                // BT byte address
    int64_t disable_gemv, repeat, ctrl, newer;
};

template <bool kMx, class C, class A, class B>
void multiply(const Product& p, int64_t init) {
    auto* c = at<C>(p.c + (init == 2 ? p.bt << 32 : 0));
    const bool gemv_off = p.disable_gemv;
    if constexpr (kMx) {
        if (init == 3)
            asc_mmad_mx(c, at<A>(p.a), at<B>(p.b), static_cast<uint64_t>(p.bt), p.m, p.k, p.n,
                        asc_unit_flag_mode::DISABLE, gemv_off);
        else
            asc_mmad_mx(c, at<A>(p.a), at<B>(p.b), p.m, p.k, p.n, 0, gemv_off, init == 2,
                        init == 0);
    } else {
        if (init == 3)
            asc_mmad(c, at<A>(p.a), at<B>(p.b), static_cast<uint64_t>(p.bt), p.m, p.k, p.n,
                     asc_unit_flag_mode::DISABLE, gemv_off);
        else if (p.newer)
            asc_mmad(c, at<A>(p.a), at<B>(p.b), p.m, p.k, p.n, asc_unit_flag_mode::DISABLE,
                     gemv_off, init == 2, init == 0);
        else
            asc_mmad_sync(c, at<A>(p.a), at<B>(p.b), p.m, p.k, p.n, uint8_t{0}, gemv_off, init == 2,
                          init == 0);
    }
}

template <bool kMx, class C, class A, class B>
void run(const Product& p) {
    for (int64_t r = 0; r < p.repeat; ++r) {
        multiply<kMx, C, A, B>(p, r ? 1 : p.init);
        asc_sync_pipe(PIPE_M);
    }
}

void switch_modes(int64_t modes) {
    if (modes & 1) asc_enable_hf32();
    if (modes & 2) asc_set_hf32_round_mode(asc_hf32_round_mode::NEAREST_AWAY);
    if (modes & 4) asc_enable_hf32_trans(1);
    if (modes & 8) asc_set_fp32_mode();
    if (modes & 16) asc_enable_hif8();
    if (modes & 32) asc_enable_fp8();
    if (modes & 64) asc_set_hf32_round_mode(asc_hf32_round_mode::NEAREST_EVEN);
    if (modes & 128) asc_set_mmad_direction_n();
}

// images: 64 KiB of L0A, 64 KiB of L0B, 4 KiB of L0A scales, 4 KiB of L0B scales, 4 KiB of BT.
extern "C" __global__ __cube__ void mmad(__gm__ uint8_t* images, __gm__ const Product* product,
                                         int32_t pair) {
    asc_init();
    const Product p = *product;
    asc_copy_gm2l1(at<void>(0), images, 1, (128 + 12) * 32, 0, 0, 0);
    asc_sync();
    asc_copy_l12l0a(at<half>(0), at<half>(0), 0, 0, 128, 1, 128, 128);
    asc_copy_l12l0b(at<half>(0), at<half>(65536), 0, 0, 128, 1, 128, 128);
    asc_copy_l12l0a_mx(0, at<fp8_e8m0_t>(131072), 0, 0, 1, 128, 0, 0);
    asc_copy_l12l0b_mx(0, at<fp8_e8m0_t>(135168), 0, 0, 1, 128, 0, 0);
    asc_copy_l12bt(0, at<float>(139264), 0, 1, 128, 0, 0);
    asc_sync();
    switch_modes(p.ctrl);
    switch (pair) {
        case 0:
            run<false, float, half, half>(p);
            break;
        case 1:
            run<false, float, bfloat16_t, bfloat16_t>(p);
            break;
        case 2:
            run<false, float, float, float>(p);
            break;
        case 3:
            run<false, int32_t, int8_t, int8_t>(p);
            break;
        case 4:
            run<false, float, fp8_e4m3fn_t, fp8_e4m3fn_t>(p);
            break;
        case 5:
            run<false, float, fp8_e4m3fn_t, fp8_e5m2_t>(p);
            break;
        case 6:
            run<false, float, fp8_e5m2_t, fp8_e4m3fn_t>(p);
            break;
        case 7:
            run<false, float, fp8_e5m2_t, fp8_e5m2_t>(p);
            break;
        case 8:
            run<false, float, hifloat8_t, hifloat8_t>(p);
            break;
        case 9:
            run<true, float, fp8_e4m3fn_t, fp8_e5m2_t>(p);
            break;
        case 10:
            run<true, float, fp8_e5m2_t, fp8_e4m3fn_t>(p);
            break;
        case 11:
            run<true, float, fp4x2_e2m1_t, fp4x2_e1m2_t>(p);
            break;
        case 12:
            run<true, float, fp4x2_e1m2_t, fp4x2_e2m1_t>(p);
            break;
        case 13:
            run<true, float, fp4x2_e2m1_t, fp4x2_e2m1_t>(p);
            break;
    }
    asc_sync_pipe(PIPE_ALL);
}
