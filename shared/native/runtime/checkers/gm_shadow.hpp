// The race checker's shadow of global memory, shared by the blocks of a launch: granules of 64 bytes with a
// mask bit a byte (emulator.md section 4).
#pragma once

#include <atomic>
#include <cstdint>
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
// The writes of a granule, and what keeps workers apart who touch it: a line of the cache.
struct alignas(64) GmWrites : GmCells {
    std::atomic_flag locked = ATOMIC_FLAG_INIT;
};

class GmShadow {
public:
    static constexpr uint64_t kGranuleBytes = 64;
    static constexpr uint64_t kPageBytes = 16 * 1024;

    class Page {
    public:
        static constexpr size_t kGranules = kPageBytes / kGranuleBytes;
        void reset();
        // Of all granules; made at the first read.
        GmCells* reads_for_reading() {
            GmCells* const reads = reads_.load(std::memory_order_acquire);
            return reads ? reads : make_reads();
        }
        // Null when the page was never read.
        GmCells* reads() { return reads_.load(std::memory_order_acquire); }
        GmWrites writes[kGranules] = {};

    private:
        GmCells* make_reads();

        std::mutex mutex_;                     // of the first read
        std::atomic<GmCells*> reads_ = nullptr;
        std::unique_ptr<GmCells[]> memory_;    // kept for the next launch
    };
    // Pages a worker has used last, so that it seldom asks the table.
    struct Cache {
        static constexpr size_t kSlots = 256;  // by the low bits of the number
        struct Slot {
            uint64_t number = ~0ull;
            Page* page = nullptr;
        } slots[kSlots];
    };

    GmShadow() = default;
    ~GmShadow();
    GmShadow(const GmShadow&) = delete;

    // Visits the cells of the granules of [low, high) with the mask of the touched bytes, each under its lock:
    // visit(writes, reads or null when the page was never read, mask, address).
    template <class Visit>
    void for_each(Cache& cache, uint64_t low, uint64_t high, bool reading, Visit&& visit) {
        for (uint64_t at = low; at < high;) {
            const uint64_t number = at / kPageBytes;
            const uint64_t end = high < (number + 1) * kPageBytes ? high : (number + 1) * kPageBytes;
            Cache::Slot& known = cache.slots[number % Cache::kSlots];
            if (known.number != number) known = {number, this->page(number)};
            Page& page = *known.page;
            if (reading) page.reads_for_reading();
            for (; at < end;) {
                const uint64_t start = at / kGranuleBytes * kGranuleBytes;
                const uint64_t stop = end < start + kGranuleBytes ? end : start + kGranuleBytes;
                const uint64_t below = at - start, upto = stop - start;
                const uint64_t mask = (upto == 64 ? ~0ull : (1ull << upto) - 1) & ~((1ull << below) - 1);
                const size_t index = start % kPageBytes / kGranuleBytes;
                GmWrites& writes = page.writes[index];
                const Lock lock(writes);
                GmCells* const reads = page.reads();   // behind the lock: whoever read the granule has made them
                visit(writes, reads ? reads + index : nullptr, mask, start);
                at = stop;
            }
        }
    }

private:
    class Lock {
    public:
        explicit Lock(GmWrites& granule) : locked_(granule.locked) {
            while (locked_.test_and_set(std::memory_order_acquire)) {}
        }
        ~Lock() { locked_.clear(std::memory_order_release); }

    private:
        std::atomic_flag& locked_;
    };

    Page* page(uint64_t number);

    std::mutex mutex_;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace asc_emu
