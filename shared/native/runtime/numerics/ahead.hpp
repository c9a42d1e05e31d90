// Memory that later products will read, asked for while the multiply units are busy: a core can wait for a few
// lines only at a time, so a product that finds none of its operands in the caches spends as long on them as on a
// copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace asc_emu::numerics {

// Rows of bytes in host memory.
struct SourceRows {
    const std::byte* data;
    uint64_t stride;   // bytes from row to row
    uint32_t rows, row_bytes;
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

    // Asks for the next `num_lines` lines, up to the end of a row.
    void fetch(int num_lines) {
        while (count_ != 0 && num_lines > 0) {
            SourceRows& next = queue_[0].left;
            for (uint32_t at = 0; at < next.row_bytes; at += kLineBytes, --num_lines) {
                __builtin_prefetch(next.data + at, 0, 2);  // into the second-level cache
            }
            next.data += next.stride;
            if (--next.rows == 0) remove(0);
        }
    }

  private:
    static constexpr size_t kMax = 4;  // two operands, and the same of another tile
    static constexpr uint32_t kLineBytes = 64;

    struct Entry {
        SourceRows left;
        const std::byte* first;
    };

    void remove(size_t i) { std::copy(queue_.begin() + i + 1, queue_.begin() + count_--, queue_.begin() + i); }

    std::array<Entry, kMax> queue_;
    size_t count_ = 0;
};

}  // namespace asc_emu::numerics
