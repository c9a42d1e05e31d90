// Memories and fibers of one block, reused from block to block on a worker.
#pragma once

#include <memory>

#include "core.hpp"
#include "fiber.hpp"
#include "options.hpp"

namespace asc_emu {

// NOTE: every memory gets its own MiB of address space, aligned to 1 MiB, so that an address keeps its low
// 20 bits as the offset; what lies behind a memory's size is not mapped.
class BlockSlot {
public:
    BlockSlot();
    ~BlockSlot();
    BlockSlot(const BlockSlot&) = delete;

    Block block;
    Fiber fibers[3];
    void prepare(Launch& launch, uint32_t index);

private:
    std::byte* map_ = nullptr;
    uint64_t map_bytes_ = 0;
};

}  // namespace asc_emu
