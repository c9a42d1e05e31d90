// Signals raised by kernel code become launch errors: memory faults, arithmetic faults, aborts and timeouts.
// The handler redirects the interrupted core to a landing function that leaves the fiber for good; the process
// and the runtime stay usable (deep_jit.md section 20).
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "fiber.hpp"
#include "launch.hpp"
#include "pipes.hpp"

namespace asc_emu {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kNumSignals = sizeof(kSignals) / sizeof(kSignals[0]);
constexpr size_t kStack = 64 * 1024;

int timeout_signal() { return SIGRTMIN + 6; }

struct sigaction g_previous[kNumSignals], g_previous_timeout;
Launch* g_launch = nullptr;                 // the one running launch
uintptr_t g_text_begin = 0, g_text_end = 0; // code of the running kernel's object

// What the landing function reports.
struct Caught {
    int signal;
    uintptr_t address;
    uintptr_t pc;
};
thread_local Caught tl_caught;
// initial-exec thread variables are safe to read in a signal handler
thread_local std::byte* tl_landing_stack = nullptr;
thread_local bool tl_prepared = false;
// Way back into the scheduler from code of the kernel that it runs on its own stack (vector functions).
thread_local jmp_buf* tl_pump_exit = nullptr;

bool in_kernel() { return (running_fiber() || tl_pump_exit) && tl_landing_stack; }

const char* signal_text(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV: memory that is not mapped";
        case SIGBUS: return "SIGBUS: bad memory access";
        case SIGFPE: return "SIGFPE: integer division by zero or overflow";
        case SIGILL: return "SIGILL: illegal instruction (trap)";
        case SIGABRT: return "SIGABRT: abort()";
    }
    return "signal";
}

[[noreturn]] void land() {
    const Caught caught = tl_caught;
    Core& core = current_core();
    Launch& launch = *core.block->launch;
    if (caught.signal == timeout_signal()) {
        launch.abort_with(timeout_report(launch));
    } else {
        char text[256];
        std::snprintf(text, sizeof(text), "kernel code raised %s at address 0x%zx",
                      signal_text(caught.signal), static_cast<size_t>(caught.address));
        launch.abort_with(make_report("signal", text, &core, nullptr, reinterpret_cast<void*>(caught.pc)));
    }
    forget_command();
    if (!running_fiber()) longjmp(*tl_pump_exit, 1);
    abandon_core();
}

uintptr_t program_counter(const ucontext_t* context) {
#if defined(__x86_64__)
    return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<uintptr_t>(context->uc_mcontext.pc);
#else
    (void)context;
    return 0;
#endif
}

bool redirect(ucontext_t* context) {
    // NOTE: the landing runs on a stack of its own, since the fiber's may be what overflowed.
    const uintptr_t top = reinterpret_cast<uintptr_t>(tl_landing_stack) + kStack - 64;
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>((top & ~uintptr_t{15}) - 8);
    context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&land);
    return true;
#elif defined(__aarch64__)
    context->uc_mcontext.sp = top & ~uintptr_t{15};
    context->uc_mcontext.pc = reinterpret_cast<uintptr_t>(&land);
    return true;
#else
    (void)top;
    return false;
#endif
}

void forward(int signal, siginfo_t* info, void* context) {
    for (size_t i = 0; i < kNumSignals; ++i) {
        if (kSignals[i] != signal) continue;
        const struct sigaction& old = g_previous[i];
        if (old.sa_flags & SA_SIGINFO) {
            old.sa_sigaction(signal, info, context);
        } else if (old.sa_handler == SIG_DFL) {
            sigaction(signal, &old, nullptr);
            if (info->si_code <= 0) raise(signal);   // sent, not caused by an instruction that runs again
        } else if (old.sa_handler != SIG_IGN) {
            old.sa_handler(signal);
        }
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    if (!in_kernel()) return forward(signal, info, context);
    auto* uc = static_cast<ucontext_t*>(context);
    tl_caught = {signal, reinterpret_cast<uintptr_t>(info->si_addr), program_counter(uc)};
    if (!redirect(uc)) forward(signal, info, context);
}

// The timer of a launch: marks it as aborted at the next instruction, and leaves a core that computes without
// ever issuing one. Repeats, since a core can only be left while it runs the kernel's own code.
// NOTE: several runtimes may live in a process, one a version; a timer names its launch, others' are handed on.
void on_timeout(int signal, siginfo_t* info, void* context) {
    Launch* launch = g_launch;
    if (!launch || info->si_value.sival_ptr != launch) {
        const struct sigaction& old = g_previous_timeout;
        if (old.sa_flags & SA_SIGINFO) old.sa_sigaction(signal, info, context);
        else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) old.sa_handler(signal);
        return;
    }
    auto* uc = static_cast<ucontext_t*>(context);
    const uintptr_t pc = program_counter(uc);
    if (!in_kernel() || pc < g_text_begin || pc >= g_text_end) {
        launch->timed_out = true;
        return;
    }
    tl_caught = {signal, 0, pc};
    redirect(uc);
}

struct sigaction fault_action() {
    struct sigaction action = {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    return action;
}

void install() {
    struct sigaction action = fault_action();
    for (size_t i = 0; i < kNumSignals; ++i) sigaction(kSignals[i], &action, &g_previous[i]);
    action.sa_sigaction = &on_timeout;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(timeout_signal(), &action, &g_previous_timeout);
}

// Whether a handler is of a runtime: this one, or one of another version, which hands faults on to it.
bool of_a_runtime(const struct sigaction& action) {
    if (action.sa_flags & SA_SIGINFO && action.sa_sigaction == &on_fault) return true;
    Dl_info where;
    return dladdr(reinterpret_cast<const void*>(action.sa_sigaction), &where) && where.dli_fname &&
           std::strstr(where.dli_fname, "libasc_emu-");
}

// NOTE: libraries that are imported later (TVM's) take the signals over. What was there before the first launch stays
// the place to hand faults on to: theirs may know ours, and faults would go round for ever.
void install_again() {
    for (const int signal : kSignals) {
        struct sigaction now;
        if (sigaction(signal, nullptr, &now) != 0 || of_a_runtime(now)) continue;
        const struct sigaction action = fault_action();
        sigaction(signal, &action, nullptr);
    }
}

struct TextRange {
    uintptr_t address, begin, end;
};

int find_text(dl_phdr_info* info, size_t, void* data) {
    auto* range = static_cast<TextRange*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
        if (range->address < begin || range->address >= begin + header.p_memsz) continue;
        range->begin = begin;
        range->end = begin + header.p_memsz;
        return 1;
    }
    return 0;
}

std::byte* map_stack() {
    void* map = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? nullptr : static_cast<std::byte*>(map);
}

}  // namespace

uint32_t pump_guarded(Core& core) {
    if (core.num_queued == 0) return 0;
    struct Exit {
        jmp_buf place;
        Exit() { tl_pump_exit = &place; }
        ~Exit() { tl_pump_exit = nullptr; }
    } exit;
    return setjmp(exit.place) == 0 ? pump(core) : 1;
}

void prepare_fault_stack() {
    if (tl_prepared) return;
    tl_prepared = true;
    stack_t current = {};
    sigaltstack(nullptr, &current);
    if (current.ss_flags & SS_DISABLE) {
        stack_t own = {};
        own.ss_sp = map_stack();
        own.ss_size = kStack;
        if (own.ss_sp) sigaltstack(&own, nullptr);
    }
    tl_landing_stack = map_stack();
}

// Timers deliver to one thread; each worker of a launch arms its own.
void arm_timeout(timer_t* timer, uint32_t seconds) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timeout_signal();
    event.sigev_value.sival_ptr = g_launch;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0) return;
    const itimerspec when = {{0, 20'000'000}, {static_cast<time_t>(seconds), 0}};
    timer_settime(*timer, 0, &when, nullptr);
}

WorkerTimeout::WorkerTimeout(uint32_t seconds) : armed_(seconds != 0) {
    if (armed_) arm_timeout(&timer_, seconds);
}
WorkerTimeout::~WorkerTimeout() {
    if (armed_) timer_delete(timer_);
}

FaultScope::FaultScope(Launch& launch) {
    static bool installed = false;   // launches come one at a time
    if (!std::exchange(installed, true)) install();
    else install_again();
    g_launch = &launch;
    TextRange range = {reinterpret_cast<uintptr_t>(launch.desc.kernel->function), 0, 0};
    if (launch.desc.timeout_secs) dl_iterate_phdr(&find_text, &range);
    g_text_begin = range.begin;
    g_text_end = range.end;
}
FaultScope::~FaultScope() { g_launch = nullptr; }

}  // namespace asc_emu

extern "C" __attribute__((visibility("default"))) void asc_emu_assertion_failed(const char* condition,
                                                                                const char* file, unsigned line) {
    if (!asc_emu::in_kernel()) return;
    char text[512];
    std::snprintf(text, sizeof(text), "the kernel's assertion `%s` failed at %s:%u", condition, file, line);
    asc_emu_fail(text);
}
