// Kernel entry points for the host: payload layout, thunks, and the table a kernel object exports.
// The source pass appends ASC_EMU_KERNELS_BEGIN .. END to the text of a kernel (emulator.md section 1).
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "asc_emu/core_api.h"

namespace asc_emu {

template <class T>
constexpr uint8_t param_kind() {
    if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) return ASC_EMU_PARAM_POINTER;
    else if constexpr (std::is_same_v<T, bool>) return ASC_EMU_PARAM_BOOL;
    else if constexpr (std::is_floating_point_v<T>) return ASC_EMU_PARAM_FLOAT;
    else if constexpr (std::is_enum_v<T>) return param_kind<std::underlying_type_t<T>>();
    else if constexpr (std::is_integral_v<T>)
        return std::is_signed_v<T> ? ASC_EMU_PARAM_INT : ASC_EMU_PARAM_UINT;
    else return ASC_EMU_PARAM_STRUCT;
}

template <class T>
class TypeName {
public:
    // "... [with T = int]" holds the name between "T = " and the closing bracket.
    static const char* get() {
        static char name[512];
        if (name[0] == 0) extract(__PRETTY_FUNCTION__, name, sizeof(name));
        return name;
    }

private:
    static void extract(const char* text, char* out, size_t room) {
        const char* start = std::strstr(text, "T = ");
        start = start ? start + 4 : text;
        size_t n = std::strlen(start);
        while (n && (start[n - 1] == ']' || start[n - 1] == ' ')) --n;
        if (n >= room) n = room - 1;
        std::memcpy(out, start, n);
    }
};

// offset(i) = round_up(end(i-1), max(4, alignof)): deep_jit.md section 7.1.
template <class... Args>
struct PayloadLayout {
    static constexpr size_t count = sizeof...(Args);
    static constexpr auto offsets = [] {
        struct { size_t at[sizeof...(Args) + 1]; } r{};
        size_t end = 0, i = 0;
        ((r.at[i] = (end + (alignof(Args) > 4 ? alignof(Args) : 4) - 1) /
                    (alignof(Args) > 4 ? alignof(Args) : 4) * (alignof(Args) > 4 ? alignof(Args) : 4),
          end = r.at[i] + sizeof(Args), ++i), ...);
        const size_t total = (end + 7) / 8 * 8;
        r.at[i] = total < 8 ? 8 : total;
        return r;
    }();
    static constexpr size_t bytes = offsets.at[count];
};

template <class F>
struct FunctionArgs;
template <class R, class... Args>
struct FunctionArgs<R (*)(Args...)> {
    using Layout = PayloadLayout<std::remove_cv_t<Args>...>;

    static const asc_emu_param* params() {
        static const asc_emu_param table[sizeof...(Args) + 1] = {
            asc_emu_param{param_kind<std::remove_cv_t<Args>>(), sizeof(Args), alignof(Args),
                          TypeName<Args>::get()}...,
            asc_emu_param{}};
        return table;
    }
    template <size_t I, class T>
    static T read(const void* payload) {
        static_assert(std::is_trivially_copyable_v<T>, "kernel arguments are copied bytewise");
        alignas(T) unsigned char raw[sizeof(T)];
        std::memcpy(raw, static_cast<const char*>(payload) + Layout::offsets.at[I], sizeof(T));
        return *reinterpret_cast<T*>(raw);
    }
    template <class Callee, size_t... I>
    static void call(Callee callee, const void* payload, std::index_sequence<I...>) {
        (void)payload;
        callee(read<I, std::remove_cv_t<Args>>(payload)...);
    }
};

template <auto kFunction>
struct KernelThunk {
    using Args = FunctionArgs<std::decay_t<decltype(kFunction)>>;
    static void run(const void* payload) {
        Args::call(kFunction, payload, std::make_index_sequence<Args::Layout::count>());
    }
    static asc_emu_kernel record(const char* name, int num_aic, int num_aiv) {
        return {name, reinterpret_cast<const void*>(kFunction), &run, Args::params(),
                static_cast<uint32_t>(Args::Layout::count), static_cast<uint8_t>(num_aic),
                static_cast<uint8_t>(num_aiv)};
    }
};

}  // namespace asc_emu

#define ASC_EMU_EXPORT __attribute__((visibility("default"), used))

// ASC_EMU_KERNEL(num_aic, num_aiv, name expression...): the expression is last since it may hold commas.
#define ASC_EMU_KERNEL(num_aic, num_aiv, ...) \
    asc_emu::KernelThunk<&__VA_ARGS__>::record(#__VA_ARGS__, num_aic, num_aiv),
#define ASC_EMU_KERNELS_BEGIN \
    static const asc_emu_kernel asc_emu_kernel_list[] = {
#define ASC_EMU_KERNELS_END \
    {} };                   \
    extern "C" ASC_EMU_EXPORT const asc_emu_kernel_table asc_emu_kernels_v1 = { \
        ASC_EMU_ABI_VERSION,  \
        static_cast<uint32_t>(sizeof(asc_emu_kernel_list) / sizeof(asc_emu_kernel_list[0]) - 1), \
        asc_emu_kernel_list};
