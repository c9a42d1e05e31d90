// Scalar functions, system variables, scalar GM access and cache control; results go to GM.
template <class T>
void atomics(__gm__ T* x, T v, __gm__ T* old) {
    old[0] = asc_atomic_add(x + 0, v);
    old[1] = asc_atomic_sub(x + 1, v);
    old[2] = asc_atomic_exch(x + 2, v);
    old[3] = asc_atomic_max(x + 3, v);
    old[4] = asc_atomic_min(x + 4, v);
    old[5] = asc_atomic_cas(x + 5, x[5], v);
    old[6] = asc_atomic_cas(x + 6, static_cast<T>(x[6] + 1), v);
    if constexpr (!__is_same(T, float)) {
        old[7] = asc_atomic_and(x + 7, v);
        old[8] = asc_atomic_or(x + 8, v);
        old[9] = __asc_aicore::asc_atomic_xor(x + 9, v);
    }
    if constexpr (std::is_unsigned_v<T>) {
        old[10] = asc_atomic_inc(x + 10, v);
        old[11] = asc_atomic_dec(x + 11, v);
    }
}

template <class T>
void dev(__gm__ uint8_t* from, __gm__ uint8_t* to) {
    asc_store_dev(reinterpret_cast<T*>(to), asc_load_dev(reinterpret_cast<T*>(from)));
}

inline void bits(__gm__ const int64_t* x, __gm__ int64_t* y) {
    const auto u = static_cast<uint64_t>(x[0]);
    asc_nop();
    y[0] = asc_ffs(u);
    y[1] = asc_ffz(u);
    y[2] = asc_popc(u);
    y[3] = asc_zero_bits_cnt(u);
    y[4] = asc_clz(u);
    y[5] = asc_sflbits(x[0]);
    y[6] = static_cast<int64_t>(asc_set_nthbit(u, x[1]));
    y[7] = static_cast<int64_t>(asc_clear_nthbit(u, x[1]));
}

extern "C" __global__ __mix__(1, 2) void scalar(__gm__ uint8_t* in, __gm__ uint8_t* out,
                                                int32_t scenario, int32_t count) {
    asc_init();
    auto* words = reinterpret_cast<int64_t*>(out);
    const int64_t core = ASC_IS_AIC ? 0 : 1 + asc_get_sub_block_id();
    if (scenario == 5) {  // places: one row of 8 words a core
        int64_t* row = words + (block_idx * 3 + core) * 8;
        row[0] = ASC_IS_AIC;
        row[1] = block_idx;
        row[2] = block_num;
        row[3] = asc_get_sub_block_id();
        row[4] = asc_get_sub_block_num();
        row[5] = asc_get_vf_len();
        row[6] = static_cast<int64_t>(asc_get_phy_buf_addr(77));
        row[7] = asc_get_block_idx() * 100 + asc_get_block_num() + (ASC_IS_NOT_AIV ? 1000 : 0);
        return;
    }
    if (ASC_IS_NOT_AIC) return;
    switch (scenario) {
        case 0:
            for (int32_t i = 0; i < count; ++i)
                bits(reinterpret_cast<int64_t*>(in) + 2 * i, words + 8 * i);
            break;
        case 1:
            for (int32_t i = 0; i < count; ++i) {
                const float v = reinterpret_cast<float*>(in)[i];
                auto* y = reinterpret_cast<int32_t*>(out) + 4 * i;
                y[0] = asc_float2int32_rn(v);
                y[1] = asc_float2int32_rna(v);
                y[2] = asc_float2int32_rd(v);
                y[3] = asc_float2int32_ru(v);
            }
            break;
        case 2:  // atomics: type, 12 places and their old values; the operand is behind the places
            with_type(count, [=](auto type) {
                using T = decltype(type);
                if constexpr (sizeof(T) == 4 && !__is_same(T, bfloat16_t)) {
                    auto* x = reinterpret_cast<T*>(out);
                    atomics<T>(x, x[24], x + 12);
                }
            });
            if (count == 100) atomics(words, words[24], words + 12);
            if (count == 101) {
                auto* x = reinterpret_cast<uint64_t*>(out);
                atomics(x, x[24], x + 12);
            }
            break;
        case 3:
            dev<uint8_t>(in, out);
            dev<int16_t>(in + 8, out + 8);
            dev<uint32_t>(in + 16, out + 16);
            dev<int64_t>(in + 24, out + 24);
            __asc_aicore::asc_dcci_single(out);
            asc_dcci_entire_all();
            asc_dcci_entire_out();
            asc_dcci_entire_atomic();
            asc_dci();
            asc_datacache_preload(reinterpret_cast<uint64_t*>(in), 0);
            asc_icache_preload(in, 64);
            asc_sync_data_barrier(DSB_ALL);
            words[4] = asc_get_icache_preload_status();
            break;
        case 4:  // CTRL, and a clock that does not go back
            words[0] = asc_get_ctrl();
            asc_set_ctrl(0x0123456789abcdefull);
            words[1] = asc_get_ctrl();
            asc_enable_hf32();
            asc_set_mmad_direction_n();
            words[2] = asc_get_ctrl();
            asc_disable_hf32();
            asc_set_mmad_direction_m();
            words[3] = asc_get_ctrl();
            words[4] = asc_get_system_cycle();
            words[5] = asc_get_system_cycle();
            uint32_t version;
            asc_get_arch_ver(version);
            words[6] = version;
            words[7] = asc_get_status();
            break;
        case 6:
            trap();
            break;
    }
}
