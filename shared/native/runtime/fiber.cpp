// Context switch of fibers: x86-64 and aarch64 in assembly (2-6 ns), ucontext elsewhere.
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "core.hpp"

namespace asc_emu {
namespace {

thread_local Fiber* tl_running = nullptr;
thread_local void* tl_scheduler_sp = nullptr;

struct Start {
    Core* core;
    void (*entry)(Core*);
};
thread_local Start tl_start;

[[noreturn]] void run_fiber() {
    const Start start = tl_start;
    start.entry(start.core);
    tl_running->state = FiberState::done;
    abandon();
}

}  // namespace

#if defined(__x86_64__)
asm(R"(
    .text
    .p2align 4
    .hidden asc_emu_switch_context
    .globl asc_emu_switch_context
    .type asc_emu_switch_context, @function
asc_emu_switch_context:
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size asc_emu_switch_context, .-asc_emu_switch_context
)");
void* initial_stack(std::byte* top, size_t, void (*function)()) {
    auto* sp = reinterpret_cast<void**>(top);
    *--sp = nullptr;                                   // return address of run_fiber: never used
    *--sp = reinterpret_cast<void*>(function);
    for (int i = 0; i < 6; ++i) *--sp = nullptr;
    return sp;
}
#elif defined(__aarch64__)
asm(R"(
    .text
    .p2align 4
    .hidden asc_emu_switch_context
    .globl asc_emu_switch_context
    .type asc_emu_switch_context, %function
asc_emu_switch_context:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size asc_emu_switch_context, .-asc_emu_switch_context
)");
void* initial_stack(std::byte* top, size_t, void (*function)()) {
    auto* sp = reinterpret_cast<void**>(top - 160);
    std::memset(sp, 0, 160);
    sp[11] = reinterpret_cast<void*>(function);        // x30
    return sp;
}
#else
#include <ucontext.h>
// NOTE: swapcontext saves the signal mask with a system call (225 ns a switch), hence only a fall-back.
extern "C" void asc_emu_switch_context(void** save, void* load) {
    ucontext_t here;
    *save = &here;
    swapcontext(&here, static_cast<ucontext_t*>(load));
}
void* initial_stack(std::byte* top, size_t bytes, void (*function)()) {
    auto* context = reinterpret_cast<ucontext_t*>(
        (reinterpret_cast<uintptr_t>(top) - sizeof(ucontext_t)) & ~uintptr_t{63});
    getcontext(context);
    context->uc_stack.ss_sp = top - bytes;
    context->uc_stack.ss_size = bytes - sizeof(ucontext_t) - 128;
    context->uc_link = nullptr;
    makecontext(context, function, 0);
    return context;
}
#endif

void Fiber::start(Core* c, void (*entry)(Core*)) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (!stack) {
        void* map = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED) throw std::bad_alloc();
        mprotect(map, page, PROT_NONE);
        stack = static_cast<std::byte*>(map) + page;
    }
    core = c;
    state = FiberState::ready;
    may_defer = false;
    // NOTE: the entry's arguments travel on the fiber's own stack, since several fibers may be started
    // before the first of them runs.
    std::byte* top = stack + kStackBytes - 64;
    *reinterpret_cast<Start*>(top) = {c, entry};
    stack_pointer = initial_stack(top, kStackBytes - 64, [] { run_fiber(); });
}

Fiber::~Fiber() {
    if (!stack) return;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    munmap(stack - page, kStackBytes + page);
}

void resume(Fiber& fiber) {
    tl_running = &fiber;
    tl_start = *reinterpret_cast<Start*>(fiber.stack + kStackBytes - 64);
    asc_emu_switch_context(&tl_scheduler_sp, fiber.stack_pointer);
    tl_running = nullptr;
}

void suspend() { asc_emu_switch_context(&tl_running->stack_pointer, tl_scheduler_sp); }

void abandon() {
    suspend();
    std::abort();   // a finished fiber is never resumed
}

Fiber* running_fiber() { return tl_running; }

}  // namespace asc_emu
