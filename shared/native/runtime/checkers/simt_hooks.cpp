// Loads and stores of plain C++ (emulator.md section 4). While checkers are on, kernels with SIMT functions, with scalar
// code that follows pointers to GM, or with SIMD functions that follow pointers to UB, are compiled with
// -fsanitize=thread and linked to this file instead of libtsan. Accesses of threads to UB and GM go to the checkers as
// accesses of PIPE_V, and as those of single threads; accesses of the scalar unit to GM as those of PIPE_S; accesses of
// SIMD functions to UB as scalar ones of the function.
#include <algorithm>

#include "asc_emu/core_api.h"
#include "checkers/store_order.hpp"
#include "checkers/thread_race.hpp"
#include "fiber.hpp"
#include "launch.hpp"
#include "observer.hpp"
#include "pipes.hpp"
#include "simt/block.hpp"

#define ASC_EMU_HOOK extern "C" __attribute__((visibility("default")))

namespace asc_emu {
namespace {

// How an access is made. Atomics tell of themselves where they touch GM (kernel_hooks.cpp).
enum class How { plain, polling, atomic };

// Loads and stores of threads are 1 to 8 bytes wide; longer types take several. A type that may lie anywhere
// (packed, copied by bytes) takes bytes.
constexpr uint64_t kWidestAccess = 8;
constexpr uint64_t kAnyPlace = 1;

// Findings that end the launch end it here: threads do not unwind.
template <class Tell>
void tell(Core& core, Tell tell_observer) {
    bool failed = false;
    try {
        tell_observer();
    } catch (const KernelError& error) {
        core.block->launch->abort_with(error.report);
        failed = true;
    }
    if (failed) abandon_core();
}

// Of a SIMD function, or of the instructions inlined into it, which told of themselves before.
void note_in_function(uint64_t address, uint64_t bytes, bool write, const void* site) {
    const Core& core = current_core();
    const uint64_t offset = address - reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    if (bytes > kWidestAccess || offset >= kSpaceBytes[static_cast<size_t>(Space::ub)]) return;
    g_observer->on_function_access(core, {static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes),
                                          StoreUnit::scalar, write, false, site});
}

// Of the scalar unit.
void note_scalar(uint64_t address, uint64_t bytes, bool write, const void* site, How how) {
    if (in_vector_function()) return note_in_function(address, bytes, write, site);
    const Fiber* const fiber = running_fiber();   // none: a program's host code
    if (!fiber || how == How::atomic) return;
    if (address - reinterpret_cast<uintptr_t>(fiber->stack) < kStackBytes) return;
    Core& core = current_core();
    tell(core, [&] { g_observer->on_plain_access(core, address, bytes, write, how == How::polling, site); });
}

void note(const volatile void* pointer, uint64_t bytes, bool write, const void* site, How how = How::plain,
          uint64_t align = kWidestAccess) {
    if (!asc_emu_observing || !g_observer || bytes == 0) return;
    const SimtBlock* const block = running_simt();
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (!block) return note_scalar(address, bytes, write, site, how);
    Core& core = current_core();
    const uint64_t offset = address - reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    const uint64_t size = kSpaceBytes[static_cast<size_t>(Space::ub)];
    const ThreadAccess access{block->warp(), block->epoch(), write, how != How::plain, site};
    if (address % std::min(bytes, align)) tell(core, [&] { g_observer->on_misaligned(core, address, bytes, access); });
    if (offset >= size || offset + bytes > size) {
        if (how != How::atomic) tell(core, [&] { g_observer->on_thread_memory(core, address, bytes, access); });
        return;
    }
    const auto at = static_cast<uint32_t>(offset), length = static_cast<uint32_t>(bytes);
    g_observer->on_vector_access(core, at, length, write, site);
    g_observer->on_thread_access(core, at, length, access);
}

}  // namespace
}  // namespace asc_emu

ASC_EMU_HOOK void __tsan_init() {}
ASC_EMU_HOOK void __tsan_func_entry(void*) {}
ASC_EMU_HOOK void __tsan_func_exit() {}
ASC_EMU_HOOK void __tsan_vptr_update(void**, void*) {}
ASC_EMU_HOOK void __tsan_vptr_read(void**) {}

#define ASC_EMU_ACCESS(name, bytes, write, how, align)                                                          \
    ASC_EMU_HOOK void name(void* a) {                                                                           \
        asc_emu::note(a, bytes, write, __builtin_return_address(0), asc_emu::How::how, asc_emu::align);         \
    }
#define ASC_EMU_ACCESSES(bytes)                                                     \
    ASC_EMU_ACCESS(__tsan_read##bytes, bytes, false, plain, kWidestAccess)          \
    ASC_EMU_ACCESS(__tsan_write##bytes, bytes, true, plain, kWidestAccess)          \
    ASC_EMU_ACCESS(__tsan_unaligned_read##bytes, bytes, false, plain, kAnyPlace)    \
    ASC_EMU_ACCESS(__tsan_unaligned_write##bytes, bytes, true, plain, kAnyPlace)    \
    ASC_EMU_ACCESS(__tsan_volatile_read##bytes, bytes, false, polling, kWidestAccess) \
    ASC_EMU_ACCESS(__tsan_volatile_write##bytes, bytes, true, polling, kWidestAccess) \
    ASC_EMU_ACCESS(__tsan_read_write##bytes, bytes, true, plain, kWidestAccess)     \
    ASC_EMU_ACCESS(__tsan_unaligned_read_write##bytes, bytes, true, plain, kAnyPlace)
ASC_EMU_ACCESSES(1)
ASC_EMU_ACCESSES(2)
ASC_EMU_ACCESSES(4)
ASC_EMU_ACCESSES(8)
ASC_EMU_ACCESSES(16)
ASC_EMU_HOOK void __tsan_read_range(void* a, unsigned long bytes) {
    asc_emu::note(a, bytes, false, __builtin_return_address(0), asc_emu::How::plain, asc_emu::kAnyPlace);
}
ASC_EMU_HOOK void __tsan_write_range(void* a, unsigned long bytes) {
    asc_emu::note(a, bytes, true, __builtin_return_address(0), asc_emu::How::plain, asc_emu::kAnyPlace);
}

// Atomics: told as what they touch, then carried out in the strictest order.
#define ASC_EMU_NOTE(write) \
    asc_emu::note(const_cast<T*>(a), sizeof(T), write, __builtin_return_address(0), asc_emu::How::atomic)
#define ASC_EMU_FETCH(bits, op)                                                              \
    ASC_EMU_HOOK uint##bits##_t __tsan_atomic##bits##_fetch_##op(volatile uint##bits##_t* a, \
                                                                 uint##bits##_t v, int) {    \
        using T = uint##bits##_t;                                                            \
        ASC_EMU_NOTE(true);                                                                  \
        return __atomic_fetch_##op(a, v, __ATOMIC_SEQ_CST);                                  \
    }
#define ASC_EMU_COMPARE(bits, kind, weak)                                                                           \
    ASC_EMU_HOOK int __tsan_atomic##bits##_compare_exchange_##kind(volatile uint##bits##_t* a, uint##bits##_t* want, \
                                                                   uint##bits##_t v, int, int) {                    \
        using T = uint##bits##_t;                                                                                   \
        ASC_EMU_NOTE(true);                                                                                         \
        return __atomic_compare_exchange_n(a, want, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
    }
#define ASC_EMU_ATOMICS(bits)                                                                                   \
    ASC_EMU_HOOK uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* a, int) {             \
        using T = uint##bits##_t;                                                                               \
        asc_emu::note(a, sizeof(T), false, __builtin_return_address(0), asc_emu::How::atomic);                  \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                            \
    }                                                                                                           \
    ASC_EMU_HOOK void __tsan_atomic##bits##_store(volatile uint##bits##_t* a, uint##bits##_t v, int) {          \
        using T = uint##bits##_t;                                                                               \
        ASC_EMU_NOTE(true);                                                                                     \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                               \
    }                                                                                                           \
    ASC_EMU_HOOK uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t* a, uint##bits##_t v, int) { \
        using T = uint##bits##_t;                                                                               \
        ASC_EMU_NOTE(true);                                                                                     \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                           \
    ASC_EMU_FETCH(bits, add)                                                                                    \
    ASC_EMU_FETCH(bits, sub)                                                                                    \
    ASC_EMU_FETCH(bits, and)                                                                                    \
    ASC_EMU_FETCH(bits, or)                                                                                     \
    ASC_EMU_FETCH(bits, xor)                                                                                    \
    ASC_EMU_FETCH(bits, nand)                                                                                   \
    ASC_EMU_COMPARE(bits, strong, false)                                                                        \
    ASC_EMU_COMPARE(bits, weak, true)                                                                           \
    ASC_EMU_HOOK uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile uint##bits##_t* a, uint##bits##_t want, uint##bits##_t v, int, int) {                          \
        using T = uint##bits##_t;                                                                               \
        ASC_EMU_NOTE(true);                                                                                     \
        __atomic_compare_exchange_n(a, &want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
        return want;                                                                                            \
    }
ASC_EMU_ATOMICS(8)
ASC_EMU_ATOMICS(16)
ASC_EMU_ATOMICS(32)
ASC_EMU_ATOMICS(64)
ASC_EMU_HOOK void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
ASC_EMU_HOOK void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
