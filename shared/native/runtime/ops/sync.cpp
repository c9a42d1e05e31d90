// Meaning of the synchronisation instructions (ascend_c_cube.md section 13).
#include "asc_emu/insn/sync.hpp"

#include <string>

#include "launch.hpp"
#include "op_table.hpp"

namespace asc_emu {
namespace {

std::string flag_text(Pipe source, Pipe destination, uint32_t id) {
    return std::string("flag ") + pipe_name(source) + "->" + pipe_name(destination) + " id " +
           std::to_string(id);
}

void check_pipe(const Core& core, Pipe pipe, const char* what) {
    if (pipe == Pipe::all) fail(core, "%s cannot be PIPE_ALL; name one pipe", what);
    if (static_cast<size_t>(pipe) > kNumPipes)
        fail(core, "%s %d is no pipe", what, static_cast<int>(pipe));
}

void check_flag(const Core& core, Pipe source, Pipe destination, uint32_t id) {
    check_pipe(core, source, "source pipe");
    check_pipe(core, destination, "destination pipe");
    if (source == destination)
        fail(core, "flag from pipe %s to itself; one pipe works in order", pipe_name(source));
    if (id >= kNumEvents) fail(core, "event id got %u, allowed 0 .. %u", id, kNumEvents - 1);
}

uint8_t& flag_bits(Core& core, Pipe source, Pipe destination) {
    return core.flags[static_cast<size_t>(source)][static_cast<size_t>(destination)];
}

void raise_counter(Core& waiting, uint32_t id) {
    const int now = waiting.counters[id].fetch_add(1) + 1;
    if (now > kMaxCounter)
        fail(waiting, "counter %u exceeds %d: more arrivals than waits; wait before arriving again", id,
             kMaxCounter);
}

}  // namespace

// Flags ------------------------------------------------------------------------------------------
static void validate(const Core& core, const SetFlag& i) { check_flag(core, i.source, i.destination, i.id); }
static void execute(Core& core, const SetFlag& i) {
    uint8_t& bits = flag_bits(core, i.source, i.destination);
    if (bits >> i.id & 1)
        fail(core, "%s is already set: a second notify without a wait between may hang the device",
             flag_text(i.source, i.destination, i.id).c_str());
    bits = static_cast<uint8_t>(bits | 1u << i.id);
}
static std::string describe(const Core&, const SetFlag& i) {
    return "set of " + flag_text(i.source, i.destination, i.id);
}
ASC_EMU_REGISTER(SetFlag, Roles::both)

static void validate(const Core& core, const WaitFlag& i) { check_flag(core, i.source, i.destination, i.id); }
static bool ready(Core& core, const WaitFlag& i) {
    return flag_bits(core, i.source, i.destination) >> i.id & 1;
}
static void execute(Core& core, const WaitFlag& i) {
    uint8_t& bits = flag_bits(core, i.source, i.destination);
    bits = static_cast<uint8_t>(bits & ~(1u << i.id));
}
static std::string describe(const Core&, const WaitFlag& i) {
    return flag_text(i.source, i.destination, i.id);
}
ASC_EMU_REGISTER(WaitFlag, Roles::both)

// Barriers ---------------------------------------------------------------------------------------
static void validate(const Core& core, const PipeBarrier& i) {
    if (i.pipe == Pipe::S) fail(core, "PIPE_S alone is not allowed; use asc_sync() or a flag");
    if (i.pipe != Pipe::all) check_pipe(core, i.pipe, "pipe");
}
static bool ready(Core& core, const PipeBarrier& i) { return i.pipe != Pipe::all || core.num_queued == 0; }
// Instructions of one pipe complete in order here, so that a barrier on one pipe has nothing to do.
static void execute(Core&, const PipeBarrier&) {}
static std::string describe(const Core&, const PipeBarrier& i) {
    return std::string("barrier of pipe ") + pipe_name(i.pipe);
}
ASC_EMU_REGISTER(PipeBarrier, Roles::both)

// Mutexes ----------------------------------------------------------------------------------------
static void check_mutex(const Core& core, Pipe pipe, uint32_t id) {
    check_pipe(core, pipe, "pipe");
    if (id >= kNumMutexes) fail(core, "mutex id got %u, allowed 0 .. %u", id, kNumMutexes - 1);
}
static void prepare(Core& core, Lock& i) {
    check_mutex(core, i.pipe, i.id);
    Mutex& m = core.mutexes[i.id];
    if (m.held)
        fail(core, "mutex %u is locked by pipe %s; unlock it first: pairs of one id do not nest", i.id,
             pipe_name(m.held_by));
    m.held = true;
    m.held_by = i.pipe;
    i.tickets = m.first + m.tickets.size();
}
static bool ready(Core& core, const Lock& i) {
    if (i.non_blocking) return true;
    const Mutex& m = core.mutexes[i.id];
    for (uint64_t t = m.first; t < i.tickets; ++t) {
        const Mutex::Ticket& ticket = m.tickets[t - m.first];
        if (!ticket.done && ticket.pipe != i.pipe) return false;
    }
    return true;
}
static void execute(Core&, const Lock&) {}
static std::string describe(const Core&, const Lock& i) { return "mutex " + std::to_string(i.id); }
ASC_EMU_REGISTER(Lock, Roles::both)

static void prepare(Core& core, Unlock& i) {
    check_mutex(core, i.pipe, i.id);
    Mutex& m = core.mutexes[i.id];
    if (!m.held || m.held_by != i.pipe)
        fail(core, "unlock of mutex %u on pipe %s without a lock on that pipe", i.id, pipe_name(i.pipe));
    m.held = false;
    i.ticket = m.first + m.tickets.size();
    m.tickets.push_back({i.pipe, false});
}
static bool ready(Core& core, const Unlock& i) {
    if (!i.non_blocking) return true;
    const Mutex& m = core.mutexes[i.id];
    for (uint64_t t = m.first; t < i.ticket; ++t)
        if (!m.tickets[t - m.first].done) return false;
    return true;
}
static void execute(Core& core, const Unlock& i) {
    Mutex& m = core.mutexes[i.id];
    m.tickets[i.ticket - m.first].done = true;
    while (!m.tickets.empty() && m.tickets.front().done) {
        m.tickets.pop_front();
        ++m.first;
    }
}
static std::string describe(const Core&, const Unlock& i) {
    return "unlock of mutex " + std::to_string(i.id);
}
ASC_EMU_REGISTER(Unlock, Roles::both)

// Counters ---------------------------------------------------------------------------------------
static void validate(const Core& core, const IntraArrive& i) {
    check_pipe(core, i.pipe, "pipe");
    const uint32_t ids = core.is_aic() ? 32 : 16;
    if (i.id >= ids)
        fail(core, "intra-block id got %u, allowed 0 .. %u on this core", i.id, ids - 1);
    if (core.block->num_aic == 0 || core.block->num_aiv == 0)
        fail(core, "intra-block synchronisation needs a mix kernel; declare it __mix__(1, 1) or __mix__(1, 2)");
    if (core.is_aic() && i.id >= 16 && core.block->num_aiv < 2)
        fail(core, "id %u names vector core 1, but the kernel is __mix__(1, 1)", i.id);
}
static void execute(Core& core, const IntraArrive& i) {
    Block& block = *core.block;
    if (!core.is_aic()) raise_counter(block.core(CoreSlot::aic), core.sub_block() * 16 + i.id);
    else if (i.id < 16) raise_counter(block.core(CoreSlot::aiv0), i.id);
    else raise_counter(block.core(CoreSlot::aiv1), i.id - 16);
}
ASC_EMU_REGISTER(IntraArrive, Roles::both)

static void validate(const Core& core, const CrossArrive& i) {
    check_pipe(core, i.pipe, "pipe");
    if (i.mode == 1 && core.is_aic())
        fail(core, "asc_sync_subblock_arrive joins the two vector cores; call it on them");
}
static void execute(Core& core, const CrossArrive& i) {
    Block& block = *core.block;
    if (i.mode == 0) {
        block.launch->arrive_all(core, i.id);
        return;
    }
    if (core.is_aic()) {
        for (uint32_t v = 0; v < block.num_aiv; ++v) raise_counter(block.cores[1 + v], i.id);
        return;
    }
    auto& arrivals = i.mode == 1 ? block.subblock_arrivals[i.id] : block.block_arrivals[i.id];
    ++arrivals[core.sub_block()];
    if (block.num_aiv == 2 && (arrivals[0] == 0 || arrivals[1] == 0)) return;
    for (uint32_t v = 0; v < block.num_aiv; ++v) --arrivals[v];
    if (i.mode == 2) {
        raise_counter(block.core(CoreSlot::aic), i.id);
    } else {
        for (uint32_t v = 0; v < block.num_aiv; ++v) raise_counter(block.cores[1 + v], i.id);
    }
}
ASC_EMU_REGISTER(CrossArrive, Roles::both)

static void validate(const Core& core, const CounterWait& i) {
    check_pipe(core, i.pipe, "pipe");
    const uint32_t ids = i.mode == 4 && core.is_aic() ? 32 : 16;
    if (i.id >= ids) fail(core, "counter id got %u, allowed 0 .. %u on this core", i.id, ids - 1);
}
static bool ready(Core& core, const CounterWait& i) { return core.counters[i.id].load() > 0; }
static void execute(Core& core, const CounterWait& i) { --core.counters[i.id]; }
static std::string describe(const Core&, const CounterWait& i) {
    static const char* const names[] = {"inter", "subblock", "block", "", "intra"};
    return std::string(names[i.mode]) + " counter " + std::to_string(i.id);
}
ASC_EMU_REGISTER(CounterWait, Roles::both)

}  // namespace asc_emu
