// Put before every kernel text of these tests: choice of element types at run time.
#include <c_api/asc_simd.h>

// `params` holds the arguments of the instruction under test as 64-bit integers, in the order of
// the model.
using Params = const int64_t;

// Calls f with a value of the type that has this index in model/types.py.
template <class F>
void with_type(int64_t index, F f) {
    switch (index) {
        case 0:
            return f(int8_t{});
        case 1:
            return f(uint8_t{});
        case 2:
            return f(hifloat8_t{});
        case 3:
            return f(fp8_e5m2_t{});
        case 4:
            return f(fp8_e4m3fn_t{});
        case 5:
            return f(int16_t{});
        case 6:
            return f(uint16_t{});
        case 7:
            return f(half{});
        case 8:
            return f(bfloat16_t{});
        case 9:
            return f(int32_t{});
        case 10:
            return f(uint32_t{});
        case 11:
            return f(float{});
        case 12:
            return f(fp4x2_e2m1_t{});
        case 13:
            return f(fp4x2_e1m2_t{});
        case 14:
            return f(int4x2_t{});
    }
}

// An on-chip pointer as kernels write it: a literal offset.
template <class T>
T* at(int64_t offset) {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(offset));
}

// Whole L1 as the model expects it: bytes 0xa5.
inline void poison_l1() {
    asc_fill_value_config all;
    all.repeat = 1;
    all.blk_num = 16384;
    asc_fill_l1(at<uint32_t>(0), 0xa5a5a5a5u, all);
}
