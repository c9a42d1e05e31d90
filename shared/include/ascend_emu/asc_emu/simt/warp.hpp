// Warp operations (ascend_c_vector.md section 14.3). Lanes at the same place of the source take
// part together; each brings a value, and `combine` computes the results of all of them at once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "asc_emu/on_use.hpp"
#include "asc_emu/simt/threads.hpp"
#include "asc_emu/types.hpp"

namespace asc_emu::simt {

template <class T>
inline uint64_t to_bits(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T>
inline T from_bits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

// Group of `width` lanes that holds `lane`.
constexpr int32_t group_base(int32_t lane, int32_t width) { return lane / width * width; }

// A parameter word: lane or distance in the low half, width above.
constexpr int32_t pack(int32_t operand, int32_t width) { return (operand & 0xffff) | width << 16; }

enum class Shuffle { index, up, down, exclusive_or };

inline void check_width(int32_t width) {
    if (__builtin_expect(width < 1 || width > 32, false))
        asc_emu_fail("asc_shfl: the width must be 1 to 32 lanes");
}

// The lane whose value `lane` gets.
template <Shuffle kKind>
inline int32_t source_of(const asc_emu_warp* warp, int32_t lane) {
    const int32_t width = warp->parameter[lane] >> 16;
    const int32_t operand = static_cast<int16_t>(warp->parameter[lane]);
    const int32_t base = group_base(lane, width);
    int32_t source = lane;
    if constexpr (kKind == Shuffle::index) source = base + (operand % width + width) % width;
    if constexpr (kKind == Shuffle::up) source = operand < width ? lane - operand : lane;
    if constexpr (kKind == Shuffle::down) source = operand < width ? lane + operand : lane;
    if constexpr (kKind == Shuffle::exclusive_or) source = lane ^ operand;
    // Outside the group the lane's own value; a target in an earlier group may be read by
    // `exclusive_or`.
    const bool in_group =
        source < base + width && (kKind == Shuffle::exclusive_or || source >= base);
    return in_group ? source & 31 : lane;
}

template <Shuffle kKind>
inline void shuffle(asc_emu_warp* warp) {
    for (int32_t lane = 0; lane < 32; ++lane) {
        if (!(warp->active >> lane & 1)) continue;
        warp->result[lane] = warp->value[source_of<kKind>(warp, lane)];
    }
    if (warp->active == ~0u) return;
    for (int32_t lane = 0; lane < 32; ++lane)
        if ((warp->active >> lane & 1) && !(warp->active >> source_of<kKind>(warp, lane) & 1))
            warp->stray |= 1u << lane;
}

template <Shuffle kKind, class T>
inline T call_shuffle(const char* site, T value, int64_t operand, int32_t width) {
    check_width(width);
    if (operand > 0x7fff) operand = 0x7fff;
    return from_bits<T>(asc_emu_simt_exchange(
        site, to_bits(value), pack(static_cast<int32_t>(operand), width), &shuffle<kKind>));
}

struct Add {
    template <class T>
    static T identity() {
        return T(0);
    }
    template <class T>
    static T apply(T a, T b) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                                  static_cast<std::make_unsigned_t<T>>(b));
        else
            return static_cast<T>(a + b);
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        const T larger = b > a ? b : a;
        return a == a ? larger : b;
    }
};
struct Min {
    template <class T>
    static T apply(T a, T b) {
        const T smaller = b < a ? b : a;
        return a == a ? smaller : b;
    }
};

// NOTE: the order of hardware's additions is not documented; here a binary tree of neighbouring
// lanes, in which inactive lanes are left out.
template <class Operation, class T>
inline T reduce_lanes(const T* values, uint32_t active) {
    if (active == ~0u) {
        T level[32];
        for (int i = 0; i < 16; ++i) level[i] = Operation::apply(values[2 * i], values[2 * i + 1]);
        for (int n = 8; n; n /= 2)
            for (int i = 0; i < n; ++i) level[i] = Operation::apply(level[2 * i], level[2 * i + 1]);
        return level[0];
    }
    T level[32];
    bool present[32];
    for (int i = 0; i < 32; ++i) {
        level[i] = values[i];
        present[i] = active >> i & 1;
    }
    for (int n = 16; n; n /= 2) {
        for (int i = 0; i < n; ++i) {
            const bool left = present[2 * i], right = present[2 * i + 1];
            level[i] = left && right ? Operation::apply(level[2 * i], level[2 * i + 1])
                       : left        ? level[2 * i]
                                     : level[2 * i + 1];
            present[i] = left || right;
        }
    }
    return level[0];
}

template <class Operation, class T>
inline void reduce(asc_emu_warp* warp) {
    T values[32];
    for (int i = 0; i < 32; ++i) values[i] = from_bits<T>(warp->value[i]);
    const uint64_t result = to_bits(reduce_lanes<Operation, T>(values, warp->active));
    for (int i = 0; i < 32; ++i) warp->result[i] = result;
}

template <class Operation, class T>
inline T call_reduce(const char* site, T value) {
    return from_bits<T>(asc_emu_simt_exchange(site, to_bits(value), 0, &reduce<Operation, T>));
}

inline void ballot(asc_emu_warp* warp) {
    uint64_t mask = 0;
    for (int i = 0; i < 32; ++i) mask |= static_cast<uint64_t>(warp->value[i] != 0) << i;
    for (int i = 0; i < 32; ++i) warp->result[i] = mask | static_cast<uint64_t>(warp->active) << 32;
}

// Votes in the low word, lanes that took part in the high one.
inline uint64_t call_ballot(const char* site, bool vote) {
    return asc_emu_simt_exchange(site, vote ? 1 : 0, 0, &ballot);
}

}  // namespace asc_emu::simt

#define ASC_EMU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#define ASC_EMU_SHUFFLES(type)                                                                     \
    ASC_EMU_ON_USE inline type asc_shfl(type value, int32_t source, int32_t width = warpSize,      \
                                        ASC_EMU_SITE) {                                            \
        using namespace asc_emu::simt;                                                             \
        return call_shuffle<Shuffle::index>(file + line, value, source, width);                    \
    }                                                                                              \
    ASC_EMU_ON_USE inline type asc_shfl_up(type value, uint32_t delta, int32_t width = warpSize,   \
                                           ASC_EMU_SITE) {                                         \
        using namespace asc_emu::simt;                                                             \
        return call_shuffle<Shuffle::up>(file + line, value, delta, width);                        \
    }                                                                                              \
    ASC_EMU_ON_USE inline type asc_shfl_down(type value, uint32_t delta, int32_t width = warpSize, \
                                             ASC_EMU_SITE) {                                       \
        using namespace asc_emu::simt;                                                             \
        return call_shuffle<Shuffle::down>(file + line, value, delta, width);                      \
    }                                                                                              \
    ASC_EMU_ON_USE inline type asc_shfl_xor(type value, int32_t mask, int32_t width = warpSize,    \
                                            ASC_EMU_SITE) {                                        \
        using namespace asc_emu::simt;                                                             \
        return call_shuffle<Shuffle::exclusive_or>(file + line, value, mask, width);               \
    }

#define ASC_EMU_REDUCTIONS(type)                                                   \
    ASC_EMU_ON_USE inline type asc_reduce_add(type value, ASC_EMU_SITE) {          \
        return asc_emu::simt::call_reduce<asc_emu::simt::Add>(file + line, value); \
    }                                                                              \
    ASC_EMU_ON_USE inline type asc_reduce_max(type value, ASC_EMU_SITE) {          \
        return asc_emu::simt::call_reduce<asc_emu::simt::Max>(file + line, value); \
    }                                                                              \
    ASC_EMU_ON_USE inline type asc_reduce_min(type value, ASC_EMU_SITE) {          \
        return asc_emu::simt::call_reduce<asc_emu::simt::Min>(file + line, value); \
    }

ASC_EMU_SHUFFLES(int32_t)
ASC_EMU_SHUFFLES(uint32_t)
ASC_EMU_SHUFFLES(int64_t)
ASC_EMU_SHUFFLES(uint64_t)
ASC_EMU_SHUFFLES(float)
ASC_EMU_SHUFFLES(half)
ASC_EMU_SHUFFLES(bfloat16_t)
ASC_EMU_REDUCTIONS(int32_t)
ASC_EMU_REDUCTIONS(uint32_t)
ASC_EMU_REDUCTIONS(float)
ASC_EMU_REDUCTIONS(half)

// Votes of the active lanes.
inline uint32_t asc_ballot(int32_t vote, ASC_EMU_SITE) {
    return static_cast<uint32_t>(asc_emu::simt::call_ballot(file + line, vote != 0));
}
inline int32_t asc_any(int32_t vote, ASC_EMU_SITE) {
    return static_cast<uint32_t>(asc_emu::simt::call_ballot(file + line, vote != 0)) != 0;
}
inline int32_t asc_all(int32_t vote, ASC_EMU_SITE) {
    const uint64_t votes = asc_emu::simt::call_ballot(file + line, vote != 0);
    return static_cast<uint32_t>(votes) == static_cast<uint32_t>(votes >> 32);
}
inline uint32_t asc_activemask(ASC_EMU_SITE) {
    return static_cast<uint32_t>(asc_emu::simt::call_ballot(file + line, true) >> 32);
}
#undef ASC_EMU_SHUFFLES
#undef ASC_EMU_REDUCTIONS
