// Memory that later products will read, asked for while the multiply units are busy: a core can wait for a few
// lines only at a time, so a product that finds none of its operands in the caches spends as long on them as on a
// copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace asc_emu::numerics {

// What is asked for at once: 4 lines of the cache.
inline constexpr uint32_t kAheadBytes = 256;

// Parts of rows of host memory, of kAheadBytes at most.
struct SourceRows {
    const std::byte* data;
    uint64_t stride;   // bytes from row to row
    uint32_t rows;
};

// A run of such parts, one below the other. A register tile asks for one with every chunk of 16 steps, since a burst
// of requests would keep its own loads waiting.
struct AheadRun {
    const std::byte* at;
    uint64_t stride;

    void fetch() {
        for (uint32_t line = 0; line < kAheadBytes; line += 64) __builtin_prefetch(at + line, 0, 2);  // second level
        at += stride;
    }
};

// A queue of guesses in the order of their use; a wrong one costs time only.
class Ahead {
  public:
    // The oldest one gives way when the queue is full.
    void add(const SourceRows& rows) {
        if (count_ == kMax) remove(0);
        queue_[count_++] = {rows, rows.data};
    }

    // The rows that start at `data` are being read.
    void forget(const std::byte* data) {
        for (size_t i = 0; i < count_; ++i) {
            if (queue_[i].first == data) return remove(i);
        }
    }
    void clear() { count_ = 0; }

    // The next run; its first `count` parts need not be asked for again. `none` when nothing is left.
    AheadRun take(uint32_t count, const void* none) {
        if (count_ == 0) return {static_cast<const std::byte*>(none), 0};
        SourceRows& next = queue_[0].left;
        const AheadRun run{next.data, next.stride};
        count = std::min(count, next.rows);
        next.data += count * next.stride;
        next.rows -= count;
        if (next.rows == 0) remove(0);
        return run;
    }

  private:
    static constexpr size_t kMax = 4;  // two operands, and the same of another tile

    struct Entry {
        SourceRows left;
        const std::byte* first;
    };

    void remove(size_t i) { std::copy(queue_.begin() + i + 1, queue_.begin() + count_--, queue_.begin() + i); }

    std::array<Entry, kMax> queue_;
    size_t count_ = 0;
};

}  // namespace asc_emu::numerics
