// Races between the threads of a SIMT function in UB and GM (emulator.md section 4): an epoch per barrier, and for
// every byte who stored and loaded it in the latest epoch.
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
    static constexpr uint64_t kPageBytes = 4096;
    static constexpr size_t kMaxPages = 512;   // 100 MiB of shadow
    struct Side {
        uint64_t epoch = 0;
        const void* site = nullptr;
        uint32_t warp = 0;
        bool atomic = false;
    };
    struct Cell {
        Side store, load;
    };
    static void add(Cell& cell, const ThreadAccess& access, const void*& found);

    std::vector<Cell> cells_;
    std::unordered_map<uint64_t, std::vector<Cell>> pages_;
};

// Of this worker.
ThreadShadow& thread_shadow();

}  // namespace asc_emu
