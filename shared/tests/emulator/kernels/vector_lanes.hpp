// Instructions on whole registers. The cases come from the tests: each is a statement on registers
// a, b and c, a mask m, and the results d (starts as c), e and p.
constexpr int64_t kA = 0, kB = 32768, kC = 65536, kMasks = 98304, kOut = 131072;
constexpr int64_t kRow = 256 + 256 + 32;

template <class T>
using Register = asc_emu::VectorRegister<T>;

template <class A, class B, class D, class E, class F>
void each_register(uint16_t count, F f) {
    for (uint16_t i = 0; i < count; ++i) {
        Register<A> a;
        Register<B> b;
        Register<D> d;
        Register<E> e;
        vector_bool m, p;
        asc_loadalign(a, at<A>(kA + i * 256));
        asc_loadalign(b, at<B>(kB + i * 256));
        asc_loadalign(d, at<D>(kC + i * 256));
        asc_loadalign(e, at<E>(kC + i * 256));
        asc_loadalign(m, at<uint8_t>(kMasks + i * 32));
        asc_loadalign(p, at<uint8_t>(kMasks + i * 32));
        const Register<D> c = d;
        f(a, b, c, m, d, e, p);
        vector_bool all = asc_create_mask_b8(PAT_ALL);
        __ubuf__ uint8_t* out = at<uint8_t>(kOut + i * kRow);
        asc_storealign(out, (vector_uint8_t&)d, all);
        asc_storealign(out + 256, (vector_uint8_t&)e, all);
        asc_storealign(out + 512, p);
    }
}

template <int32_t kCase>
void lane_case(uint16_t count);

// The first element of a register as a number.
template <class T>
uint32_t first_of(const Register<T>& v) {
    T first;
    __builtin_memcpy(&first, &v, sizeof(T));
    return static_cast<uint32_t>(first);
}
template <class T>
bool first_is_odd(const Register<T>& v) {
    return first_of(v) % 2 != 0;
}
