// Loads and stores of registers. UB holds an image; a case is a statement on s (a place to load
// from), t (a place to store to), registers a and b, a mask m; its results are d, e, p, the image
// and where s and t ended.
constexpr int64_t kA = 0, kB = 256, kMask = 512, kSource = 4096, kTarget = 32768, kImage = 65536;
constexpr int64_t kResults = 131072;

template <class T, class F>
void run_places(int32_t source, int32_t target, F f) {
    asc_emu::VectorRegister<T> a, b, d, e;
    vector_bool m, p;
    asc_loadalign(a, at<T>(kA));
    asc_loadalign(b, at<T>(kB));
    asc_loadalign(m, at<uint8_t>(kMask));
    d = e = a;
    p = m;
    __ubuf__ T* s = at<T>(kSource + source);
    __ubuf__ T* t = at<T>(kTarget + target);
    vector_load_unalign load_state;
    vector_store_unalign store_state;
    f(a, b, m, s, t, d, e, p, load_state, store_state);
    vector_bool all = asc_create_mask_b8(PAT_ALL);
    __ubuf__ uint8_t* out = at<uint8_t>(kResults);
    asc_storealign(out, (vector_uint8_t&)d, all);
    asc_storealign(out + 256, (vector_uint8_t&)e, all);
    asc_storealign(out + 512, p);
    vector_int32_t moved;
    asc_duplicate_scalar(moved, static_cast<int32_t>(reinterpret_cast<uintptr_t>(s)) -
                                    static_cast<int32_t>(kSource + source));
    asc_storealign_1st(at<int32_t>(kResults + 544), moved);
    asc_duplicate_scalar(moved, static_cast<int32_t>(reinterpret_cast<uintptr_t>(t)) -
                                    static_cast<int32_t>(kTarget + target));
    asc_storealign_1st(at<int32_t>(kResults + 548), moved);
}

template <int32_t kCase>
void place_case(int32_t source, int32_t target);
