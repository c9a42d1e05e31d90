// Atomic stores of the copy engines (ascend_c_cube.md section 12).
// NOTE: integer sums wrap, float sums follow IEEE (INF/NAN mode); max and min pass NaN on.
#include "ops/atomic_store.hpp"

#include <cstring>
#include <type_traits>

#include "asc_emu/number_formats.hpp"

namespace asc_emu {
namespace {

struct HalfElement {
    using Bits = uint16_t;
    static float decode(Bits b) { return half_to_float(b); }
    static Bits encode(float v) { return float_to_half(v); }
};
struct Bf16Element {
    using Bits = uint16_t;
    static float decode(Bits b) { return bf16_to_float(b); }
    static Bits encode(float v) { return float_to_bf16(v); }
};
template <class T>
struct PlainElement {
    using Bits = T;
    static T decode(Bits b) { return b; }
    static Bits encode(T v) { return v; }
};

template <class T>
T add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    else
        return a + b;
}
template <class T>
T combine(AtomicOp op, T old, T v) {
    if (op == AtomicOp::add) return add(old, v);
    if (old != old) return old;
    if (v != v) return v;
    if (op == AtomicOp::max) return v > old ? v : old;
    return v < old ? v : old;
}

template <class Element>
void store_elements(AtomicOp op, const std::byte* src, std::byte* dst, uint64_t bytes) {
    using Bits = typename Element::Bits;
    for (uint64_t at = 0; at < bytes; at += sizeof(Bits)) {
        Bits old, value;
        std::memcpy(&old, dst + at, sizeof(Bits));
        std::memcpy(&value, src + at, sizeof(Bits));
        const Bits next =
            Element::encode(combine(op, Element::decode(old), Element::decode(value)));
        std::memcpy(dst + at, &next, sizeof(Bits));
    }
}

typedef float Floats __attribute__((vector_size(32)));

void add_floats(const std::byte* src, std::byte* dst, uint64_t bytes) {
    uint64_t at = 0;
    for (; at + sizeof(Floats) <= bytes; at += sizeof(Floats)) {
        Floats old, value;
        std::memcpy(&old, dst + at, sizeof(Floats));
        std::memcpy(&value, src + at, sizeof(Floats));
        old += value;
        std::memcpy(dst + at, &old, sizeof(Floats));
    }
    for (; at < bytes; at += 4) {
        float old, value;
        std::memcpy(&old, dst + at, 4);
        std::memcpy(&value, src + at, 4);
        old += value;
        std::memcpy(dst + at, &old, 4);
    }
}

}  // namespace

void atomic_store(AtomicOp op, Dtype type, const std::byte* src, std::byte* dst, uint64_t bytes) {
    switch (type) {
        case Dtype::f32:
            if (op == AtomicOp::add) return add_floats(src, dst, bytes);
            return store_elements<PlainElement<float>>(op, src, dst, bytes);
        case Dtype::f16:
            return store_elements<HalfElement>(op, src, dst, bytes);
        case Dtype::bf16:
            return store_elements<Bf16Element>(op, src, dst, bytes);
        case Dtype::i32:
            return store_elements<PlainElement<int32_t>>(op, src, dst, bytes);
        case Dtype::i16:
            return store_elements<PlainElement<int16_t>>(op, src, dst, bytes);
        default:
            return store_elements<PlainElement<int8_t>>(op, src, dst, bytes);
    }
}

}  // namespace asc_emu
