// Issue of instructions, the pipes' queues, and what a core waits for (emulator.md section 2).
// Immediate: an instruction is executed when it is issued; a wait that is not satisfied suspends the core, and
// only when nothing else can run the instruction waits in its pipe's queue while the scalar unit goes on.
// Deferred: every instruction is queued, and the order of the pipes is drawn from the seed.
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "bounds.hpp"
#include "fiber.hpp"
#include "launch.hpp"
#include "observer.hpp"
#include "op_table.hpp"
#include "pipes.hpp"

namespace asc_emu {

OpInfo g_op_table[static_cast<size_t>(Op::count)];

namespace {

thread_local Core* tl_core = nullptr;
thread_local const Command* tl_executing = nullptr;
thread_local uint64_t tl_executed = 0;
thread_local uint64_t tl_random = 0;

uint64_t draw() {
    tl_random ^= tl_random << 13;
    tl_random ^= tl_random >> 7;
    tl_random ^= tl_random << 17;
    return tl_random;
}

const OpInfo& info_of(uint16_t op) { return g_op_table[op]; }

// NOTE: documented pipe of fills is MTE2, but a public program protects the following L1 read with an MTE1
// barrier only: MTE1 instructions wait for fills issued before them (ascend_c_cube.md section 3).
bool fills_done(const Core& core, const Command& c) {
    if (c.pipe != Pipe::MTE1 || core.last_fill_sequence == 0) return true;
    for (const Command& queued : core.queue[static_cast<size_t>(Pipe::MTE2)])
        if (queued.op == static_cast<uint16_t>(Op::FillL1) && queued.sequence < c.sequence) return false;
    return true;
}

bool is_ready(Core& core, const Command& c) {
    const OpInfo& info = info_of(c.op);
    // NOTE: a SIMT function runs while it is asked whether it is ready; one that is left out must not.
    const bool is_simt = c.op == static_cast<uint16_t>(Op::SimtFunction), never_runs = is_simt && c.skip;
    if (g_observer && is_simt && !c.skip && !core.simt && !running_fiber()) g_observer->on_execute(core, c, info);
    if (info.ready && !never_runs && !info.ready(core, c.params)) return false;
    return fills_done(core, c);
}

bool knows_views(uint16_t op) {
    return op == static_cast<uint16_t>(Op::CopyL1ToL0) || op == static_cast<uint16_t>(Op::Mmad);
}

void execute(Core& core, const Command& c) {
    const OpInfo& info = info_of(c.op);
    tl_executing = &c;
    // NOTE: a SIMT function ran while it was waited for, and told of its start then.
    const bool told = core.simt && c.op == static_cast<uint16_t>(Op::SimtFunction);
    if (g_observer && !told) g_observer->on_execute(core, c, info);
    if (!c.skip && core.block->views_wait() && info.accesses && !knows_views(c.op))
        settle_views_for(core, c, info);
    if (!c.skip) info.execute(core, c.params);
    else if (info.skip) info.skip(core, c.params);
    tl_executing = nullptr;
    ++tl_executed;
}

bool execute_head(Core& core, size_t pipe) {
    auto& queue = core.queue[pipe];
    if (queue.empty() || !is_ready(core, queue.front())) return false;
    execute(core, queue.front());
    queue.pop_front();
    --core.num_queued;
    return true;
}

// Suspends the core until `wait.done()`; the scheduler asks again in every round.
void wait_until(Core& core, const PendingWait& wait) {
    core_wait(core) = &wait;
    core.fiber->state = FiberState::blocked;
    suspend();
    core_wait(core) = nullptr;
    core.fiber->state = FiberState::ready;
}

void enqueue(Core& core, const Command& c) {
    const uint32_t depth = core.block->launch->options.queue_depth;
    auto& queue = core.queue[static_cast<size_t>(c.pipe)];
    if (queue.size() >= depth)
        wait_until(core, {WaitKind::queue_room, c.pipe, nullptr, c.site});
    queue.push_back(c);
    ++core.num_queued;
}

void run_random_pipes(Core& core, uint32_t steps) {
    for (uint32_t i = 0; i < steps && core.num_queued; ++i)
        execute_head(core, draw() % kNumPipes);
}

void issue_to_scalar(Core& core, Command& c) {
    while (!is_ready(core, c)) wait_until(core, {WaitKind::instruction, c.pipe, &c, c.site});
    execute(core, c);
}

void issue_immediate(Core& core, Command& c) {
    if (core.queue[static_cast<size_t>(c.pipe)].empty()) {
        while (!is_ready(core, c)) {
            wait_until(core, {WaitKind::instruction, c.pipe, &c, c.site});
            if (core.fiber->may_defer) {
                core.fiber->may_defer = false;
                enqueue(core, c);
                return;
            }
        }
        execute(core, c);
    } else {
        enqueue(core, c);
    }
}

void issue_checked(Core& core, uint16_t op, uint8_t pipe, const void* params, const void* site) {
    if (op >= static_cast<uint16_t>(Op::count) || !info_of(op).execute)
        throw KernelError{make_report("api", "instruction " + std::to_string(op) +
                          " is not known to this runtime; build kernel and runtime from one package", &core)};
    const OpInfo& info = info_of(op);
    const uint8_t role = core.is_aic() ? 1 : 2;
    if (!(static_cast<uint8_t>(info.roles) & role)) {
        if (g_observer) g_observer->on_wrong_core(core, info, site);
        return;
    }
    Launch& launch = *core.block->launch;
    if (launch.timed_out.load(std::memory_order_relaxed)) launch.abort_with(timeout_report(launch));
    if (launch.aborted()) abandon_core();
    Command c;
    c.op = op;
    c.pipe = static_cast<Pipe>(pipe);
    c.site = site;
    c.sequence = ++core.sequence;
    std::memcpy(c.params, params, info.bytes);
    tl_executing = &c;
    if (info.prepare) info.prepare(core, c.params);
    if (info.validate) info.validate(core, c.params);
    AccessList list;
    if (info.accesses) {
        info.accesses(core, c.params, list);
        c.skip = !within_bounds(core, c, info, list);
    }
    tl_executing = nullptr;
    if (g_observer) {
        if (!c.skip) c.skip = !g_observer->permits(core, c, info, list);
        g_observer->on_issue(core, c, info, list);
    }
    if (launch.options.skip_data && info.work) c.skip = true;
    if (op == static_cast<uint16_t>(Op::FillL1)) core.last_fill_sequence = c.sequence;
    if (c.pipe == Pipe::S || c.pipe == Pipe::all) {
        issue_to_scalar(core, c);
    } else if (core.block->launch->options.deferred) {
        enqueue(core, c);
        run_random_pipes(core, draw() & 3);
    } else {
        issue_immediate(core, c);
    }
}

}  // namespace

const PendingWait*& core_wait(Core& core) { return core.wait; }

bool wait_satisfied(Core& core) {
    const PendingWait& wait = *core.wait;
    switch (wait.kind) {
        case WaitKind::instruction: return is_ready(core, *wait.command);
        case WaitKind::queue_room:
            return core.queue[static_cast<size_t>(wait.pipe)].size() <
                   core.block->launch->options.queue_depth;
    }
    return true;
}

void seed_pipes(uint64_t seed, uint32_t block) {
    tl_random = (seed + 1) * 0x9e3779b97f4a7c15ull + (block + 1) * 0xbf58476d1ce4e5b9ull;
    if (tl_random == 0) tl_random = 1;
}

uint64_t executed_instructions() { return tl_executed; }
void count_progress() { ++tl_executed; }

uint32_t pump(Core& core) {
    if (core.num_queued == 0) return 0;
    const uint64_t before = tl_executed;
    if (core.block->launch->options.deferred) {
        // One instruction at a time, starting at a random pipe: adversarial, and every ready pipe is found.
        const size_t first = draw() % kNumPipes;
        for (size_t i = 0; i < kNumPipes; ++i)
            if (execute_head(core, (first + i) % kNumPipes)) break;
    } else {
        for (bool again = true; again;) {
            again = false;
            for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
                while (execute_head(core, pipe)) again = true;
        }
    }
    return static_cast<uint32_t>(tl_executed - before);
}

void forget_command() { tl_executing = nullptr; }
void set_current_core(Core* core) { tl_core = core; }
Core& current_core() { return *tl_core; }

void abandon_core() {
    leave_vector_function();
    forget_command();
    Fiber* fiber = running_fiber();
    fiber->state = FiberState::failed;
    abandon();
}

void fail(const Core& core, const char* format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail_at(core, tl_executing ? tl_executing->site : nullptr, text);
}

void fail_at(const Core& core, const void* site, const std::string& text) {
    // NOTE: the command dies with the throw.
    const Command* const command = std::exchange(tl_executing, nullptr);
    const char* name = command ? info_of(command->op).name : nullptr;
    throw KernelError{
        make_report("api", name ? std::string(name) + ": " + text : text, &core, name, site)};
}

}  // namespace asc_emu

extern "C" __attribute__((visibility("default"))) void asc_emu_issue(uint16_t op, uint8_t pipe,
                                                                     const void* params) {
    using namespace asc_emu;
    Core& core = *tl_core;
    bool failed = false;
    try {
        issue_checked(core, op, pipe, params, __builtin_return_address(0));
    } catch (const KernelError& error) {
        core.block->launch->abort_with(error.report);
        failed = true;
    }
    if (failed) abandon_core();
}
