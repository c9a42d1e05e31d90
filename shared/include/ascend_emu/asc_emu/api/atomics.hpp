// Atomic mode of stores to GM, and scalar access to GM around the data cache (ascend_c_cube.md
// sections 12 and 16). The host's memory is coherent: atomics and *_dev accesses are host atomics
// with acquire and release order, plain dereferences need no cache operation.
#pragma once

#include "asc_emu/api/common.hpp"

// Atomic mode of later UB -> GM and L0C -> GM stores of this core ---------------------------------
namespace asc_emu {
inline void set_atomic(AtomicOp op, Dtype type) {
    Registers& r = registers();
    r.atomic_op = op;
    r.atomic_type = static_cast<uint8_t>(type);
}
}  // namespace asc_emu

#define ASC_EMU_ATOMIC_SETTERS(op)                                        \
    inline void asc_set_atomic_##op##_float() {                           \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::f32);  \
    }                                                                     \
    inline void asc_set_atomic_##op##_float16() {                         \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::f16);  \
    }                                                                     \
    inline void asc_set_atomic_##op##_bfloat() {                          \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::bf16); \
    }                                                                     \
    inline void asc_set_atomic_##op##_int() {                             \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::i32);  \
    }                                                                     \
    inline void asc_set_atomic_##op##_int32() {                           \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::i32);  \
    }                                                                     \
    inline void asc_set_atomic_##op##_int16() {                           \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::i16);  \
    }                                                                     \
    inline void asc_set_atomic_##op##_int8() {                            \
        asc_emu::set_atomic(asc_emu::AtomicOp::op, asc_emu::Dtype::i8);   \
    }
ASC_EMU_ATOMIC_SETTERS(add)
ASC_EMU_ATOMIC_SETTERS(max)
ASC_EMU_ATOMIC_SETTERS(min)
#undef ASC_EMU_ATOMIC_SETTERS
inline void asc_set_atomic_none() {
    asc_emu::set_atomic(asc_emu::AtomicOp::none, asc_emu::Dtype::none);
}

// Checkers are told of scalar accesses: of loads afterwards, of others before.
namespace asc_emu {
inline void tell_scalar(const volatile void* address, uint32_t bytes, int kind) {
    if (__builtin_expect(asc_emu_observing != 0, 0)) asc_emu_scalar_access(address, bytes, kind);
}
}  // namespace asc_emu

// Scalar access -----------------------------------------------------------------------------------
template <class T>
inline T asc_load_dev(__gm__ T* address) {
    static_assert(std::is_integral_v<T>, "asc_load_dev reads integers of 8 to 64 bits");
    const auto value = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    asc_emu::tell_scalar(address, sizeof(T), 0);
    return value;
}
template <class T>
inline void asc_store_dev(__gm__ T* address, std::type_identity_t<T> value) {
    static_assert(std::is_integral_v<T>, "asc_store_dev writes integers of 8 to 64 bits");
    asc_emu::tell_scalar(address, sizeof(T), 1);
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}

namespace asc_emu {

// old = *address; *address = update(old), atomically; returns old. Floats go through their bits.
template <class T, class Update>
inline T atomic_update(T* address, Update update) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    tell_scalar(address, sizeof(T), 2);
    auto* bits = reinterpret_cast<Bits*>(address);
    Bits old_bits = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        const T old = __builtin_bit_cast(T, old_bits);
        const Bits next = __builtin_bit_cast(Bits, static_cast<T>(update(old)));
        if (__atomic_compare_exchange_n(bits, &old_bits, next, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return old;
    }
}
// Wrapping sum of integers.
template <class T>
constexpr T wrapping_add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
    else
        return a + b;
}
template <class T>
constexpr T wrapping_sub(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) -
                              static_cast<std::make_unsigned_t<T>>(b));
    else
        return a - b;
}
template <class T>
constexpr bool is_atomic_scalar =
    std::is_same_v<T, float> || (std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

}  // namespace asc_emu

// Each returns the old value.
namespace __asc_aicore {

#define ASC_EMU_ATOMIC_FUNCTION(name, allowed, rule)                              \
    template <class T>                                                            \
    inline T asc_atomic_##name(__gm__ T* address, std::type_identity_t<T> val) {  \
        static_assert(allowed, "asc_atomic_" #name " does not take this type");   \
        return asc_emu::atomic_update(address, [=](T old) -> T { return rule; }); \
    }
#define ASC_EMU_ANY asc_emu::is_atomic_scalar<T>
#define ASC_EMU_INTEGER asc_emu::is_atomic_scalar<T>&& std::is_integral_v<T>
#define ASC_EMU_UNSIGNED asc_emu::is_atomic_scalar<T>&& std::is_unsigned_v<T>
ASC_EMU_ATOMIC_FUNCTION(add, ASC_EMU_ANY, asc_emu::wrapping_add(old, val))
ASC_EMU_ATOMIC_FUNCTION(sub, ASC_EMU_ANY, asc_emu::wrapping_sub(old, val))
ASC_EMU_ATOMIC_FUNCTION(exch, ASC_EMU_ANY, ((void)old, val))
ASC_EMU_ATOMIC_FUNCTION(max, ASC_EMU_ANY, old > val ? old : val)
ASC_EMU_ATOMIC_FUNCTION(min, ASC_EMU_ANY, old < val ? old : val)
ASC_EMU_ATOMIC_FUNCTION(and, ASC_EMU_INTEGER, static_cast<T>(old& val))
ASC_EMU_ATOMIC_FUNCTION(or, ASC_EMU_INTEGER, static_cast<T>(old | val))
ASC_EMU_ATOMIC_FUNCTION(xor, ASC_EMU_INTEGER, static_cast<T>(old ^ val))
ASC_EMU_ATOMIC_FUNCTION(inc, ASC_EMU_UNSIGNED, old >= val ? T{0} : static_cast<T>(old + 1))
ASC_EMU_ATOMIC_FUNCTION(dec, ASC_EMU_UNSIGNED,
                        old == 0 || old > val ? val : static_cast<T>(old - 1))
#undef ASC_EMU_ANY
#undef ASC_EMU_INTEGER
#undef ASC_EMU_UNSIGNED
#undef ASC_EMU_ATOMIC_FUNCTION

template <class T>
inline T asc_atomic_cas(__gm__ T* address, std::type_identity_t<T> compare,
                        std::type_identity_t<T> val) {
    static_assert(asc_emu::is_atomic_scalar<T>, "asc_atomic_cas does not take this type");
    return asc_emu::atomic_update(address, [=](T old) { return old == compare ? val : old; });
}

}  // namespace __asc_aicore
using namespace __asc_aicore;
