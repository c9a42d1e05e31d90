// Call of a SIMD vector function (ascend_c_vector.md section 2): one instruction of PIPE_V that
// carries its arguments by value and runs when the pipe reaches it.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/vector.hpp"

namespace asc_emu {

template <class F>
struct VectorFunctionTraits;
template <class... P>
struct VectorFunctionTraits<void (*)(P...)> {
    static constexpr size_t kCount = sizeof...(P);
    // Offsets of the arguments, each aligned to 8 bytes.
    struct Offsets {
        size_t at[kCount + 1];
    };
    static constexpr Offsets offsets() {
        Offsets r{};
        size_t end = 0, i = 0;
        ((r.at[i] = end, end += (sizeof(std::decay_t<P>) + 7) / 8 * 8, ++i), ...);
        r.at[i] = end;
        return r;
    }

    template <class T>
    static T& argument(const void* arguments, size_t offset) {
        // A queued instruction owns its arguments: references of the callee bind to that copy.
        return *reinterpret_cast<T*>(
            reinterpret_cast<uintptr_t>(static_cast<const std::byte*>(arguments) + offset));
    }
    template <auto kFunction, size_t... I>
    static void call(const void* arguments, std::index_sequence<I...>) {
        (void)arguments;
        kFunction(argument<std::decay_t<P>>(arguments, offsets().at[I])...);
    }
    template <size_t... I>
    static void pack(std::byte* arguments, const std::decay_t<P>&... values,
                     std::index_sequence<I...>) {
        (void)arguments;
        (std::memcpy(arguments + offsets().at[I], &values, sizeof(values)), ...);
    }
    template <auto kFunction>
    static void issue_call(const std::decay_t<P>&... values) {
        static_assert((std::is_trivially_copyable_v<std::decay_t<P>> && ...),
                      "arguments of a vector function are copied bytewise");
        static_assert(((alignof(std::decay_t<P>) <= 8) && ...),
                      "arguments of a vector function are aligned to at most 8 bytes");
        static_assert(offsets().at[kCount] <= VectorFunction::kArgumentBytes,
                      "a vector function takes at most 144 bytes of arguments");
        VectorFunction i{};
        i.run = [](const void* arguments) {
            call<kFunction>(arguments, std::make_index_sequence<kCount>());
        };
        pack(i.arguments, values..., std::make_index_sequence<kCount>());
        issue(i);
    }
};

}  // namespace asc_emu

// Starts `kFunction(args...)` on PIPE_V.
template <auto kFunction, class... Args>
inline void asc_vf_call(Args... args) {
    asc_emu::VectorFunctionTraits<std::decay_t<decltype(kFunction)>>::template issue_call<
        kFunction>(args...);
}
