// The worker: runs the cores of its resident blocks in turn, starts further blocks when all of them wait, and
// reports a deadlock when no worker can go on (emulator.md section 2).
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "fiber.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "numerics/mmad.hpp"
#include "observer.hpp"
#include "op_table.hpp"
#include "pipes.hpp"
#include "thread_object.hpp"

namespace asc_emu {
namespace {

// A polling loop that sees no change for this long, while nobody executes an instruction, hangs.
constexpr std::chrono::milliseconds kSpinDeadlock{4000};

class Worker {
public:
    explicit Worker(Launch& launch, std::vector<std::unique_ptr<BlockSlot>>& pool)
        : launch_(launch), pool_(pool) {}

    void run() {
        while (!launch_.aborted()) {
            if (launch_.timed_out) launch_.abort_with(timeout_report(launch_));
            if (resident_.empty() && !start_block()) break;
            const uint64_t epoch = launch_.epoch();
            try {
                if (step()) {
                    count_as_spinning(false);
                    continue;
                }
            } catch (const KernelError& error) {
                launch_.abort_with(error.report);
                break;
            }
            if (defer_blocked() || start_block()) continue;
            if (any_spinning()) wait_spinning(epoch);
            else launch_.wait_idle(epoch, [this] { return deadlock_report(); });
        }
        for (auto& slot : resident_) {
            // After a fault, memories hold what the instructions have written, and stay readable.
            numerics::settle();
            settle_views(slot->block);
            launch_.remove_resident(&slot->block);
            pool_.push_back(std::move(slot));
        }
        resident_.clear();
        count_as_spinning(false);
        set_current_core(nullptr);
        launch_.worker_left();
    }

private:
    static void kernel_entry(Core* core) {
        (void)core;
        const asc_emu_launch_desc& desc = core->block->launch->desc;
        desc.kernel->thunk(desc.payload);
    }

    bool start_block() {
        const int64_t index = launch_.claim_block(last_block_);
        if (index < 0) return false;
        last_block_ = index;
        std::unique_ptr<BlockSlot> slot;
        if (pool_.empty()) {
            slot = std::make_unique<BlockSlot>();
        } else {
            slot = std::move(pool_.back());
            pool_.pop_back();
        }
        slot->prepare(launch_, static_cast<uint32_t>(index));
        Block& block = slot->block;
        for (size_t c = 0; c < 3; ++c) {
            if (!block.has(static_cast<CoreSlot>(c))) continue;
            block.cores[c].fiber = &slot->fibers[c];
            slot->fibers[c].start(&block.cores[c], &kernel_entry);
        }
        if (launch_.options.deferred) seed_pipes(launch_.options.seed, block.index);
        launch_.add_resident(&block);
        if (g_observer) g_observer->on_block(block);
        resident_.push_back(std::move(slot));
        return true;
    }

    // One round over all cores. True when anything was executed or a core went on.
    bool step() {
        bool progress = false;
        for (size_t i = 0; i < resident_.size(); ++i) {
            BlockSlot& slot = *resident_[i];
            for (Core& core : slot.block.cores)
                if (core.fiber) progress |= step_core(core);
            if (launch_.aborted()) return true;
            if (!slot.block.done()) continue;
            numerics::settle();
            end_views(slot.block);
            if (g_observer) g_observer->on_block_end(slot.block);
            launch_.remove_resident(&slot.block);
            pool_.push_back(std::move(resident_[i]));
            resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i--));
            progress = true;
        }
        return progress;
    }

    bool step_core(Core& core) {
        Fiber& fiber = *core.fiber;
        set_current_core(&core);
        const uint64_t first = executed_instructions();
        bool progress = pump_guarded(core) > 0;
        if (fiber.state == FiberState::done || fiber.state == FiberState::failed) return progress;
        if (fiber.state == FiberState::blocked && !fiber.may_defer && !wait_satisfied(core))
            return executed_instructions() != first;
        const uint64_t before = executed_instructions();
        const bool was_spinning = fiber.state == FiberState::spinning;
        resume(fiber);
        const bool still_spinning = was_spinning && fiber.state == FiberState::spinning;
        return progress || !still_spinning || executed_instructions() != before;
    }

    // Lets one waiting instruction stand in its pipe's queue, so that its core's scalar unit goes on.
    bool defer_blocked() {
        for (auto& slot : resident_)
            for (Core& core : slot->block.cores) {
                if (!core.fiber || core.fiber->state != FiberState::blocked || core.fiber->may_defer)
                    continue;
                const PendingWait& wait = *core_wait(core);
                if (wait.kind != WaitKind::instruction || wait.pipe == Pipe::S || wait.pipe == Pipe::all)
                    continue;
                core.fiber->may_defer = true;
                return true;
            }
        return false;
    }

    bool any_spinning() const {
        for (const auto& slot : resident_)
            for (const Core& core : slot->block.cores)
                if (core.fiber && (core.fiber->state == FiberState::spinning || core.simt_polling)) return true;
        return false;
    }

    // A core that polls memory may wait for any worker: only when all of them poll or sleep for long, and
    // nobody reads the clock, it hangs.
    void wait_spinning(uint64_t epoch) {
        const auto now = std::chrono::steady_clock::now();
        const uint64_t reads = launch_.clock_reads.load();
        count_as_spinning(true);
        if (epoch != spin_epoch_ || reads != spin_clock_reads_ || !launch_.all_stalled()) {
            spinning_since_ = now;
            spin_epoch_ = epoch;
            spin_clock_reads_ = reads;
        }
        if (now - spinning_since_ > kSpinDeadlock)
            launch_.abort_stalled([this] { return deadlock_report(); });
        std::this_thread::yield();
    }

    void count_as_spinning(bool now) {
        if (now == spinning_) return;
        spinning_ = now;
        launch_.num_spinning += now ? 1 : -1;
        spinning_since_ = std::chrono::steady_clock::now();
    }

    std::string deadlock_report() const {
        if (g_observer) g_observer->on_deadlock(launch_.resident());
        return make_report("deadlock", "no core can go on: " + launch_.blocked_cores() +
                           "; post the missing flag or counter, or check its pipe and id", nullptr);
    }

    Launch& launch_;
    std::vector<std::unique_ptr<BlockSlot>>& pool_;
    std::vector<std::unique_ptr<BlockSlot>> resident_;
    int64_t last_block_ = -1;
    std::chrono::steady_clock::time_point spinning_since_{};
    bool spinning_ = false;
    uint64_t spin_epoch_ = 0;
    uint64_t spin_clock_reads_ = 0;
};

// Slots of this thread, kept from launch to launch; the last one used stays readable.
using SlotPool = std::vector<std::unique_ptr<BlockSlot>>;
SlotPool& slot_pool() { return thread_object<SlotPool, BlockSlot>(); }

}  // namespace

std::string describe_wait(const Core& core) {
    std::string who = "block " + std::to_string(core.block->index) +
                      (core.is_aic() ? " AIC" : core.sub_block() ? " AIV1" : " AIV0");
    if (!core.fiber) return who;
    if (core.fiber->state == FiberState::spinning) return who + " polls memory";
    std::string text;
    const auto add = [&](Pipe pipe, const Command& c) {
        const OpInfo& info = g_op_table[c.op];
        text += (text.empty() ? "" : ", ") + std::string("pipe ") + pipe_name(pipe) + " at " +
                (info.describe ? info.describe(core, c.params) : std::string(info.name));
    };
    if (core.fiber->state == FiberState::blocked && core.wait) {
        if (core.wait->command) add(core.wait->pipe, *core.wait->command);
        else text += std::string("room in the queue of pipe ") + pipe_name(core.wait->pipe);
    }
    for (size_t p = 0; p < kNumPipes; ++p)
        if (!core.queue[p].empty()) add(static_cast<Pipe>(p), core.queue[p].front());
    return text.empty() ? "" : who + " waits: " + text;
}

void run_worker(Launch& launch) {
    prepare_fault_stack();
    WorkerTimeout timeout(launch.desc.timeout_secs);
    Worker(launch, slot_pool()).run();
}

Block* last_block() { return slot_pool().empty() ? nullptr : &slot_pool().back()->block; }

}  // namespace asc_emu
