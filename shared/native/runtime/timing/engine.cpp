// Blocks on cores, messages between cores, and the clock of the shared memory.
#include "timing/engine.hpp"

#include <algorithm>

namespace asc_emu::timing {
namespace {

bool is_aic(const CoreTrace& core) { return core.slot == CoreSlot::aic; }
size_t type_of(const CoreTrace& core) { return is_aic(core) ? 0 : 1; }

}  // namespace

Engine::Engine(const LaunchTrace& trace, const Constants& constants, MemoryMode mode, std::vector<Span>* spans)
    : trace_(trace), k_(constants), mode_(mode), memory_(k_), blocks_(trace.num_blocks) {
    cores_.resize(trace.cores.size());
    for (uint32_t c = 0; c < trace.cores.size(); ++c) {
        blocks_[trace.cores[c].block].cores.push_back(c);
        ++cores_by_type_[type_of(trace.cores[c])];
    }
    spans_ = spans;
    profile_.kernel = trace.kernel;
    profile_.object = trace.object;
    profile_.mode = mode == MemoryMode::lone ? "fast" : "replay";
    profile_.num_blocks = trace.num_blocks;
    profile_.num_aic = trace.num_aic;
    profile_.num_aiv = trace.num_aiv;
    profile_.num_cores = trace.num_cores;
    profile_.clock_mhz = k_.clock_mhz;
    profile_.launch_us = k_.launch_us(trace.num_blocks);
}

Profile Engine::run() {
    const uint32_t resident = std::min(places(), trace_.num_blocks);
    while (next_block_ < resident) start_block(next_block_++, k_.cycles_of_us(k_.core_start_us));
    run_awake();
    run_memory();
    profile_.complete = num_ended_ == trace_.cores.size();
    profile_.memory = memory_.totals();
    profile_.duration_us = profile_.launch_us + profile_.cycles / k_.clock_mhz;
    return profile_;
}

// Blocks -----------------------------------------------------------------------------------------
bool Engine::vector_kernel() const { return is_vector_kernel(trace_.num_aic, trace_.num_aiv); }

uint32_t Engine::places() const { return places_of_blocks(trace_.num_cores, trace_.num_aic, trace_.num_aiv); }

void Engine::start_block(uint32_t block, double time) {
    Block& b = blocks_[block];
    b.running = static_cast<uint32_t>(b.cores.size());
    b.end = time;
    for (uint32_t c : b.cores) {
        cores_[c] = std::make_unique<CoreModel>(*this, c, trace_.cores[c], k_, time, spans_);
        awake_.push_back(c);
    }
    if (b.cores.empty()) {   // no core of it issued anything
        profile_.cycles = std::max(profile_.cycles, time);
        if (next_block_ < trace_.num_blocks) start_block(next_block_++, time);
    }
}

void Engine::core_ended(uint32_t core, double time) {
    const CoreTrace& trace = trace_.cores[core];
    const size_t type = type_of(trace);
    ++profile_.cores_used[type];
    profile_.flops += static_cast<double>(trace.flops);
    for (size_t p = 0; p < kNumPipes; ++p) {
        const double busy = cores_[core]->busy(static_cast<Pipe>(p));
        profile_.busy[type][p] += busy;
        profile_.most_busy[type][p] = std::max(profile_.most_busy[type][p], busy);
    }
    for (const Record& r : trace.records)
        if (r.cost == CostClass::vector && r.vector.conflicts)
            profile_.bank_conflicts[r.site] += r.vector.conflicts / 2.0;
    Block& b = blocks_[trace.block];
    b.end = std::max(b.end, time);
    profile_.cycles = std::max(profile_.cycles, time);
    ++num_ended_;
    retired_.push_back(core);
    if (--b.running == 0 && next_block_ < trace_.num_blocks) start_block(next_block_++, b.end);
}

void Engine::run_awake() {
    while (!awake_.empty()) {
        const uint32_t core = awake_.back();
        awake_.pop_back();
        if (cores_[core]) cores_[core]->advance();
    }
    for (uint32_t core : retired_) cores_[core].reset();
    retired_.clear();
}

// Global memory ----------------------------------------------------------------------------------
double Engine::start_transfer(uint32_t core, Pipe pipe, double time) {
    const CoreTrace& trace = trace_.cores[core];
    const Record& r = cores_[core]->transferring(pipe);
    const GmShape& shape = trace.gm[r.gm - 1];
    (shape.write ? profile_.gm_write : profile_.gm_read) += static_cast<double>(r.bytes);
    if (mode_ == MemoryMode::shared) {
        starts_.push({time, core, pipe});
        return -1;
    }
    // The two vector cores of an AI core share their way to global memory.
    double port = cost_of(r, k_).port;
    const bool pairs = vector_kernel() ? trace_.num_blocks > trace_.num_cores : trace_.num_aiv > 1;
    if (!is_aic(trace) && pairs) port /= 2;
    const double streams = std::min(places(), trace_.num_blocks);
    return time + lone_transfer(k_, shape, port, streams);
}

void Engine::run_memory() {
    while (!starts_.empty() || memory_.next_end() < 1e300) {
        if (!starts_.empty() && starts_.top().time <= memory_.next_end()) {
            const Start s = starts_.top();
            starts_.pop();
            const CoreTrace& trace = trace_.cores[s.core];
            const Record& r = cores_[s.core]->transferring(s.pipe);
            const uint32_t owner = s.core * static_cast<uint32_t>(kNumPipes) + static_cast<uint32_t>(s.pipe);
            const bool pairs = vector_kernel() && trace_.num_blocks > trace_.num_cores;
            const uint32_t ai_core = pairs ? trace.block / 2 : trace.block;
            const uint32_t port = (ai_core * 2 + static_cast<uint32_t>(type_of(trace))) * 8 +
                                  static_cast<uint32_t>(s.pipe);
            memory_.start(s.time, owner, port, trace.gm[r.gm - 1], cost_of(r, k_).port);
        } else {
            const double now = memory_.next_end();
            for (uint32_t owner : memory_.finish()) {
                const uint32_t core = owner / kNumPipes;
                cores_[core]->transfer_ended(static_cast<Pipe>(owner % kNumPipes), now);
                awake_.push_back(core);
            }
            run_awake();
        }
    }
}

// Messages ---------------------------------------------------------------------------------------
void Engine::raise(uint32_t core, uint32_t counter, double time) {
    if (!cores_[core]) return;   // NOTE: its block has not started: only a kernel that would hang does this
    cores_[core]->raise_counter(counter, time);
    awake_.push_back(core);
}

void Engine::intra_arrive(uint32_t core, uint32_t value, double time) {
    for (uint32_t other : blocks_[trace_.cores[core].block].cores)
        if (static_cast<uint32_t>(trace_.cores[other].slot) == value / 32) raise(other, value % 32, time);
}

void Engine::raise_all(uint32_t first_block, uint32_t end_block, bool aic, uint32_t id, double time) {
    for (uint32_t b = first_block; b < end_block; ++b)
        for (uint32_t core : blocks_[b].cores)
            if (is_aic(trace_.cores[core]) == aic) raise(core, id, time);
}

void Engine::cross_arrive(uint32_t core, uint32_t value, double time) {
    const CoreTrace& trace = trace_.cores[core];
    const uint32_t mode = value / 32, id = value % 16;
    const size_t type = type_of(trace);
    if (mode == 0) {
        inter_[type][id] = std::max(inter_[type][id], time);
        if (++num_inter_[type][id] < cores_by_type_[type]) return;
        raise_all(0, trace_.num_blocks, type == 0, id, inter_[type][id] + k_.inter_cycles);
        num_inter_[type][id] = 0;
        inter_[type][id] = 0;
        return;
    }
    Block& b = blocks_[trace.block];
    const double arrival = time + k_.counter_cycles;
    if (mode == 2 && type == 0) return raise_all(trace.block, trace.block + 1, false, id, arrival);
    const uint32_t which = trace.slot == CoreSlot::aiv1 ? 1 : 0;
    auto& counts = mode == 1 ? b.num_subblock[id] : b.num_block[id];
    auto& stamps = mode == 1 ? b.subblock[id] : b.block[id];
    ++counts[which];
    stamps[which] = std::max(stamps[which], arrival);
    if (counts[0] == 0 || (trace_.num_aiv > 1 && counts[1] == 0)) return;
    counts[0] -= 1;
    if (trace_.num_aiv > 1) counts[1] -= 1;
    raise_all(trace.block, trace.block + 1, mode == 2, id, std::max(stamps[0], stamps[1]));
}

}  // namespace asc_emu::timing
