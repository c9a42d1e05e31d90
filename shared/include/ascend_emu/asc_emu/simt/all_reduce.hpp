// TileLang's block-wide reduction on arrays of lanes: the steps of its device template
// `tl::AscendAllReduce`, in the same order, so that results agree bit by bit with the template run
// a thread at a time.
#pragma once

#include <limits>

#include "asc_emu/simt/lanes.hpp"

namespace asc_emu::simt::lanes {

// The reducers of the template outside the warp reduction of hardware.
struct Combine {
    template <class T>
    static T apply(Add, T a, T b) {
        return static_cast<T>(a + b);
    }
    template <class T>
    static T apply(Max, T a, T b) {
        return a > b ? a : b;
    }
    template <class T>
    static T apply(Min, T a, T b) {
        return a < b ? a : b;
    }
};

template <class Operation, int kThreads, int kScale>
struct AllReduce {
    static constexpr bool kVote = false, kOperand = false;
    static constexpr int kExtent = kThreads / kScale;
    static constexpr bool is_power(int n) { return n > 0 && (n & (n - 1)) == 0; }
    template <class T>
    static constexpr bool kHardware =
        std::is_same_v<T, float> || std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>;
    template <class T>
    static constexpr bool kShuffle =
        kHardware<T> || std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>;

    template <class T>
    static void run(const Threads& threads, const Values& values) {
        T* const x = values.data<T>();
        const uint32_t n = threads.count;
        if constexpr (kThreads > kScale) {
            if constexpr (kThreads <= 32 && is_power(kThreads) && is_power(kScale) && kShuffle<T>) {
                for (uint32_t first = 0; first < n; first += 32)
                    in_warp<kThreads, kScale>(x + first, n - first);
            } else if constexpr (kThreads > 32 && is_power(kThreads) && kScale <= 32 &&
                                 is_power(kScale) && kShuffle<T>) {
                across_warps(x, n);
            } else {
                through_memory(x, n);
            }
        }
    }

  private:
    template <class T>
    static T combine(T a, T b) {
        return Combine::apply(Operation{}, a, b);
    }

    template <class T>
    static constexpr T identity() {
        if constexpr (std::is_same_v<Operation, Add>)
            return T(0);
        else if constexpr (std::is_same_v<T, float>)
            return std::is_same_v<Operation, Max> ? -std::numeric_limits<float>::infinity()
                                                  : std::numeric_limits<float>::infinity();
        else if constexpr (std::is_same_v<T, int32_t>)
            return std::is_same_v<Operation, Max> ? std::numeric_limits<int32_t>::min()
                                                  : std::numeric_limits<int32_t>::max();
        else
            return std::is_same_v<Operation, Max> ? T(0) : static_cast<T>(-1);
    }

    static uint32_t mask(uint32_t left) { return left >= 32 ? ~0u : (1u << left) - 1; }

    // Reduction of all lanes of a warp by hardware.
    template <class T>
    static T whole(const T* x, uint32_t left) {
        if (left >= 32) return reduce_lanes<Operation, T>(x, ~0u);
        T values[32];
        for (uint32_t i = 0; i < 32; ++i) values[i] = i < left ? x[i] : T(0);
        return reduce_lanes<Operation, T>(values, mask(left));
    }

    // kCount lanes with stride kStep, in a warp with `left` threads.
    template <int kCount, int kStep, class T>
    static void in_warp(T* x, uint32_t left) {
        const uint32_t n = left < 32 ? left : 32;
        if constexpr (kCount / kStep <= 1) return;
        if constexpr (kCount == 32 && kStep == 1 && kHardware<T>) {
            const T result = whole(x, left);
            for (uint32_t i = 0; i < n; ++i) x[i] = result;
            return;
        }
        if constexpr (kCount / kStep >= 16 && kStep == 1 && kHardware<T>) {
            T results[2];
            for (int group = 0; group < 32 / kCount; ++group) {
                T values[32];
                for (uint32_t i = 0; i < 32; ++i)
                    values[i] =
                        i < n && static_cast<int>(i) / kCount == group ? x[i] : identity<T>();
                results[group] = reduce_lanes<Operation, T>(values, mask(left));
            }
            for (uint32_t i = 0; i < n; ++i) x[i] = results[i / kCount];
        } else {
            for (int distance = kCount / 2; distance >= kStep; distance /= 2) {
                T other[32];
                for (uint32_t i = 0; i < n; ++i)
                    other[i] = (i ^ distance) < n ? x[i ^ distance] : T(0);
                for (uint32_t i = 0; i < n; ++i) x[i] = combine(x[i], other[i]);
            }
        }
    }

    // The tree of `reduce_lanes` in all warps at once: a value for each of them.
    template <class T>
    static void whole_warps(const T* x, T* results) {
        T a[kThreads / 2], b[kThreads / 4];
        in_pairs<kThreads / 2>(x, a);
        in_pairs<kThreads / 4>(a, b);
        in_pairs<kThreads / 8>(b, a);
        in_pairs<kThreads / 16>(a, b);
        in_pairs<kThreads / 32>(b, results);
    }
    template <int kCount, class T>
    static void in_pairs(const T* __restrict x, T* __restrict y) {
        for (int i = 0; i < kCount; ++i) y[i] = Operation::apply(x[2 * i], x[2 * i + 1]);
    }

    template <class T>
    static void across_warps(T* x, uint32_t n) {
        constexpr int kWarps = kThreads / 32;
        if (n < static_cast<uint32_t>(kThreads))
            asc_emu_fail("a block reduction has fewer threads than it names");
        T shared[2048];
        if (kScale == 1 && kHardware<T> && n == static_cast<uint32_t>(kThreads)) {
            whole_warps(x, shared);
        } else {
            for (uint32_t first = 0; first < n; first += 32) {
                in_warp<32, kScale>(x + first, n - first);
                for (int i = 0; i < kScale; ++i) shared[first / 32 * kScale + i] = x[first + i];
            }
        }
        T result[32];
        for (int i = 0; i < 32; ++i) result[i] = i < kWarps * kScale ? shared[i] : identity<T>();
        if constexpr (kScale == 1) {
            result[0] = whole(result, 32);
        } else if constexpr (kScale * kWarps <= 32) {
            in_warp<kScale * kWarps, kScale>(result, 32);
        } else {
            for (int i = 0; i < kScale; ++i) {
                result[i] = identity<T>();
                for (int w = 0; w < kWarps; ++w)
                    result[i] = combine(result[i], shared[w * kScale + i]);
            }
        }
        // NOTE: as in the template, every thread of the block gets the result of the first group.
        if constexpr (kScale == 1) {
            const T all = result[0];
            for (uint32_t i = 0; i < n; ++i) x[i] = all;
        } else {
            for (uint32_t i = 0; i < n; ++i) x[i] = result[i % kScale];
        }
    }

    template <class T>
    static void through_memory(T* x, uint32_t n) {
        for (uint32_t first = 0; first + kThreads <= n; first += kThreads)
            for (int lane = 0; lane < kScale; ++lane) {
                T result = x[first + lane];
                for (int i = kScale; i < kThreads; i += kScale)
                    result = combine(result, x[first + lane + i]);
                x[first + lane] = result;
                for (int i = kScale; i < kThreads; i += kScale) x[first + lane + i] = result;
            }
    }
};

}  // namespace asc_emu::simt::lanes
