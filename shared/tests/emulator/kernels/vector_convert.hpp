// Conversions of whole registers: block b converts its share of the input. The cases come from the
// test, one of them per function of ascend_c_vector.md section 9.3.
constexpr int64_t kOut = 65536;

// Converts `count` registers by f and, where there is one, by g; both results side by side.
template <class D, class S, class F, class G>
void convert_registers(uint16_t count, F f, G g) {
    vector_bool all = asc_create_mask_b8(PAT_ALL);
    __ubuf__ S* in = at<S>(0);
    __ubuf__ uint8_t* out = at<uint8_t>(kOut);
    for (uint16_t i = 0; i < count; ++i) {
        asc_emu::VectorRegister<S> s;
        asc_emu::VectorRegister<D> d;
        asc_loadalign(s, in + i * (256 / sizeof(S)));
        f(d, s, all);
        asc_storealign(out, (vector_uint8_t&)d, all);
        g(d, s, all);
        asc_storealign(out + 256, (vector_uint8_t&)d, all);
        out += 512;
    }
}
template <class D, class S, class F>
void convert_registers(uint16_t count, F f) {
    convert_registers<D, S>(count, f, [](auto&, auto&, auto&) {});
}

template <int32_t kCase>
void convert_case(uint16_t count);
