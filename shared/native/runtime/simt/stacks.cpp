#include "simt/stacks.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "fiber.hpp"

namespace asc_emu {
namespace {

constexpr size_t kStacksPerMapping = 64;
constexpr uint64_t kGuardWord = 0x5ad7ac4b0b5e55edull;
// NOTE: stacks lie at equal distances; without different starts their hot lines fall into the same cache sets.
constexpr size_t kColours = 31, kColourBytes = 128;

}  // namespace

void ThreadStack::prepare(void (*function)(), size_t colour) {
    std::memcpy(memory, &kGuardWord, sizeof(kGuardWord));
    const size_t used = 64 + colour % kColours * kColourBytes;
    stack_pointer = initial_stack(memory + kThreadStackBytes - used, kThreadStackBytes - used, function);
}

bool ThreadStack::intact() const { return std::memcmp(memory, &kGuardWord, sizeof(kGuardWord)) == 0; }

ThreadStack StackPool::take() {
    if (free_.empty()) grow();
    const ThreadStack stack = free_.back();
    free_.pop_back();
    return stack;
}

// NOTE: one mapping for many stacks, with a guard word each: a guard page each would use up the process's mappings.
void StackPool::grow() {
    void* map = mmap(nullptr, kStacksPerMapping * kThreadStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    auto* base = static_cast<std::byte*>(map);
    for (size_t i = kStacksPerMapping; i-- > 0;) free_.push_back({base + i * kThreadStackBytes, nullptr});
}

// Leaked: a worker's fibers may outlive its thread-local destructors.
StackPool& stack_pool() {
    static thread_local StackPool* pool = nullptr;
    if (!pool) pool = new StackPool;
    return *pool;
}

}  // namespace asc_emu
