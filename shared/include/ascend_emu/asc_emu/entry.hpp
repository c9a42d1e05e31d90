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

// The name of a type, made while compiling: "... [with T = int]" holds it between "T = " and the
// closing bracket.
template <class T>
class TypeName {
    struct Range {
        size_t begin, end;
    };
    static constexpr Range find(const char* text, size_t size) {
        size_t begin = 0, end = size;
        for (size_t i = 0; i + 4 <= size && begin == 0; ++i)
            if (text[i] == 'T' && text[i + 1] == ' ' && text[i + 2] == '=' && text[i + 3] == ' ')
                begin = i + 4;
        while (end > begin && (text[end - 1] == ']' || text[end - 1] == ' ')) --end;
        return {begin, end};
    }
    template <size_t kSize>
    struct Text {
        char at[kSize];
    };
    static constexpr auto make() {
        constexpr Range kRange = find(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1);
        Text<kRange.end - kRange.begin + 1> name{};
        for (size_t i = kRange.begin; i < kRange.end; ++i)
            name.at[i - kRange.begin] = __PRETTY_FUNCTION__[i];
        return name;
    }
    static constexpr auto kName = make();

public:
    static constexpr const char* get() { return kName.at; }
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

    static constexpr asc_emu_param params[sizeof...(Args) + 1] = {
        asc_emu_param{param_kind<std::remove_cv_t<Args>>(), sizeof(Args), alignof(Args),
                      TypeName<Args>::get()}...,
        asc_emu_param{}};
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
        return {name, reinterpret_cast<const void*>(kFunction), &run, Args::params,
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
