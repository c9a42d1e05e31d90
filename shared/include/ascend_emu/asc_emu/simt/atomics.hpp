// Atomics of SIMT code on types that scalar cores have none for: 16-bit floats, pairs of them,
// volatile words (ascend_c_vector.md section 14.4). The others are those of api/atomics.hpp. Each
// returns the old value.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "asc_emu/api/atomics.hpp"
#include "asc_emu/simt/vector_types.hpp"

namespace asc_emu::simt {

template <size_t kBytes>
using Word =
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>;

// Read-modify-write of any 2, 4 or 8 byte type.
template <class T, class Change>
inline std::remove_cv_t<T> update(T* address, Change change) {
    using Plain = std::remove_cv_t<T>;
    using Bits = Word<sizeof(T)>;
    tell_scalar(address, sizeof(T), 2);
    auto* word = reinterpret_cast<Bits*>(const_cast<Plain*>(address));
    Bits old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        Plain value;
        std::memcpy(&value, &old, sizeof(T));
        const Plain changed = change(value);
        Bits bits;
        std::memcpy(&bits, &changed, sizeof(T));
        if (__atomic_compare_exchange_n(word, &old, bits, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return value;
    }
}

// Pairs change element by element.
template <class T, class F>
inline T each(T a, T b, F f) {
    if constexpr (std::is_same_v<T, half2> || std::is_same_v<T, bfloat16x2_t>)
        return {f(a.x, b.x), f(a.y, b.y)};
    else
        return f(a, b);
}

template <class T>
concept OtherAtomic = !is_atomic_scalar<T>;

}  // namespace asc_emu::simt

#define ASC_EMU_SIMT_ATOMIC(name, rule)                                                       \
    template <class T>                                                                        \
        requires asc_emu::simt::OtherAtomic<T>                                                \
    inline std::remove_cv_t<T> asc_atomic_##name(T* address, std::type_identity_t<T> val) {   \
        using Plain = std::remove_cv_t<T>;                                                    \
        return asc_emu::simt::update(address, [=](Plain old) {                                \
            return asc_emu::simt::each(old, Plain(val), [](auto a, auto b) { return rule; }); \
        });                                                                                   \
    }
ASC_EMU_SIMT_ATOMIC(add, static_cast<decltype(a)>(a + b))
ASC_EMU_SIMT_ATOMIC(sub, static_cast<decltype(a)>(a - b))
ASC_EMU_SIMT_ATOMIC(exch, ((void)a, b))
ASC_EMU_SIMT_ATOMIC(max, a != a || b > a ? b : a)
ASC_EMU_SIMT_ATOMIC(min, a != a || b < a ? b : a)
ASC_EMU_SIMT_ATOMIC(and, static_cast<decltype(a)>(a& b))
ASC_EMU_SIMT_ATOMIC(or, static_cast<decltype(a)>(a | b))
ASC_EMU_SIMT_ATOMIC(xor, static_cast<decltype(a)>(a ^ b))
// Counts up to `val` and starts again at 0; counts down to 0 and starts again at `val`.
ASC_EMU_SIMT_ATOMIC(inc, static_cast<decltype(a)>(a >= b ? 0 : a + 1))
ASC_EMU_SIMT_ATOMIC(dec, static_cast<decltype(a)>(a == 0 || a > b ? b : a - 1))
#undef ASC_EMU_SIMT_ATOMIC

template <class T>
    requires asc_emu::simt::OtherAtomic<T>
inline std::remove_cv_t<T> asc_atomic_cas(T* address, std::type_identity_t<T> compare,
                                          std::type_identity_t<T> val) {
    using Plain = std::remove_cv_t<T>;
    const Plain wanted = compare, next = val;
    return asc_emu::simt::update(address, [=](Plain old) {
        return std::memcmp(&old, &wanted, sizeof(old)) == 0 ? next : old;
    });
}
