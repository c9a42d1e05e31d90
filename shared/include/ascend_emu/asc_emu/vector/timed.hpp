// Modelled time of vector instructions (ascend_c_vector.md section 16.3): in kernels built for the
// timing model every register carries the cycle from which it can be used, and every instruction
// tells the runtime of itself. Other builds hold nothing of this.
#pragma once

#include <cstdint>
#include <type_traits>

namespace asc_emu {

enum class VectorClass : uint32_t {
#define ASC_EMU_VECTOR_CLASS(name, ...) name,
#include "asc_emu/vector/classes.inc"
#undef ASC_EMU_VECTOR_CLASS
    count
};

// Float, 16-bit float or integer forms of a class.
template <class T>
constexpr bool is_int_lane = std::is_integral_v<T>;
template <class T>
constexpr VectorClass kAddClass = is_int_lane<T> ? VectorClass::add_int : VectorClass::add_float;
template <class T>
constexpr VectorClass kMulClass = is_int_lane<T> ? VectorClass::mul_int : VectorClass::mul_float;
template <class T>
constexpr VectorClass kSpecialClass =
    sizeof(T) == 2 ? VectorClass::special_half : VectorClass::special_float;
template <class D, class S>
constexpr VectorClass kConvertClass =
    is_int_lane<D> && is_int_lane<S> ? VectorClass::convert_int
    : !is_int_lane<D> && !is_int_lane<S> && sizeof(D) >= 2 && sizeof(S) >= 2
        ? VectorClass::convert
        : VectorClass::convert_other;

}  // namespace asc_emu

#if ASC_EMU_TIMED

extern "C" {
// Issues an instruction whose operands are there at cycle `ready`; returns when its result is.
uint32_t asc_emu_vector_issue(uint32_t vector_class, uint32_t ready);
// The same for a load or store of neighbouring blocks of 32 bytes (a bit each) from the one at
// `address` on; of blocks that lie `stride` blocks apart; and of `count` pieces of `bytes` bytes at
// offsets from `base`, the first `half` of them from the first half of the lanes. `address` may be
// a literal offset.
uint32_t asc_emu_vector_move(uint32_t vector_class, uint32_t ready, const volatile void* address,
                             uint32_t blocks);
uint32_t asc_emu_vector_move_blocks(uint32_t vector_class, uint32_t ready,
                                    const volatile void* address, uint32_t stride, uint32_t active);
uint32_t asc_emu_vector_move_indexed(uint32_t vector_class, uint32_t ready,
                                     const volatile void* base, const uint32_t* offsets,
                                     uint32_t half, uint32_t count, uint32_t bytes);
// What follows waits for everything so far.
void asc_emu_vector_fence(void);
}

namespace asc_emu {

template <class R>
inline __attribute__((always_inline)) uint32_t stamp_of(const R& r) {
    if constexpr (requires { r.stamp; })
        return r.stamp;
    else
        return 0;
}
// The latest cycle of several registers.
template <class... R>
inline __attribute__((always_inline)) uint32_t ready_of(const R&... sources) {
    uint32_t ready = 0;
    ((ready = stamp_of(sources) > ready ? stamp_of(sources) : ready), ...);
    return ready;
}
template <class... R>
inline __attribute__((always_inline)) uint32_t issued(VectorClass c, const R&... sources) {
    return asc_emu_vector_issue(static_cast<uint32_t>(c), ready_of(sources...));
}
// A load or store of `bytes` bytes.
template <class... R>
inline __attribute__((always_inline)) uint32_t moved_data(VectorClass c, const volatile void* p,
                                                          uint32_t bytes, const R&... sources) {
    const uint32_t blocks =
        (static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) & 31) + bytes + 31) / 32;
    return asc_emu_vector_move(static_cast<uint32_t>(c), ready_of(sources...), p,
                               (1u << blocks) - 1);
}
// Sets the destination's cycle when the instruction has written it: it may be a source too.
template <class D>
class Timed {
  public:
    template <class... R>
    inline __attribute__((always_inline)) Timed(VectorClass c, D& destination, const R&... sources)
        : destination_(destination), stamp_(issued(c, sources...)) {}
    inline __attribute__((always_inline)) Timed(uint32_t stamp, D& destination)
        : destination_(destination), stamp_(stamp) {}
    inline __attribute__((always_inline)) ~Timed() { destination_.stamp = stamp_; }

  private:
    D& destination_;
    const uint32_t stamp_;
};

}  // namespace asc_emu

#define ASC_EMU_STAMP uint32_t stamp = 0;
// ASC_EMU_TIMED_OP(class, destination, sources...) as a block's statement before the instruction.
#define ASC_EMU_TIMED_OP(...) const ::asc_emu::Timed asc_emu_timed(__VA_ARGS__)
// The same for a move with a destination, (class, destination, pointer, bytes, sources...), and for
// one without: (class, pointer, bytes, sources...).
#define ASC_EMU_TIMED_LOAD(c, destination, ...) \
    const ::asc_emu::Timed asc_emu_timed(::asc_emu::moved_data(c, __VA_ARGS__), destination)
#define ASC_EMU_TIMED_MOVE(...) ::asc_emu::moved_data(__VA_ARGS__)
// A call of the functions in api/vector_memory.hpp that returns a cycle, for a destination or for
// none.
#define ASC_EMU_TIMED_AT(destination, ...) \
    const ::asc_emu::Timed asc_emu_timed(__VA_ARGS__, destination)
#define ASC_EMU_TIMED_CALL(...) static_cast<void>(__VA_ARGS__)
#define ASC_EMU_SAME_STAMP(to, from) (to).stamp = (from).stamp
#define ASC_EMU_VECTOR_FENCE() asc_emu_vector_fence()

#else

#define ASC_EMU_STAMP
#define ASC_EMU_TIMED_OP(...) static_cast<void>(0)
#define ASC_EMU_TIMED_LOAD(...) static_cast<void>(0)
#define ASC_EMU_TIMED_MOVE(...) static_cast<void>(0)
#define ASC_EMU_TIMED_AT(...) static_cast<void>(0)
#define ASC_EMU_TIMED_CALL(...) static_cast<void>(0)
#define ASC_EMU_SAME_STAMP(to, from) static_cast<void>(0)
#define ASC_EMU_VECTOR_FENCE() static_cast<void>(0)

#endif
