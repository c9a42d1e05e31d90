// What rewritten SIMT functions call: they run all threads of a block in one call, a loop per part
// between barriers, and carry out warp and block operations on arrays of lanes (emulator.md section
// 2). Results are those of the same function run a thread at a time. Users do not include this
// file.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "asc_emu/simt/call.hpp"
#include "asc_emu/simt/vector_types.hpp"
#include "asc_emu/simt/warp.hpp"
#include "asc_emu/simt/work.hpp"

namespace asc_emu::simt::lanes {

// The threads of the running block.
struct Threads {
    const dim3 size = blockDim;
    const uint32_t count = size.x * size.y * size.z;
    const bool flat = size.y * size.z == 1;
    uint3 index(uint32_t lane) const {
        if (flat) return {lane, 0, 0};
        return {lane % size.x, lane / size.x % size.y, lane / size.x / size.y};
    }
    uint32_t active(uint32_t first) const {
        return count - first >= 32 ? ~0u : (1u << (count - first)) - 1;
    }
};

// Scratch memory of the worker, given back in reverse order.
class Scratch {
  public:
    explicit Scratch(uint64_t bytes)
        : bytes_((bytes + 63) / 64 * 64), memory_(asc_emu_simt_take_scratch(bytes_)) {}
    ~Scratch() { asc_emu_simt_give_scratch(bytes_); }
    Scratch(const Scratch&) = delete;
    void* memory() const { return memory_; }

  private:
    uint64_t bytes_;
    void* memory_;
};

// A private variable of every thread.
template <class T>
class Array {
  public:
    explicit Array(const Threads& threads) : scratch_(sizeof(T) * threads.count) {}
    T* data() const { return static_cast<T*>(scratch_.memory()); }

  private:
    Scratch scratch_;
};

class Values;
using RunOperation = void (*)(const Threads&, const Values&);

// What the lanes bring to an operation that all of them make, and then its results. A copy is a
// view, so that loops keep its pointers in registers.
class Values {
  public:
    explicit Values(const Scratch& scratch, uint32_t count, RunOperation* run)
        : values_(scratch.memory()),
          parameters_(static_cast<int32_t*>(values_) + 2 * count),
          run_(run) {}
    static constexpr uint64_t bytes(uint32_t count) {
        return count * (sizeof(uint64_t) + sizeof(int32_t));
    }

    // `T` is the type of the operation's result.
    template <class Operation, class T, class V = T>
    void bring(uint32_t lane, const V& value, int64_t operand = 0, int32_t width = 32) const {
        if constexpr (Operation::kVote)
            data<T>()[lane] = static_cast<T>(value != 0);
        else
            data<T>()[lane] = static_cast<T>(value);
        if constexpr (Operation::kOperand) {
            check_width(width);
            parameters_[lane] =
                pack(static_cast<int32_t>(operand > 0x7fff ? 0x7fff : operand), width);
        }
        if (lane == 0) *run_ = &Operation::template run<T>;
    }
    template <class Operation, class T>
    void bring(uint32_t lane) const {
        bring<Operation, T>(lane, T(1));
    }
    template <class T>
    T result(uint32_t lane) const {
        return data<T>()[lane];
    }

    template <class T>
    T* data() const {
        return static_cast<T*>(values_);
    }
    const int32_t* parameters() const { return parameters_; }
    void run(const Threads& threads) const { (*run_)(threads, *this); }

  private:
    void* values_;
    int32_t* parameters_;
    RunOperation* run_;
};

// An operation within each warp, by the function that combines the lanes' values.
template <void (*kCombine)(asc_emu_warp*), class T>
inline void run_in_warps(const Threads& threads, const Values& values) {
    asc_emu_warp warp;
    T* const data = values.data<T>();
    for (uint32_t first = 0; first < threads.count; first += 32) {
        warp.active = threads.active(first);
        warp.stray = 0;
        const uint32_t n = threads.count - first < 32 ? threads.count - first : 32;
        for (uint32_t i = 0; i < 32; ++i) {
            warp.value[i] = i < n ? to_bits(data[first + i]) : 0;
            warp.parameter[i] = i < n ? values.parameters()[first + i] : 0;
        }
        kCombine(&warp);
        for (uint32_t i = 0; i < n; ++i) data[first + i] = from_bits<T>(warp.result[i]);
    }
}

template <Shuffle kKind>
struct Shuffled {
    static constexpr bool kVote = false, kOperand = true;
    template <class T>
    static void run(const Threads& threads, const Values& values) {
        run_in_warps<&shuffle<kKind>, T>(threads, values);
    }
};
template <class Operation>
struct Reduced {
    static constexpr bool kVote = false, kOperand = false;
    template <class T>
    static void run(const Threads& threads, const Values& values) {
        run_in_warps<&reduce<Operation, T>, T>(threads, values);
    }
};
// Votes: the mask, whether any or all lanes voted, or who takes part.
enum class Poll { mask, any, all, active };
template <Poll kPoll>
inline void vote(asc_emu_warp* warp) {
    uint32_t mask = 0;
    for (int i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(warp->value[i] != 0) << i;
    const uint64_t result = kPoll == Poll::mask  ? mask
                            : kPoll == Poll::any ? mask != 0
                            : kPoll == Poll::all ? mask == warp->active
                                                 : warp->active;
    for (int i = 0; i < 32; ++i) warp->result[i] = result;
}
template <Poll kPoll>
struct Voted {
    static constexpr bool kVote = true, kOperand = false;
    template <class T>
    static void run(const Threads& threads, const Values& values) {
        run_in_warps<&vote<kPoll>, T>(threads, values);
    }
};

}  // namespace asc_emu::simt::lanes
