// L2 as an LRU of lines whose sectors are fetched alone (ascend950_model.md sections 1 and 6). It starts cold.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "timing/constants.hpp"
#include "timing/trace.hpp"

namespace asc_emu::timing {

constexpr uint8_t kFirstBypass = 4;   // l2_hint NOTALLOC_KEEP; stores: NOTALLOC_CLEAN

class L2Cache {
public:
    explicit L2Cache(const Constants& constants);

    struct Bytes {
        uint64_t hit = 0, miss = 0;   // whole sectors
    };
    // A load or a store of `shape`. Bypassing loads (hints 4 and above) leave the lines as they are and count as
    // misses; bypassing stores drop the lines.
    Bytes access(const GmShape& shape);

private:
    struct Line {
        uint64_t tag = 0;
        uint32_t sectors = 0;                     // present
        uint32_t bucket_next = 0;                 // 1 + line
        uint32_t newer = kNone, older = kNone;    // order of use
    };
    static constexpr uint32_t kNone = ~0u;

    Bytes segment(uint64_t begin, uint64_t end, bool write, bool bypass);
    uint32_t bucket(uint64_t tag) const { return static_cast<uint32_t>(tag * 0x9e3779b97f4a7c15ull >> shift_); }
    uint32_t find(uint64_t tag) const;
    uint32_t insert(uint64_t tag);
    void unlink(uint32_t line);
    void make_newest(uint32_t line);

    uint32_t line_bytes_, sector_bytes_;
    uint32_t num_lines_, used_ = 0;
    uint32_t newest_ = kNone, oldest_ = kNone;
    unsigned shift_;
    std::vector<Line> lines_;
    // 1 + line, 0 = empty. NOTE: from calloc, so that a small kernel touches few of its pages.
    struct Free {
        void operator()(uint32_t* p) const { std::free(p); }
    };
    std::unique_ptr<uint32_t[], Free> buckets_;
};

}  // namespace asc_emu::timing
