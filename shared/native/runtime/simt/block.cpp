#include "simt/block.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>
#include <utility>

#include "launch.hpp"
#include "observer.hpp"
#include "op_table.hpp"
#include "pipes.hpp"
#include "simt/own_memory.hpp"

namespace asc_emu {
namespace {

thread_local SimtBlock* tl_block = nullptr;
thread_local std::vector<Fiber*>* tl_fibers = nullptr;

// A polling thread goes on this often before another one runs.
constexpr uint8_t kHintsPerTurn = 16;
// Rounds without progress until a warp operation goes on without the lanes that still poll; and how often that is
// done until meetings do. Lanes that poll where the others wait for them are ahead of them on the device too.
constexpr uint32_t kPatience = 256;
constexpr uint32_t kPatienceOfMeetings = 64;

uint64_t next_epoch() {
    static std::atomic<uint64_t> count{0};
    return ++count;
}

// A warp operation that gives nobody anything.
void meet_lanes(asc_emu_warp*) {}

Fiber* take_fiber() {
    if (!tl_fibers) tl_fibers = new std::vector<Fiber*>;
    if (tl_fibers->empty()) return new Fiber;
    Fiber* fiber = tl_fibers->back();
    tl_fibers->pop_back();
    return fiber;
}

}  // namespace

SimtBlock* running_simt() { return tl_block; }

bool simt_poll() {
    if (!tl_block) return false;
    tl_block->poll(false);
    return true;
}

SimtBlock::SimtBlock(Core& core, const SimtFunction& function) : core_(core), function_(function) {
    const dim3 n = function.threads;
    epoch_ = next_epoch();
    if (g_observer) work_.start(n.x * n.y * n.z, core.at(Space::ub, 0));
    if (!function.lanes) {
        threads_.resize(static_cast<size_t>(n.x) * n.y * n.z);
        size_t i = 0;
        for (unsigned z = 0; z < n.z; ++z)
            for (unsigned y = 0; y < n.y; ++y)
                for (unsigned x = 0; x < n.x; ++x) threads_[i++].index = {x, y, z};
        live_ = static_cast<uint32_t>(threads_.size());
    }
    fiber_ = take_fiber();
    fiber_->start(&core, &fiber_entry);
}

SimtBlock::~SimtBlock() {
    for (SimtThread& t : threads_)
        if (t.stack.memory) stack_pool().give(t.stack);
    for (const ThreadStack& s : spare_) stack_pool().give(s);
    if (runner_.memory) stack_pool().give(runner_);
    if (tl_fibers) tl_fibers->push_back(fiber_);
}

bool SimtBlock::advance() {
    if (finished_) return true;
    SimtBlock* const outer = tl_block;
    tl_block = this;
    const dim3 grid = function_.grid;
    const uint32_t block = core_.block->index;
    const uint32_t x = grid.x ? grid.x : core_.block->launch->desc.num_blocks;
    asc_emu_simt_grid_dim = grid.x ? grid : dim3(x);
    asc_emu_simt_block_idx = {block % x, grid.x ? block / x % grid.y : 0, grid.x ? block / x / grid.y : 0};
    asc_emu_simt_block_dim = function_.threads;
    core_.simt_polling = false;
    work_.enter();
    resume(*fiber_);
    work_.leave();
    tl_block = outer;
    asc_emu_simt_block_dim = dim3(1);
    return finished_;
}

void SimtBlock::fiber_entry(Core* core) {
    SimtBlock& block = *core->simt;
    if (block.function_.lanes) {
        reset_simt_scratch();
        block.function_.lanes(block.function_.arguments());
        count_progress();
    } else {
        block.run_all();
    }
    if (g_observer) g_observer->on_vector_time(*core, block.work_.time());
    block.finished_ = true;
}

void SimtBlock::run_all() {
    const uint32_t n = static_cast<uint32_t>(threads_.size());
    while (live_) {
        progress_ = false;
        for (uint32_t first = 0; first < n; first += kWarpLanes) run_warp(first);
        if (release_barrier()) progress_ = true;
        if (progress_) {
            count_progress();
            idle_rounds_ = 0;
            continue;
        }
        ++idle_rounds_;
        if (idle_rounds_ % kPatience == 0 && hurry()) continue;
        if (core_.block->launch->aborted()) abandon_core();
        core_.simt_polling = true;
        suspend();
    }
}

// Nothing has gone on for long: lets lanes go on that wait for others.
bool SimtBlock::hurry() {
    const uint32_t n = static_cast<uint32_t>(threads_.size());
    bool went_on = false;
    for (uint32_t first = 0; first < n; first += kWarpLanes) went_on |= give_up_waits(first);
    if (went_on) return true;
    const bool all = idle_rounds_ % (kPatience * kPatienceOfMeetings) == 0;
    for (uint32_t first = 0; first < n; first += kWarpLanes)
        went_on |= carry_out(first, all ? Haste::meetings : Haste::operations);
    return went_on;
}

// A warp whose lanes wait for one that polls plain memory: that one goes on as if the loop were not there. The
// device's compiler may leave it out, since it takes such a loop to end without anybody's doing.
bool SimtBlock::give_up_waits(uint32_t first) {
    const uint32_t end = std::min<uint32_t>(first + kWarpLanes, static_cast<uint32_t>(threads_.size()));
    const auto lanes = std::span(threads_).subspan(first, end - first);
    const auto waits = [](const SimtThread& t) { return t.state == ThreadState::at_warp_operation; };
    if (std::ranges::none_of(lanes, waits)) return false;
    bool any = false;
    for (SimtThread& t : lanes) {
        if (t.state != ThreadState::polling || !t.plain) continue;
        any = t.in_vain = true;
    }
    return any;
}

// Runs the lanes of a warp until each of them waits for something outside the warp.
void SimtBlock::run_warp(uint32_t first) {
    const uint32_t end = std::min<uint32_t>(first + kWarpLanes, static_cast<uint32_t>(threads_.size()));
    if (threads_[first].state == ThreadState::waiting_to_start) {
        progress_ = true;
        next_ = first;
        start_threads(end);
    } else {
        for (uint32_t i = first; i < end; ++i)
            if (threads_[i].state == ThreadState::polling) {
                enter(i);
                progress_ |= threads_[i].state != ThreadState::polling;
            }
    }
    do {
        for (uint32_t i = first; i < end; ++i)
            while (threads_[i].state == ThreadState::ready) {
                progress_ = true;
                enter(i);
            }
    } while (carry_out(first, Haste::none));
}

void SimtBlock::start_threads(uint32_t end) {
    end_ = end;
    while (next_ < end_) {
        if (!runner_.memory) {
            if (spare_.empty()) {
                runner_ = stack_pool().take();
                runner_.prepare(&runner_entry, next_);
            } else {
                runner_ = spare_.back();
                spare_.pop_back();
            }
        }
        void* const to = runner_.stack_pointer;
        asc_emu_switch_context(&hub_, to);
    }
}

// Body of every thread stack: starts threads until one of them waits, and goes on when that one has ended.
void SimtBlock::runner_entry() {
    for (;;) {
        SimtBlock& block = *tl_block;
        while (block.next_ < block.end_) {
            const uint32_t index = block.next_++;
            block.current_ = index;
            asc_emu_simt_thread_idx = block.threads_[index].index;
            block.work_.select(index);
            block.function_.run(block.function_.arguments());
            SimtBlock& now = *tl_block;
            const bool waited = now.threads_[now.current_].stack.memory != nullptr;
            now.finish(now.current_);
            if (waited) break;
        }
        SimtBlock& now = *tl_block;
        // An idle runner: the one threads are started on, or a spare.
        ThreadStack& place = now.runner_;
        asc_emu_switch_context(&place.stack_pointer, now.hub_);
    }
}

void SimtBlock::enter(uint32_t index) {
    SimtThread& thread = threads_[index];
    current_ = index;
    thread.state = ThreadState::ready;
    asc_emu_simt_thread_idx = thread.index;
    work_.select(index);
    asc_emu_switch_context(&hub_, thread.stack.stack_pointer);
}

// The running thread waits: it keeps its stack, and the hub goes on.
void SimtBlock::leave(ThreadState state) {
    SimtThread& thread = threads_[current_];
    thread.state = state;
    thread.hints = 0;
    if (!thread.stack.memory) {
        thread.stack = runner_;
        runner_ = {};
    }
    asc_emu_switch_context(&thread.stack.stack_pointer, hub_);
}

void SimtBlock::finish(uint32_t index) {
    SimtThread& thread = threads_[index];
    thread.state = ThreadState::done;
    --live_;
    if (!thread.stack.memory) return;
    if (!thread.stack.intact()) {
        core_.block->launch->abort_with(make_report(
            "bounds", "a SIMT thread used more than " + std::to_string(kThreadStackBytes / 1024) +
            " KiB of stack; use smaller local arrays", &core_));
        abandon_core();
    }
    if (runner_.memory) spare_.push_back(runner_);
    runner_ = thread.stack;
    thread.stack = {};
}

bool SimtBlock::release_barrier() {
    if (at_barrier_ == 0 || at_barrier_ != live_) return false;
    if (g_observer) tell_divergence();
    epoch_ = next_epoch();
    for (SimtThread& t : threads_)
        if (t.state == ThreadState::at_barrier) t.state = ThreadState::ready;
    at_barrier_ = 0;
    return true;
}

void SimtBlock::tell_divergence() const {
    const SimtThread* first = nullptr;
    for (const SimtThread& t : threads_) {
        if (t.state != ThreadState::at_barrier) continue;
        if (!first) first = &t;
        if (t.site != first->site)
            return g_observer->on_divergent_barrier(core_, first->caller, t.caller, at_barrier_,
                                                    static_cast<uint32_t>(threads_.size()));
    }
    if (live_ != threads_.size())
        g_observer->on_divergent_barrier(core_, first->caller, nullptr, at_barrier_,
                                         static_cast<uint32_t>(threads_.size()));
}

// Carries out the warp operation that lanes wait for, once no lane can join any more, or in haste. Lanes at another
// site follow later: the site of the lowest lane goes first.
bool SimtBlock::carry_out(uint32_t first, Haste haste) {
    const uint32_t end = std::min<uint32_t>(first + kWarpLanes, static_cast<uint32_t>(threads_.size()));
    const SimtThread* leader = nullptr;
    for (uint32_t i = first; i < end; ++i) {
        const SimtThread& t = threads_[i];
        if (t.state == ThreadState::polling && haste == Haste::none) return false;
        if (t.state != ThreadState::at_warp_operation || leader) continue;
        if (t.combine != &meet_lanes || haste != Haste::operations) leader = &t;
    }
    if (!leader) return false;
    const void* const site = leader->site;
    void (*const combine)(asc_emu_warp*) = leader->combine;
    asc_emu_warp warp;
    warp.active = warp.stray = 0;
    for (uint32_t i = first; i < end; ++i) {
        const SimtThread& t = threads_[i];
        const bool joins = t.state == ThreadState::at_warp_operation && t.site == site && t.combine == combine;
        warp.value[i - first] = joins ? t.value : 0;
        warp.parameter[i - first] = joins ? t.parameter : 0;
        warp.active |= joins ? 1u << (i - first) : 0u;
    }
    for (uint32_t i = end; i < first + kWarpLanes; ++i) warp.value[i - first] = 0;
    combine(&warp);
    if (g_observer && warp.stray) g_observer->on_stray_shuffle(core_, leader->caller, warp.stray, warp.active);
    for (uint32_t i = first; i < end; ++i) {
        if (!(warp.active >> (i - first) & 1)) continue;
        threads_[i].value = warp.result[i - first];
        threads_[i].state = ThreadState::ready;
    }
    return true;
}

uint32_t SimtBlock::live_lanes() const {
    const uint32_t first = current_ / kWarpLanes * kWarpLanes;
    uint32_t mask = 0;
    for (uint32_t i = first; i < threads_.size() && i < first + kWarpLanes; ++i)
        if (threads_[i].state != ThreadState::done) mask |= 1u << (i - first);
    return mask;
}

bool SimtBlock::owns(uint64_t address) {
    const auto inside = [address](const void* begin, size_t bytes) {
        return begin && address - reinterpret_cast<uintptr_t>(begin) < bytes;
    };
    if (inside(&asc_emu_simt_thread_idx, sizeof(uint3)) || inside(&asc_emu_simt_block_dim, sizeof(dim3)) ||
        inside(&asc_emu_simt_block_idx, sizeof(uint3)) || inside(&asc_emu_simt_grid_dim, sizeof(dim3)))
        return true;
    if (!threads_.empty() && inside(threads_[current_].stack.memory, kThreadStackBytes)) return true;
    if (work_.owns(address)) return true;
    if (inside(runner_.memory, kThreadStackBytes) || inside(&function_, sizeof(function_))) return true;
    if (function_.heap && inside(function_.heap, malloc_usable_size(function_.heap))) return true;
    // Warp operations keep what lanes bring on the function's own fiber.
    if (inside(fiber_->stack, kStackBytes)) return true;
    return scalar_owns(core_, address);   // threads of a SIMT kernel take arguments from the payload (program.hpp)
}

uint64_t SimtBlock::exchange(const void* site, uint64_t value, int32_t parameter,
                             void (*combine)(asc_emu_warp*), const void* caller) {
    SimtThread& thread = threads_[current_];
    thread.site = site;
    thread.caller = caller;
    thread.value = value;
    thread.parameter = parameter;
    thread.combine = combine;
    leave(ThreadState::at_warp_operation);
    return thread.value;
}

void SimtBlock::barrier(const void* site, const void* caller) {
    threads_[current_].site = site;
    threads_[current_].caller = caller;
    ++at_barrier_;
    leave(ThreadState::at_barrier);
}

bool SimtBlock::poll(bool plain) {
    if (core_.block->launch->aborted()) abandon_core();
    if (threads_.empty()) {            // a lane loop: its threads run in turn, only other cores can help
        core_.simt_polling = true;
        suspend();
        return false;
    }
    SimtThread& thread = threads_[current_];
    if (++thread.hints < kHintsPerTurn) return false;
    thread.plain = plain;
    leave(ThreadState::polling);
    return std::exchange(thread.in_vain, false);
}

void SimtBlock::meet(const void* site) { exchange(site, 0, 0, &meet_lanes, nullptr); }

}  // namespace asc_emu

__thread uint3 asc_emu_simt_thread_idx __attribute__((visibility("default")));
__thread dim3 asc_emu_simt_block_dim __attribute__((visibility("default")));
__thread uint3 asc_emu_simt_block_idx __attribute__((visibility("default")));
__thread dim3 asc_emu_simt_grid_dim __attribute__((visibility("default")));

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

namespace {
asc_emu::SimtBlock& running_or_fail(const char* what) {
    asc_emu::SimtBlock* block = asc_emu::running_simt();
    if (!block || block->is_lane_loop()) asc_emu_fail(what);
    return *block;
}
}  // namespace

ASC_EMU_API uint64_t asc_emu_simt_exchange(const void* site, uint64_t value, int32_t parameter,
                                           void (*combine)(asc_emu_warp*)) {
    return running_or_fail("a warp function was called outside a SIMT function; start it by asc_vf_call<f>(dim3, ...)")
        .exchange(site, value, parameter, combine, __builtin_return_address(0));
}
ASC_EMU_API void asc_emu_simt_barrier(const void* site) {
    running_or_fail("asc_syncthreads() was called outside a SIMT function; start it by asc_vf_call<f>(dim3, ...)")
        .barrier(site, __builtin_return_address(0));
}
ASC_EMU_API uint32_t asc_emu_simt_lane(void) {
    return running_or_fail("laneid() was called outside a SIMT function").lane();
}
ASC_EMU_API uint32_t asc_emu_simt_live_lanes(void) {
    return running_or_fail("asc_activemask() was called outside a SIMT function").live_lanes();
}
ASC_EMU_API void asc_emu_simt_meet(const void* site) {
    asc_emu::SimtBlock* const block = asc_emu::running_simt();
    if (block && !block->is_lane_loop()) block->meet(site);
}
ASC_EMU_API int asc_emu_simt_plain_wait(const char* what) {
    asm volatile("" ::: "memory");
    asc_emu::SimtBlock* const block = asc_emu::running_simt();
    if (!block || !block->poll(true)) return 0;
    if (asc_emu::g_observer)
        asc_emu::g_observer->on_wait_in_vain(asc_emu::current_core(), what, __builtin_return_address(0));
    return 1;
}
