// Call of a SIMT vector function (ascend_c_vector.md section 2): a block of threads that PIPE_V
// runs while the scalar unit goes on. Arguments are copied at the call.
#pragma once

#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "asc_emu/insn/simt.hpp"

namespace asc_emu {

// Checkers look at the threads one by one (simt_hooks.cpp).
#if defined(__SANITIZE_THREAD__)
constexpr bool kObserved = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kObserved = true;
#else
constexpr bool kObserved = false;
#endif
#else
constexpr bool kObserved = false;
#endif

// Set by rewritten text for functions that run all threads in one call (lane loops).
template <auto kFunction>
struct SimtLanes {
    static constexpr bool kKnown = false;
};

// Set by rewritten text for functions that declare `__launch_bounds__`.
template <auto kFunction>
struct SimtBound {
    static constexpr uint32_t kMostThreads = 0;
};

template <class F>
struct SimtTraits;
template <class... P>
struct SimtTraits<void (*)(P...)> {
    using Arguments = std::tuple<std::decay_t<P>...>;

    template <class Callee>
    static void call(Callee callee, const void* arguments) {
        // Each thread gets its own copies, as on the device.
        std::apply([&](std::decay_t<P>... values) { callee(values...); },
                   *static_cast<const Arguments*>(arguments));
    }

    template <auto kFunction, class... Args>
    static void issue_call(dim3 threads, Args&&... args) {
        static_assert(sizeof...(Args) == sizeof...(P),
                      "wrong number of arguments of a SIMT function");
        static_assert((std::is_trivially_copyable_v<std::decay_t<P>> && ...),
                      "arguments of a SIMT function are copied bytewise");
        SimtFunction i{};
        i.threads = threads;
        i.grid = dim3(0);
        i.most_threads = SimtBound<kFunction>::kMostThreads;
        if constexpr (SimtLanes<kFunction>::kKnown && !kObserved)
            i.lanes = [](const void* arguments) { call(SimtLanes<kFunction>::kRun, arguments); };
        else
            i.run = [](const void* arguments) { call(kFunction, arguments); };
        void* place = i.inline_arguments;
        if constexpr (sizeof(Arguments) > SimtFunction::kInlineBytes || alignof(Arguments) > 16)
            place = i.heap = std::aligned_alloc(64, (sizeof(Arguments) + 63) / 64 * 64);
        // NOTE: by memcpy: checkers that look at plain stores would take `heap` for global memory.
        const Arguments values(static_cast<std::decay_t<P>>(args)...);
        std::memcpy(place, &values, sizeof(values));
        issue(i);
    }
};

}  // namespace asc_emu

// Starts `kFunction(args...)` with `threads` threads on PIPE_V.
template <auto kFunction, class... Args>
inline void asc_vf_call(dim3 threads, Args&&... args) {
    asc_emu::SimtTraits<std::decay_t<decltype(kFunction)>>::template issue_call<kFunction>(
        threads, std::forward<Args>(args)...);
}
