// Races between the threads of a SIMT function in UB and GM (emulator.md section 4): an epoch per barrier, and for
// every four bytes which of them were stored and loaded last, and by which warp, in the latest epoch.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace asc_emu {

// A load or store of one thread.
struct ThreadAccess {
    uint32_t warp = 0;      // lanes of a warp run in lockstep: they do not race
    uint64_t epoch = 0;     // barriers so far, unique in the process
    bool write = false;
    bool atomic = false;    // also volatile, which is how threads poll
    const void* site = nullptr;
};

class ThreadShadow {
public:
    // Site of an access of another warp, in the same epoch, that a barrier should keep apart; null if there is none.
    // Two stores are no finding: threads may store one value in the same place.
    const void* add(uint32_t offset, uint32_t bytes, const ThreadAccess& access);
    // The same in GM.
    const void* add_global(uint64_t address, uint64_t bytes, const ThreadAccess& access);

private:
    static constexpr uint64_t kCellBytes = 4;
    static constexpr uint64_t kPageBytes = 4096;
    static constexpr size_t kMaxPages = 2048;   // 100 MiB of shadow
    struct Side {
        uint64_t epoch = 0;
        const void* site = nullptr;
        uint16_t warp = 0;
        uint8_t bytes = 0;           // a bit each
        bool atomic = false;
    };
    struct Cell {
        Side store, load;
    };
    using Page = std::vector<Cell>;
    struct Slot {
        uint64_t number = ~0ull;
        Page* page = nullptr;
    };
    // What `access` to [low, high) of the cells finds; `low` counts from the first cell.
    static void add(Cell* cells, uint64_t low, uint64_t high, const ThreadAccess& access, const void*& found);
    static void add(Cell& cell, uint8_t bytes, const ThreadAccess& access, const void*& found);
    Page& page(uint64_t number);

    Page ub_;
    std::unordered_map<uint64_t, Page> pages_;
    Slot known_[256];                // pages of GM that were used last, by the low bits of their numbers
};

// Of this worker.
ThreadShadow& thread_shadow();

}  // namespace asc_emu
