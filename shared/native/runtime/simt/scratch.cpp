// Memory of SIMT functions that run all threads in one call: private variables of the threads, one stack per worker.
#include <cstddef>
#include <cstdint>
#include <new>

#include <sys/mman.h>

#include "asc_emu/core_api.h"
#include "asc_emu/simt/runtime_api.h"

namespace {

constexpr uint64_t kRoom = 256ull << 20;   // address space; pages are taken as they are used

thread_local std::byte* tl_memory = nullptr;
thread_local uint64_t tl_used = 0;

}  // namespace

namespace asc_emu {
// A kernel that was ended by an error has not given its memory back.
void reset_simt_scratch() { tl_used = 0; }
}  // namespace asc_emu

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

ASC_EMU_API void* asc_emu_simt_take_scratch(uint64_t bytes) {
    if (!tl_memory) {
        void* map = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED) asc_emu_fail("no memory for the variables of SIMT threads");
        tl_memory = static_cast<std::byte*>(map);
    }
    if (tl_used + bytes > kRoom) asc_emu_fail("the variables of SIMT threads need more than 256 MiB");
    void* const memory = tl_memory + tl_used;
    tl_used += bytes;
    return memory;
}
ASC_EMU_API void asc_emu_simt_give_scratch(uint64_t bytes) { tl_used -= bytes; }
