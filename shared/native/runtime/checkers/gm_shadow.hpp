// The race checker's shadow of global memory, shared by the blocks of a launch: granules of 64 bytes with a
// mask bit a byte (emulator.md section 4).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "checkers/shadow.hpp"

namespace asc_emu {

struct GmCell {
    uint64_t mask;     // 0 = unused
    uint32_t time;
    int32_t site;
    uint16_t block;
    uint8_t agent;
    uint8_t op : 7;
    uint8_t atomic : 1;
};
inline bool same_block(const GmCell& a, const GmCell& b) { return a.block == b.block; }

struct GmCells {
    GmCell cells[2];
};

class GmShadow {
public:
    static constexpr uint64_t kGranuleBytes = 64;
    static constexpr uint64_t kPageBytes = 16 * 1024;

    struct Page {
        static constexpr size_t kGranules = kPageBytes / kGranuleBytes;
        std::atomic_flag locked = ATOMIC_FLAG_INIT;
        bool any_reads = false;
        GmCells writes[kGranules] = {};
        std::unique_ptr<GmCells[]> reads;    // made at the first read
        void reset() {
            std::memset(static_cast<void*>(writes), 0, sizeof(writes));
            any_reads = false;
        }
        void expect_reads() {
            if (!reads) reads.reset(new GmCells[kGranules]);
            if (!any_reads) std::memset(static_cast<void*>(reads.get()), 0, kGranules * sizeof(GmCells));
            any_reads = true;
        }
    };
    // Pages a worker has used last, so that it seldom asks the table.
    struct Cache {
        static constexpr size_t kSlots = 16;   // by the low bits of the number
        struct Slot {
            uint64_t number = ~0ull;
            Page* page = nullptr;
        } slots[kSlots];
    };

    GmShadow() = default;
    ~GmShadow();
    GmShadow(const GmShadow&) = delete;

    // Visits the cells of the granules of [low, high) with the mask of the touched bytes, under the page's lock:
    // visit(writes, reads or null when the page was never read, mask, address).
    template <class Visit>
    void for_each(Cache& cache, uint64_t low, uint64_t high, bool reading, Visit&& visit) {
        for (uint64_t at = low; at < high;) {
            const uint64_t number = at / kPageBytes;
            const uint64_t end = high < (number + 1) * kPageBytes ? high : (number + 1) * kPageBytes;
            Cache::Slot& known = cache.slots[number % Cache::kSlots];
            if (known.number != number) known = {number, this->page(number)};
            Page& page = *known.page;
            const Lock lock(page);
            if (reading) page.expect_reads();
            for (; at < end;) {
                const uint64_t start = at / kGranuleBytes * kGranuleBytes;
                const uint64_t stop = end < start + kGranuleBytes ? end : start + kGranuleBytes;
                const uint64_t below = at - start, upto = stop - start;
                const uint64_t mask = (upto == 64 ? ~0ull : (1ull << upto) - 1) & ~((1ull << below) - 1);
                const size_t index = start % kPageBytes / kGranuleBytes;
                visit(page.writes[index], page.any_reads ? &page.reads[index] : nullptr, mask, start);
                at = stop;
            }
        }
    }

private:
    class Lock {
    public:
        explicit Lock(Page& page) : page_(page) {
            while (page_.locked.test_and_set(std::memory_order_acquire)) {}
        }
        ~Lock() { page_.locked.clear(std::memory_order_release); }

    private:
        Page& page_;
    };

    Page* page(uint64_t number);

    std::mutex mutex_;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace asc_emu
