// Plain loads and stores of the scalar unit in GM: `p[i]`, `*p`, `p->field` outside SIMT functions.
#include "checkers/checker.hpp"
#include "launch.hpp"
#include "simt/block.hpp"
#include "simt/own_memory.hpp"

namespace asc_emu {
namespace {

constexpr uint16_t kSubject = 220;   // of findings about bounds
constexpr uint64_t kLineBytes = 64;   // of the data cache
constexpr const char* kName = "scalar access";

}  // namespace

void Checker::on_plain_access(const Core& core, uint64_t address, uint64_t bytes, bool write, bool polling,
                              const void* site) {
    const uint64_t end = address + bytes;
    const GmRange* const range = ranges_.known() ? ranges_.find(address, end) : nullptr;
    if (!range && (on_chip_memory(core, address) || scalar_owns(core, address))) return;
    if (has(kMemcheck) && !check_gm(core, Pipe::S, kSubject, kName, site, write, address, end) && !range)
        // NOTE: a plain load or store cannot be left out.
        throw KernelError{make_report("bounds", "a scalar access to GM is out of bounds", &core, kName, site)};
    if (!has(kRacecheck) || (range && range->read_only)) return;
    BlockState& s = state_of(core);
    settle_polled(s, core);
    Agent& agent = s.sync.go_on(core, Pipe::S);
    s.sync.scalar_changed(core);
    if (polling) hand_over(s, core, Pipe::S, agent, write ? ScalarAccess::store : ScalarAccess::load, address);
    if (polling && !write) s.polled[static_cast<size_t>(core.slot)] = address;
    const uint8_t id = write ? cache_of(core.slot) : agent_of(core.slot, Pipe::S);
    race_.global(s.gm_cache, {core, Pipe::S, static_cast<uint16_t>(Op::count), site, agent, id}, write, polling,
                 address, end);
}

void Checker::settle_polled(BlockState& s, const Core& core) {
    uint64_t& address = s.polled[static_cast<size_t>(core.slot)];
    if (!address) return;
    hand_over(s, core, Pipe::S, s.sync.agent(core, Pipe::S), ScalarAccess::load, address);
    s.sync.scalar_changed(core);
    address = 0;
}

// NOTE: lines that are loaded again are not told from those that still hold older numbers.
void Checker::write_back(const Core& core, ScalarAccess kind, uint64_t address, const void* site) {
    if (!has(kRacecheck) || running_simt()) return;
    BlockState& s = state_of(core);
    Agent& agent = s.sync.begin(core, Pipe::S);
    if (kind == ScalarAccess::clean_line) {
        // NOTE: a device's allocations start with a line, the host's need not: lines count from there.
        const GmRange* const range = ranges_.known() ? ranges_.find(address, address + 1) : nullptr;
        const uint64_t low = range ? address - (address - range->begin) % kLineBytes : address;
        race_.clean(s.gm_cache, {core, Pipe::S, static_cast<uint16_t>(Op::count), site, agent,
                                 agent_of(core.slot, Pipe::S)}, low, range ? low + kLineBytes : address + 1);
    } else {
        agent.clock.time[cache_of(core.slot)] = agent.now;
    }
    agent.told = true;   // stores behind this one are others
    s.sync.scalar_changed(core);
}

}  // namespace asc_emu
